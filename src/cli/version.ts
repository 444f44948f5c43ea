/** The version of this package. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageFolder } from '../package-folder.js'

/** As `package.json` says it. */
export const version = (): string =>
  String(JSON.parse(readFileSync(join(packageFolder(), 'package.json'), 'utf8')).version)
