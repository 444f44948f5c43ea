/** The recipes in Python, run small: the real libraries, a real server, a model of random weights. */
import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startSidecar } from '../../src/trainers/sidecar/process.js'
import { type BuiltPackage, buildPackage } from '../fixtures/built.js'
import { chatServer, events } from '../fixtures/chat-server.js'
import { describeWithPython, pythonOf } from '../fixtures/python.js'
import { sidecarPython } from '../fixtures/sidecar.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const recipes = join(root, 'examples/python')

let built: BuiltPackage
beforeAll(async () => {
  built = await buildPackage()
}, 120_000)
afterAll(() => built.remove())

const environment = () => ({
  ...process.env,
  PYTHONPATH: join(root, 'src/server/python'),
  BEDSIDE_COMMAND: built.command.join(' '),
  HF_HUB_OFFLINE: '1',
  OMP_NUM_THREADS: '1',
})

describeWithPython('the recipes of TRL', 'trl', () => {
  test.each(['environment_factory', 'rollout_func'])(
    '%s plays, is paid and makes steps',
    async (name) => {
      const out = join(built.folder, name)
      const size = [
        '--cases',
        '32',
        '--heldout',
        '32',
        '--imitation-steps',
        '60',
        '--steps',
        '2',
        '--patients',
        '8',
        '--group',
        '4',
      ]
      const line = [join(recipes, 'trl', `${name}.py`), '--out', out, ...size]
      await promisify(execFile)(pythonOf('trl') ?? '', line, { env: environment(), maxBuffer: 1e8 })
      const told = JSON.parse(readFileSync(join(out, 'result.json'), 'utf8'))
      expect(told.curve).toHaveLength(2)
      const picture = ['curves', out, '--out', out, '--json']
      const drawn = execFileSync(built.command[0] ?? '', [built.command[1] ?? '', ...picture])
      expect(existsSync(JSON.parse(drawn.toString()).png)).toBe(true)
      // It has learnt to talk, of which a diagnosis is the end, and the coin of whom it learnt is right half of the time.
      expect(told.before).toBeGreaterThan(0.15)
      expect(told.before).toBeLessThan(0.85)
      for (const reward of [...told.curve, told.after]) {
        expect(reward).toBeGreaterThanOrEqual(0)
        expect(reward).toBeLessThanOrEqual(1)
      }
    },
    300_000,
  )

  test('Ctrl-C ends a run, its server and all that they wrote for themselves', async () => {
    const out = join(built.folder, 'interrupted')
    const scratch = mkdtempSync(join(tmpdir(), 'bedside-interrupted-'))
    onTestFinished(() => rmSync(scratch, { recursive: true }))
    const script = join(recipes, 'trl', 'environment_factory.py')
    const trainer = spawn(pythonOf('trl') ?? '', [script, '--out', out, '--cases', '16'], {
      // torch keeps a cache of its own.
      env: { ...environment(), TMPDIR: scratch, TORCHINDUCTOR_CACHE_DIR: join(out, 'torch') },
      ...{ stdio: 'ignore', detached: true },
    })
    const ended = once(trainer, 'exit')
    const children = () =>
      readFileSync(`/proc/${trainer.pid}/task/${trainer.pid}/children`, 'utf8').trim().split(' ')
    // The model is made when the server has played the demonstrations.
    await expect.poll(() => existsSync(join(out, 'model')), { timeout: 200_000 }).toBe(true)
    const started = children().map(Number)
    const serves = (pid: number) => {
      const line = existsSync(`/proc/${pid}`) ? readFileSync(`/proc/${pid}/cmdline`, 'utf8') : ''
      return line.includes('serve')
    }
    expect(started.filter(serves)).toHaveLength(1)
    // A terminal sends it to all processes of the group.
    process.kill(-(trainer.pid ?? 0), 'SIGINT')
    await ended
    await expect.poll(() => started.filter(serves), { timeout: 20_000 }).toEqual([])
    expect(readdirSync(scratch)).toEqual([])
  }, 300_000)

  test('scores, cases and rows come as the page From Python has them', () => {
    const code = `${pageBlock('bedside.rewards.score')}print(len(scores), len(rows), len(cases))`
    const told = execFileSync(pythonOf('trl') ?? '', ['-c', code], {
      env: environment(),
      encoding: 'utf8',
    })
    expect(told.trim()).toBe('1 512 10')
  }, 240_000)

  test('loads consultations as a data set', () => {
    const code =
      'import bedside, json; d = bedside.cases.load(3, tier="easy"); print(json.dumps([d.num_rows, d.column_names, d[1]]))'
    const told = execFileSync(pythonOf('trl') ?? '', ['-c', code], {
      env: environment(),
      encoding: 'utf8',
    })
    const [rows, columns, second] = JSON.parse(told)
    expect(rows).toBe(3)
    expect(columns).toEqual(['prompt', 'tier', 'seed', 'index'])
    expect(second).toMatchObject({ seed: 1, index: 1, tier: 'easy' })
    expect(second.prompt.map(({ role }: { role: string }) => role)).toEqual(['system', 'user'])
  }, 120_000)
})

