/** Lines of a file, streamed. */
import { createReadStream } from 'node:fs'

/** Lines that end with a line feed; `readline` would end one at a U+2028 inside a JSON string too. */
export async function* linesOf(path: string): AsyncGenerator<string, void, undefined> {
  let rest = ''
  for await (const chunk of createReadStream(path, 'utf8')) {
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  yield rest
}
