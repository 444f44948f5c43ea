/** This source built as it lies in an installed package, and `bedside serve` of it. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, onTestFinished } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** A build for the tests of a file. */
export function builtPackage() {
  const folder = mkdtempSync(join(tmpdir(), 'bedside-built-'))
  const command = [process.execPath, join(folder, 'dist', 'cli', 'main.js')] as const
  beforeAll(async () => {
    cpSync(join(root, 'package.json'), join(folder, 'package.json'))
    symlinkSync(join(root, 'data'), join(folder, 'data'), 'junction')
    symlinkSync(join(root, 'src'), join(folder, 'src'), 'junction')
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
    const build = [join(root, 'scripts', 'build.js'), '--no-types', '--out', join(folder, 'dist')]
    await promisify(execFile)(process.execPath, build)
  }, 120_000)
  afterAll(() => rm(folder, { recursive: true }))

  /** Starts `bedside serve`. */
  const serve = async (...flags: readonly string[]) => {
    const [node, main] = command
    const line = [main, 'serve', '--json', '--token-file', join(folder, 'token'), ...flags]
    const server = spawn(node, line, { stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void server.kill('SIGKILL'))
    const ended = once(server, 'exit')
    const failed = ended.then(([code]) => {
      throw new Error(`bedside serve ended with ${code} before it listened`)
    })
    const [ready] = await Promise.race([once(createInterface(server.stdout), 'line'), failed])
    failed.catch(() => undefined)
    const { address, token } = JSON.parse(ready)
    return { address, token: readFileSync(token.file, 'utf8').trim(), server, ended }
  }
  return { command, serve }
}
