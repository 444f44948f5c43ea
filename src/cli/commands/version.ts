/** The version of this package. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../platform/package-root.js'

/** As `package.json` says it. */
export const version = (): string =>
  String(JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')).version)
