/** Where this package lies: its data and its manifest, at the same place from source and from any bundle of it. */
import { createRequire } from 'node:module'
import { dirname } from 'node:path'

/** The absolute path of the package's folder. */
export const packageFolder = (): string =>
  dirname(createRequire(import.meta.url).resolve('bedside/package.json'))
