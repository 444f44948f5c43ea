import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { packageVersion } from '../../src/platform/package-root.js'

/** A checkout whose build does nothing but say that it was made, with a command that says where it is. */
function checkout(): string {
  const root = mkdtempSync(join(tmpdir(), 'bedside-checkout-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  const manifest = {
    ...{ name: 'bedside', version: packageVersion(), type: 'module' },
    bin: { bedside: './dist/cli/main.js' },
    scripts: { prepare: 'node scripts/prepare.js' },
  }
  writeFileSync(join(root, 'package.json'), JSON.stringify(manifest))
  for (const folder of ['scripts', 'dist/cli']) mkdirSync(join(root, folder), { recursive: true })
  copyFileSync('scripts/prepare.js', join(root, 'scripts/prepare.js'))
  const build = 'import { writeFileSync } from "node:fs"; writeFileSync("built", "")'
  writeFileSync(join(root, 'scripts/build.js'), build)
  const command = '#!/usr/bin/env node\nconsole.log("of this checkout")\n'
  writeFileSync(join(root, 'dist/cli/main.js'), command, { mode: 0o755 })
  return root
}

const npm = (root: string, ...line: readonly string[]) => {
  const env = { ...process.env, npm_config_cache: join(root, 'cache'), npm_config_offline: 'true' }
  const [program = '', ...rest] = line
  return execFileSync(program, rest, { cwd: root, env, encoding: 'utf8' })
}

test('npx in a checkout that is built builds nothing, and an installation does', () => {
  const root = checkout()
  for (const _ of ['first', 'again'])
    expect(npm(root, 'npx', 'bedside').trim()).toBe('of this checkout')
  expect(existsSync(join(root, 'built'))).toBe(false)
  npm(root, 'npm', 'install', '--no-audit', '--no-fund')
  expect(existsSync(join(root, 'built'))).toBe(true)
}, 120_000)

test('npx in a checkout that is not built says what to do, and works when that was done', () => {
  const root = checkout()
  const command = join(root, 'dist/cli/main.js')
  const built = readFileSync(command)
  rmSync(join(root, 'dist'), { recursive: true })
  expect(() => npm(root, 'npx', 'bedside')).toThrow(/run `npm ci`/)
  expect(existsSync(join(root, 'built'))).toBe(false)
  writeFileSync(command, built)
  expect(npm(root, 'npx', 'bedside').trim()).toBe('of this checkout')
}, 120_000)
