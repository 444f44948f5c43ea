/** The package's root folder, with its data and manifest; the same from source and from any bundle. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** The absolute path of the package's folder. */
export const packageRoot = (): string =>
  dirname(createRequire(import.meta.url).resolve('bedside/package.json'))

/** The version of this package, as its manifest has it. */
export const packageVersion = (): string =>
  String(JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')).version)
