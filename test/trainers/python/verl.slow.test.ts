/** The plugin of verl: consultations through its own worker, against a server that is killed meanwhile. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type BuiltPackage, buildPackage } from '../../fixtures/built.js'
import { describeWithPython, pythonOf } from '../../fixtures/python.js'
import { folderOf } from '../tokens/conversation.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const python = pythonOf('verl') ?? ''
const token = 'a-token-of-these-tests'
const home = mkdtempSync(join(tmpdir(), 'bedside-verl-'))
let built: BuiltPackage
beforeAll(async () => {
  built = await buildPackage()
}, 180_000)
afterAll(async () => {
  await built.remove()
  rmSync(home, { recursive: true, force: true })
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // of a server that listens on a port
  server.close()
  await once(server, 'close')
  return port
}

/** A server in a process of its own, on a port that may have been another's. */
async function serve(port: number, tokenizer: string) {
  const [node = '', main = ''] = built.command
  const line = [main, 'serve', '--port', String(port), '--tokenizer', tokenizer, '--quiet']
  const env = { ...process.env, BEDSIDE_SERVE_TOKEN: token }
  const child = spawn(node, line, { env, stdio: 'ignore', cwd: home })
  const there = () =>
    fetch(`http://127.0.0.1:${port}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    )
  await expect.poll(there, { timeout: 60_000, interval: 200 }).toBe(true)
  return child
}

describeWithPython("verl's worker", 'verl', () => {
  test('trains on the ids that were drawn, whatever is lost on the way', async () => {
    const tokenizer = folderOf('qwen')
    const port = await freePort()
    let server = await serve(port, tokenizer)
    onTestFinished(() => void server.kill('SIGKILL'))
    const playing = spawn(python, [join(root, 'test/python/verl_consultations.py')], {
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    playing.stdin.end(
      JSON.stringify({
        ...{ url: `http://127.0.0.1:${port}`, token, tokenizer, seed: 1, faults: 0.2 },
        ...{ groups: 16, siblings: 4, delay: 0.3, say: 80 },
        ...{ lost: [1_000_005], unscored: [1_000_003], advantage: { name: 'rloo' } },
        session: { max_turns: 6, reward: 'history-coverage' },
        limits: { max_tokens: 40, context_length: 6000 },
      }),
    )
    const lines: string[] = []
    for await (const line of createInterface(playing.stdout)) {
      lines.push(line)
      if (!line.startsWith('{"draws"')) continue
      server.kill('SIGKILL')
      await once(server, 'exit')
      server = await serve(port, tokenizer)
    }
    const seen = JSON.parse(lines.at(-1) ?? '')
    expect(seen.bad).toEqual({ ids: 0, mask: 0, logprobs: 0, prompt: 0 })
    // What ended a turn otherwise than the template does is left out, and counted.
    expect(seen.trained + seen.leftOut).toBe(seen.drawn)
    expect(seen.trained).toBeGreaterThan(seen.drawn / 2)
    expect(seen).toMatchObject({ rows: 64, groups: 14, patients: 14, mixed: 0, versions: [4] })
    // Two groups were begun anew and stayed lost: no number, and nothing learnt from them.
    expect(seen).toMatchObject({ lost: 8, begunAnew: 16, lostScores: Array(8).fill('nan') })
    expect(seen).toMatchObject({ lostAdvantage: 0, finite: true })
    expect(seen.advantageGap).toBeLessThan(1e-6)
    expect(seen.faults.before * seen.faults.after * seen.faults.forgotten).toBeGreaterThan(0)
    expect(seen.refused).toBeGreaterThan(0)
  }, 300_000)
})
