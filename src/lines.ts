/** Lines of a file, streamed. */
import { createReadStream } from 'node:fs'

/** Lines of a stream of text; see `linesOf`. */
export async function* linesIn(
  chunks: AsyncIterable<unknown>,
): AsyncGenerator<string, void, undefined> {
  let rest = ''
  for await (const chunk of chunks) {
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  yield rest
}

/** Lines that end with a line feed; `readline` would end one at a U+2028 inside a JSON string too. */
export const linesOf = (path: string): AsyncGenerator<string, void, undefined> =>
  linesIn(createReadStream(path, 'utf8'))
