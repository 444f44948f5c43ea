/** The token of a server: from an environment variable, else from a file that is created once and then reused. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Fault, rethrowAsFault } from '../../error.js'
import type { Terminal } from '../print/output.js'

/** Where clients find a server's token. */
export type TokenPlace = { readonly file: string } | { readonly variable: string }

/** What a server's tokens are like. */
export interface TokenForm {
  /** Environment variable that overrides the file. */
  readonly variable: string
  readonly pattern: RegExp
  /** As in "expected a token that …". */
  readonly says: string
  readonly create: () => string
}

/** Returns a token of the right form. @throws Fault `bad-input`, which never shows the token */
function checkToken(token: string, place: string, { pattern, says }: TokenForm): string {
  if (pattern.test(token)) return token
  throw new Fault('bad-input', `${place}: expected a token that ${says}`)
}

/** Reads the token from the environment, else from the file. @throws Fault `bad-input` */
export async function resolveToken(
  file: string,
  env: Terminal['env'],
  form: TokenForm,
): Promise<{ readonly token: string; readonly place: TokenPlace }> {
  const { variable } = form
  const given = env[variable]
  if (given) return { token: checkToken(given, variable, form), place: { variable } }
  const place = { file }
  const there = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw new Fault('bad-input', `--token-file ${file}: ${error.message}`, { cause: error })
  })
  if (there !== undefined) return { token: checkToken(there.trim(), file, form), place }
  const token = form.create()
  await rethrowAsFault('bad-input', `--token-file ${file}`, async () => {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, `${token}\n`, { mode: 0o600, flag: 'wx' })
  })
  return { token, place }
}