/** A block of the page From Python, by a word of it. */
function pageBlock(word: string): string {
  const page = readFileSync(join(root, 'docs/python.md'), 'utf8')
  const blocks = [...page.matchAll(/```python\n([\s\S]*?)```/g)].map(([, code = '']) => code)
  return blocks.find((code) => code.includes(word)) ?? ''
}

describeWithPython('what the page From Python says', 'gym', () => {
  const python = (...line: readonly string[]) =>
    execFileSync(pythonOf('gym') ?? '', [...line], { env: environment(), encoding: 'utf8' })

  test('its first lines play a consultation to its reward', () => {
    const code = pageBlock('bedside.make')
    const told = python('-c', `${code}\nprint(terminated, type(reward).__name__, info["stop"])`)
    expect(told).toMatch(/^Patient: /)
    expect(told.trimEnd().split('\n').at(-1)).toBe('True float diagnosed')
  }, 120_000)

  test('its hundreds of consultations play at once', () => {
    const code = pageBlock('bedside.AsyncClient')
    const model = `
async def my_model(messages):
    return "Order: ECG" if len(messages) < 6 else "Diagnosis: angina"
rewards = asyncio.run(main())
print(len(rewards), {type(one).__name__ for one in rewards} <= {"int", "float"})`
    expect(python('-c', `${code}${model}`).trim()).toBe('512 True')
  }, 240_000)

  test('64 envs of a vector step together', () => {
    const code = `import bedside
env = bedside.make_vec(64, tier="easy")
env.reset(seed=list(range(64)))
for n in range(10):
    heard, reward, terminated, truncated, info = env.step(["Do you have a fever?"] * 64)
print(len(heard), int(truncated.sum()))
env.close()`
    expect(python('-c', code).trim()).toBe('64 64')
  }, 120_000)

  test('its server of own envs is played from Python', async () => {
    const page = readFileSync(join(root, 'docs/python.md'), 'utf8')
    const [, part = ''] = page.split('## Envs of your own')
    const code = part.match(/^ {4}.*$/gm)?.map((line) => line.slice(4)) ?? []
    const patient = `import { rulePatient } from 'bedside/envs'
import { loadKnowledge } from 'bedside/knowledge'
export const myPatient = rulePatient({ knowledge: loadKnowledge() })`
    // Beside the package's manifest, by which its own name is found.
    writeFileSync(join(built.folder, 'serve.mjs'), code.join('\n'))
    writeFileSync(join(built.folder, 'my-patient.mjs'), patient)
    const [program = '', ...line] = built.command
    const cases = join(built.folder, 'cases.jsonl')
    execFileSync(program, [...line, 'cases', 'generate', '--cases', '4', '--out', cases])
    const env = { ...process.env, BEDSIDE_TOKEN: 'a-token-of-the-tests' }
    const server = spawn(process.execPath, ['serve.mjs'], {
      ...{ cwd: built.folder, env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void server.kill('SIGKILL'))
    const [address] = await once(createInterface(server.stdout), 'line')
    const play = `import bedside
env = bedside.make(url="${address}", token="a-token-of-the-tests")
env.reset(seed=3); env.step("Do you have a fever?")
print(*env.step("Diagnosis: influenza")[1:3])`
    expect(python('-c', play)).toMatch(/^[01]\.0 True$/m)
  }, 120_000)

  test("OpenEnv's clients play: async, sync and tools", () => {
    const told = python(join(recipes, 'openenv_clients.py'))
    expect(told).toMatch(/^reward -?[\d.]+ \{/m)
    expect(told).toContain("['ask_patient', 'order_exam', 'diagnose']")
    expect(told.match(/\[Turns left: \d+\]/g)?.length).toBeGreaterThan(3)
  }, 120_000)
})

/** A server of consultations that asks for no token, as a recipe's own command starts it. */
async function openServer(...flags: readonly string[]) {
  const [program = '', ...line] = built.command
  const server = spawn(program, [...line, 'serve', '--json', '--no-token', ...flags], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  onTestFinished(() => void server.kill('SIGKILL'))
  const [ready] = await once(createInterface(server.stdout), 'line')
  return JSON.parse(ready) as { readonly address: string } // as `serve --json` prints it
}

describeWithPython('the eval of verifiers', 'verifiers', () => {
  test('plays consultations by its own command line', async () => {
    const { address } = await openServer()
    const said = ['Do you have a fever?', 'Order: ECG', 'Diagnosis: influenza']
    const model = await chatServer((response, request) => {
      const { messages } = request.body as { messages: { role: string }[] } // of a chat request
      const content = said[messages.filter(({ role }) => role === 'assistant').length]
      const delta = { role: 'assistant', content }
      const head = { id: 'x', object: 'chat.completion.chunk', created: 1, model: 'model' }
      const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }
      const last = { index: 0, delta: {}, finish_reason: 'stop' }
      events(
        { ...head, choices: [{ index: 0, delta, finish_reason: null }] },
        { ...head, choices: [last] },
        { ...head, choices: [], usage },
        '[DONE]',
      )(response, request)
    })
    onTestFinished(() => model.close())
    const settings = readFileSync(join(recipes, 'verifiers/eval.toml'), 'utf8')
      .replace('http://127.0.0.1:8000', address)
      .replace('http://127.0.0.1:8001/v1', model.baseURL)
      .replace(
        'output_dir = "runs/verifiers"',
        `output_dir = ${JSON.stringify(join(built.folder, 'verifiers'))}`,
      )
    const file = join(built.folder, 'eval.toml')
    writeFileSync(file, settings)
    const python = pythonOf('verifiers') ?? ''
    // Its runtime starts the harness with uv.
    const PATH = [dirname(pythonOf('uv') ?? ''), process.env.PATH].join(delimiter)
    const command = join(dirname(python), 'vf-eval')
    const env = { ...environment(), PATH, MODEL_KEY: 'none' }
    await promisify(execFile)(command, ['@', file], { env, maxBuffer: 1e8, cwd: built.folder })
    const [run = ''] = readdirSync(join(built.folder, 'verifiers'))
    const traces = readFileSync(join(built.folder, 'verifiers', run, 'traces.jsonl'), 'utf8')
    const episodes = traces
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(episodes.map(({ ok }) => ok)).toEqual([true, true])
    for (const { traces: played } of episodes)
      expect(played[0].rewards.openenv_reward.score).toEqual(expect.any(Number))
    expect(model.requests).toHaveLength(2 * said.length)
  }, 600_000)
})

describeWithPython('the recipe of tinker-cookbook', sidecarPython ? 'cookbook' : 'sidecar', () => {
  test('plays and makes steps through the sidecar', async () => {
    const folder = join(built.folder, 'cookbook')
    const env = {
      ...environment(),
      PYTHONPATH: [environment().PYTHONPATH, recipes].join(delimiter),
    }
    const prepared = execFileSync(
      pythonOf('trl') ?? '',
      [join(root, 'test/python/spoken_model.py'), folder],
      { env },
    )
    const { model } = JSON.parse(prepared.toString())
    await using server = await startSidecar({
      ...{ model, engine: 'peft', threads: 1, state: join(folder, 'state'), python: sidecarPython },
      flags: ['--name', 'tiny'],
    })
    const token = join(folder, 'token')
    writeFileSync(token, server.token)
    const out = join(folder, 'out')
    const sizes = ['--steps', '2', '--batch-size', '2', '--group-size', '4', '--max-tokens', '48']
    const played = [
      '--options',
      JSON.stringify({
        tier: 'easy',
        clinic: ['tiredness'],
        max_turns: 4,
        reward: 'diagnosis-accuracy',
      }),
    ]
    const line = [
      join(recipes, 'tinker_cookbook/consultations.py'),
      '--address',
      server.address,
      '--token-file',
      token,
    ]
    const named = ['--model', 'tiny', '--tokenizer', model, '--out', out]
    await promisify(execFile)(
      pythonOf('cookbook') ?? '',
      [...line, ...named, ...sizes, ...played],
      { env, maxBuffer: 1e8 },
    )
    const logged = readFileSync(join(out, 'metrics.jsonl'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((one) => JSON.parse(one))
    const steps = logged.filter((one) => 'env/all/reward/total' in one)
    expect(steps).toHaveLength(2)
    for (const one of steps) expect(one['env/all/turns_per_episode']).toBeGreaterThan(1)
  }, 600_000)
})
