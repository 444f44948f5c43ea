/** The version of this package. */
import { readFileSync } from 'node:fs'

/** As `package.json` says it. */
export function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return String(JSON.parse(text).version)
}
