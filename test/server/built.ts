/** `bedside serve` of this source, built as it lies in an installed package. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { type BuiltPackage, buildPackage } from '../fixtures/built.js'

/** A build for the tests of a file. */
export function builtPackage() {
  let built: BuiltPackage
  beforeAll(async () => {
    built = await buildPackage()
  }, 120_000)
  afterAll(() => built.remove())

  /** Starts `bedside serve`. */
  const serve = async (...flags: readonly string[]) => {
    const [node = '', main = ''] = built.command
    const line = [main, 'serve', '--json', '--token-file', join(built.folder, 'token'), ...flags]
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
  return {
    serve,
    get command() {
      return built.command
    },
  }
}
