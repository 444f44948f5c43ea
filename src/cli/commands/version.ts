/** The version of this package. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../platform/package-root.js'

/** Reads the version from `package.json`. */
export const version = (): string =>
  String(JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')).version)
