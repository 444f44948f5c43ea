/** `bedside serve` of this source, built as it lies in an installed package. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { buildFolder, buildPackage, commandIn } from '../fixtures/built.js'

/** A build for the tests of a file. */
export function builtPackage() {
  const folder = buildFolder()
  const command = commandIn(folder)
  beforeAll(async () => {
    await buildPackage(folder)
  }, 120_000)
  afterAll(() => rm(folder, { recursive: true }))

  /** Starts `bedside serve`; `told()` is what it has written to its standard error. */
  const serve = async (...flags: readonly string[]) => {
    const [node, main] = command
    const line = [main, 'serve', '--json', '--token-file', join(folder, 'token'), ...flags]
    const server = spawn(node, line, { stdio: ['ignore', 'pipe', 'pipe'] })
    let told = ''
    server.stderr.on('data', (chunk) => {
      told += chunk
    })
    server.stderr.pipe(process.stderr, { end: false })
    onTestFinished(() => void server.kill('SIGKILL'))
    const ended = once(server, 'exit')
    const failed = ended.then(([code]) => {
      throw new Error(`bedside serve ended with ${code} before it listened`)
    })
    const [ready] = await Promise.race([once(createInterface(server.stdout), 'line'), failed])
    failed.catch(() => undefined)
    const { address, token } = JSON.parse(ready)
    return {
      address,
      token: readFileSync(token.file, 'utf8').trim(),
      server,
      ended,
      told: () => told,
    }
  }
  return { command, serve }
}
