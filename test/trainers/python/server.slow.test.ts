/** The sidecar's server: its protocol around a small engine, and its process. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithPython, pythonOf } from '../../fixtures/python.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const token = 'tml-of-this-test'
const python = pythonOf('sidecar') ?? ''
let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'bedside-server-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describeWithPython('the server', 'sidecar', (run) => {
  test.each([
    ['protocol', 10],
    ['results', 5],
    ['bodies', 4],
    ['refusals', 5],
    ['order', 5],
    ['targets', 3],
    ['state', 13],
    ['sampling', 9],
  ])('%s', (name, count) => {
    const { passed, failed } = Object(run(`server_${name}.py`, {}))
    expect(failed).toEqual({})
    expect(passed).toHaveLength(count)
  })
})

interface Started {
  readonly child: ChildProcess
  readonly ready: Readonly<Record<string, unknown>>
  /** Its exit code and signal. */
  readonly ended: Promise<readonly unknown[]>
}

/** A server of the small engine, ready. */
async function start(...flags: readonly string[]): Promise<Started> {
  const script = join(root, 'test/python/server_toy.py')
  const child = spawn(python, [script, '--state', join(folder, 'state'), ...flags], {
    env: { ...process.env, BEDSIDE_SIDECAR_TOKEN: token },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  if (!child.stdout) throw new Error('no stdout')
  for await (const line of createInterface(child.stdout))
    return { child, ready: JSON.parse(line), ended }
  throw new Error('the server ended before it was ready')
}

const post = (at: string, path: string, body: unknown) =>
  fetch(`${at}${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'X-API-Key': token },
  })

describeWithPython("the server's process", 'sidecar', () => {
  test('says what it is in one line, and no secret', async () => {
    const { child, ready, ended } = await start('--max-chunk-len', '1')
    expect(ready).toMatchObject({
      address: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      pid: child.pid,
      engine: 'bigram',
      model: { name: 'tiny', vocabSize: 12 },
      limits: { maxRequestBytes: 64 * 2 ** 20 },
    })
    expect(JSON.stringify(ready)).not.toContain(token)
    const config = await post(String(ready.address), '/api/v1/client/config', {})
    expect(await config.json()).toEqual({
      fwdbwd_max_chunk_len: 1,
      parallel_fwdbwd_chunks: false,
    })
    child.kill('SIGTERM')
    await ended
  })

  test.each(['SIGTERM', 'SIGINT'] as const)('%s ends it, with someone waiting', async (signal) => {
    const { child, ready, ended } = await start()
    const at = String(ready.address)
    const { session_id } = Object(await (await post(at, '/api/v1/create_session', {})).json())
    const made = { session_id, model_seq_id: 0, base_model: 'tiny', lora_config: { rank: 4 } }
    const { model_id } = Object(await (await post(at, '/api/v1/create_model', made)).json())
    const step = { model_id, seq_id: 2, adam_params: {} }
    const { request_id } = Object(await (await post(at, '/api/v1/optim_step', step)).json())
    const waiting = post(at, '/api/v1/retrieve_future', { request_id }).then(
      ({ status }) => status,
      () => 'cut off',
    )
    child.kill(signal)
    expect(await ended).toEqual([0, null])
    // It was told to ask again, or never got through.
    expect([408, 'cut off']).toContain(await waiting)
  })

  test('ends with the process it was started for', async () => {
    const parent = spawn('sleep', ['1000'])
    const { child, ready, ended } = await start('--parent-pid', String(parent.pid))
    expect((await fetch(`${ready.address}/api/v1/healthz`)).status).toBe(200)
    parent.kill('SIGKILL')
    expect(await ended).toEqual([0, null])
    expect(child.exitCode).toBe(0)
  })
})

/** Runs the command line on what it cannot use: its exit code and the one line it says. */
function refused(flags: Readonly<Record<string, string>>, env: NodeJS.ProcessEnv = {}) {
  const model = join(folder, 'model')
  mkdirSync(model, { recursive: true })
  writeFileSync(join(model, 'config.json'), '{}')
  const given = { model, state: join(folder, 'state'), ...flags }
  const args = Object.entries(given).flatMap(([name, value]) => [`--${name}`, value])
  const outcome = spawnSync(python, ['-m', 'bedside_trainers.sidecar', ...args], {
    encoding: 'utf8',
    env: {
      PATH: process.env.PATH,
      PYTHONPATH: join(root, 'src/trainers/python'),
      BEDSIDE_SIDECAR_TOKEN: token,
      ...env,
    },
  })
  expect(outcome.stdout).toBe('')
  expect(outcome.stderr.trim().split('\n')).toHaveLength(1)
  expect(outcome.stderr).not.toContain('Traceback')
  return { status: outcome.status, says: outcome.stderr.replace('bedside sidecar: ', '').trim() }
}

describeWithPython('the command line', 'sidecar', () => {
  test.each([
    [
      { model: '/no/such/model' },
      {},
      '--model: expected a folder with config.json, received /no/such/model',
    ],
    [
      { host: '0.0.0.0' },
      {},
      '--host 0.0.0.0 can be reached from other machines: say so with --allow-remote',
    ],
    [
      { port: '70000' },
      {},
      'argument --port: expected a port from 0 to 65535, received 70000; see --help',
    ],
    [{ engine: 'vllm' }, {}, expect.stringMatching(/^argument --engine: invalid choice: 'vllm'/)],
    [{ state: '/dev/null/x' }, {}, '--state: cannot make /dev/null/x: Not a directory'],
    [
      {},
      { BEDSIDE_SIDECAR_TOKEN: 'secret' },
      "BEDSIDE_SIDECAR_TOKEN: expected 'tml-' and at least 8 characters",
    ],
    [
      {},
      { BEDSIDE_SIDECAR_TOKEN: undefined },
      expect.stringMatching(/^no token: set BEDSIDE_SIDECAR_TOKEN/),
    ],
  ])('refuses %j', (flags, env, says) => {
    expect(refused(flags, env)).toEqual({ status: 2, says })
  })

  test('refuses a port that is taken, its token kept for its owner', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = Object(other.address())
    const file = join(folder, 'token')
    const flags = { port: String(port), 'token-file': file }
    expect(refused(flags, { BEDSIDE_SIDECAR_TOKEN: undefined })).toEqual({
      status: 2,
      says: `cannot listen on 127.0.0.1:${port}: Address already in use; expected a free port, 0 is any`,
    })
    other.close()
    expect(readFileSync(file, 'utf8')).toMatch(/^tml-[\w-]{40,}\n$/)
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })
})
