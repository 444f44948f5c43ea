/** The plugin of verl: consultations through its own worker, against a server that is killed meanwhile. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { packageVersion } from '../../../src/platform/package-root.js'
import { startServer } from '../../../src/server/server.js'
import { openChatTokenizer } from '../../../src/trainers/tokens/chat-tokenizer.js'
import { type BuiltPackage, buildPackage } from '../../fixtures/built.js'
import { describeWithPython, pythonOf } from '../../fixtures/python.js'
import { sidecarPython, tinyModel } from '../../fixtures/sidecar.js'
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

describeWithPython("verl's worker", sidecarPython ? 'verl' : 'sidecar', () => {
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

  test('a job is checked, and its stand-in learns by verl’s loss, which is ours, and goes on', async () => {
    const model = tinyModel('--context', '4096')
    const own = { token, tokenizer: await openChatTokenizer(model) }
    const server = await startServer({ ...own, version: packageVersion() })
    onTestFinished(() => server.close())
    const older = await startServer({ ...own, version: '0.0.9' })
    onTestFinished(() => older.close())
    const given = { url: server.address, older: older.address, token, model }
    const running = promisify(execFile)(python, [join(root, 'test/python/verl_job.py')], {
      maxBuffer: 1e8,
    })
    running.child.stdin?.end(JSON.stringify({ ...given, home: mkdtempSync(join(home, 'job-')) }))
    const seen = JSON.parse((await running).stdout.trimEnd().split('\n').at(-1) ?? '')
    expect(seen.fits).toEqual([0, expect.stringContaining('"ready": true')])
    for (const [name, says] of Object.entries({
      'no server': 'BEDSIDE_URL',
      'no http': '127.0.0.1:8000',
      'token file': 'BEDSIDE_TOKEN_FILE',
      'older server': 'got 0.0.9',
      'wrong token': 'Expected the token of the server',
      'not JSON': 'BEDSIDE_TOKENS: expected JSON',
      'unknown bound': 'unknown tokens',
      'no bound': 'max_tokens: expected',
      'long reply': 'data.max_response_length, 800',
      'long context': '1200 + 800, got 2001',
      'short context': 'raise context_length',
      stripped: 'got strip-reasoning',
      'unknown option': 'did you mean tier?',
      'unknown advantage': 'method.name',
      "verl's own": 'algorithm.adv_estimator=bedside',
      'no plugin': 'VERL_USE_EXTERNAL_MODULES=bedside_trainers.verl.plugin',
      single: 'rollout.n of at least 2',
      nucleus: 'top_p=1',
      'no log-probs': 'calculate_log_probs=True',
      'no rows': 'data.train_files',
      'no agents': 'agent_loop_config_path',
      'short prompt': 'data.max_prompt_length=20',
      'other template': "the model's own",
      'no template': 'a chat template, got none',
    }))
      expect([name, ...seen.refused[name]]).toEqual([name, 1, expect.stringContaining(says)])
    expect(Object.keys(seen.refused)).toHaveLength(24)

    expect([seen.first, seen.again]).toEqual([
      [0, ''],
      [0, ''],
    ])
    expect(seen.kept).toEqual(['step-000002-version-2'])
    const steps = seen.lines.map(({ type, step }: { type: string; step: number }) => [type, step])
    expect(steps).toEqual([
      ['held-out', 0],
      ['step', 1],
      ['step', 2],
      ['held-out', 2],
      ['step', 3],
      ['held-out', 3],
    ])
    for (const line of seen.lines) expect(line.trainer).toBe('stand-in for verl')
    for (const { logprobGap } of seen.lines.filter(({ type }: { type: string }) => type === 'step'))
      expect(logprobGap.max).toBeLessThan(1e-5)
    expect(seen.model).toContain('STAND-IN.md')

    const [theirs, ours] = seen.loss
    expect(Math.abs(theirs)).toBeGreaterThan(1e-4)
    expect(theirs).toBeCloseTo(ours, 9)
    const [gap, scale] = seen.gradient
    expect(gap / scale).toBeLessThan(1e-9)
  }, 300_000)
})
