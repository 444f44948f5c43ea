/** The package's root folder, with its data and manifest; the same from source and from any bundle. */
import { createRequire } from 'node:module'
import { dirname } from 'node:path'

/** The absolute path of the package's folder. */
export const packageRoot = (): string =>
  dirname(createRequire(import.meta.url).resolve('bedside/package.json'))
