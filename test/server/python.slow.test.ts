import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { labelled } from '../../src/agents/grammars/labelled.js'
import { spoken } from '../../src/agents/grammars/spoken.js'
import { ended } from '../../src/env.js'
import { make } from '../../src/index.js'
import { packageVersion } from '../../src/platform/package-root.js'
import { type BuiltPackage, buildPackage } from '../fixtures/built.js'
import { describeWithPython, pythonOf } from '../fixtures/python.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const source = join(root, 'src/server/python')
const seeds = [3, 11]
const actions = ['Do you have a fever?', 'Order: ECG', 'Diagnosis: pneumonia']

let built: BuiltPackage
beforeAll(async () => {
  built = await buildPackage()
}, 120_000)
afterAll(() => built.remove())

/** What an env of this process says to the same actions. */
async function transcript(seed: number) {
  const env = make('consultation', { tier: 'standard', grammar: spoken() })
  const { render } = labelled()
  let { observation } = await env.reset({ seed })
  const told: unknown[] = [[render(observation).at(-1)?.content, null, false, false]]
  for (const action of actions) {
    const step = await env.step(action)
    observation = step.observation
    const message = ended(step) ? '' : render(observation).at(-1)?.content
    told.push([message, step.reward, step.terminated, step.truncated])
  }
  return told
}

describeWithPython('the Python package', 'gym', (run) => {
  test('plays as an env of this process does, by every interface, and leaves nothing behind', async () => {
    const given = { package: source, command: built.command.join(' '), seeds, actions }
    // biome-ignore lint/suspicious/noExplicitAny: outside JSON
    const told = run('gym_env.py', given) as any
    const expected = await Promise.all(seeds.map(transcript))
    expect(told.transcripts).toEqual(expected.map((one) => [one[0], ...one.slice(1)]))
    expect(told.again).toEqual(told.transcripts)
    expect(told.chats).toEqual(told.transcripts)
    expect(told.asyncio).toEqual(told.transcripts)
    expect(told.lost).toEqual(told.transcripts[0].slice(1).map(([message]: [string]) => message))
    expect(told.roles.slice(0, 4)).toEqual(['system', 'user', 'assistant', 'user'])
    expect(told.tools).toEqual(['ask_patient', 'order_exam', 'diagnose'])
    expect(told.splits.train).toBeGreaterThan(0)
    expect(told.vector).toEqual(Array(8).fill(true))
    expect(told.processes).toEqual([true, true])
    expect(told.shared).toContain('shared_memory=False')
    expect(told.tool.reward).toEqual(expect.any(Number))
    expect(told.refusals.map(([code]: [string]) => code)).toEqual(Array(3).fill('bad-request'))
    expect(told.version).toBe(packageVersion())
    const manifest = readFileSync(join(source, 'pyproject.toml'), 'utf8')
    expect(manifest).toContain(`version = "${packageVersion()}"`)
    expect(told.other).toEqual(Array(2).fill(['version', packageVersion()]))
    expect(told.left).toEqual([])
  }, 300_000)
})

describeWithPython('rewards and cases in Python', 'gym', (run) => {
  test('scores what was played as the consultation itself did, and what was logged elsewhere', async () => {
    const given = { package: source, command: built.command.join(' '), seed: seeds[0] }
    // biome-ignore lint/suspicious/noExplicitAny: outside JSON
    const told = run('scores_and_cases.py', given) as any
    expect(told.played.total).toEqual(expect.any(Number))
    expect(told.again).toEqual([told.played, told.played])
    expect(told.accuracy.map(({ total }: { total: number }) => total)).toEqual([0, 1, 0])
    // A log does not tell what things cost: the default reward is not known, which is not 0.
    expect(told.unknown).toEqual([null])
    expect(told.unfinished).toEqual([null])
    expect(told.names).toContain('diagnosis-accuracy')
    expect(told.refused).toEqual(['Refused', 'BedsideError'])
    expect(told.cases).toEqual(['standard-train-0-0', 'standard-train-0-1'])
    expect(told.rows).toEqual([
      { index: 4, seed: 4, tier: 'standard' },
      { index: 5, seed: 5, tier: 'standard' },
    ])
    expect(told.prompt).toBe(told.heard)
    expect(told.missing).toContain('pip install datasets')
  }, 300_000)
})

/** Whether a process is there. */
function lives(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describeWithPython('the server that Python started', 'gym', () => {
  test.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
    'ends with its process on %s, and leaves no file behind',
    async (signal) => {
      const script = join(root, 'test/python/owns_server.py')
      const scratch = mkdtempSync(join(tmpdir(), 'bedside-owner-'))
      onTestFinished(() => rmSync(scratch, { recursive: true }))
      const env = {
        ...process.env,
        ...{ PYTHONPATH: source, BEDSIDE_COMMAND: built.command.join(' '), TMPDIR: scratch },
      }
      const owner = spawn(pythonOf('gym') ?? '', [script], {
        env,
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      const [line] = await once(createInterface(owner.stdout), 'line')
      const pids: number[] = JSON.parse(line)
      expect(pids.map(lives)).toEqual([true, true])
      owner.kill(signal)
      await expect.poll(() => pids.map(lives), { timeout: 20_000 }).toEqual([false, false])
      expect(readdirSync(scratch)).toEqual([])
    },
    120_000,
  )
})

describeWithPython('the wheel', 'gym', () => {
  test('installs into a clean environment and plays', async () => {
    const python = pythonOf('gym') ?? ''
    const [code, wheels, clean] = ['code', 'wheels', 'clean'].map((at) => join(built.folder, at))
    // Building writes beside the source.
    cpSync(source, code ?? '', { recursive: true })
    const made = [
      '-m',
      'pip',
      'wheel',
      '--quiet',
      '--no-deps',
      '--no-build-isolation',
      code ?? '',
      '-w',
      wheels ?? '',
    ]
    execFileSync(python, made)
    execFileSync(python, ['-m', 'venv', clean ?? ''])
    const own = join(clean ?? '', 'bin', 'python')
    const install = ['-m', 'pip', 'install', '--quiet', '--find-links', wheels ?? '', 'bedside-gym']
    const started = performance.now()
    execFileSync(own, install, { stdio: ['ignore', 'ignore', 'inherit'] })
    const script = join(root, 'test/python/first_step.py')
    const env = { ...process.env, PYTHONPATH: '', BEDSIDE_COMMAND: built.command.join(' ') }
    const told = JSON.parse(
      execFileSync(own, [script], { env, cwd: built.folder, encoding: 'utf8' }),
    )
    const seconds = ((performance.now() - started) / 1000).toFixed(1)
    expect(told.place).toContain('site-packages')
    expect(told.typed).toBe(true)
    expect(told.message).toMatch(/\[Turns left: \d+\]/)
    console.log(
      `pip install and first step: ${seconds} s; make to first step ${told.first} s, again ${told.warm} s`,
    )
  }, 300_000)

  test('installs from the npm tarball, and finds the command that came with it from anywhere', async () => {
    const [packed, clean] = ['packed', 'from-tarball'].map((at) => join(built.folder, at))
    mkdirSync(packed ?? '')
    // A copy: what npm packs are files, and the build links to them.
    for (const part of ['package.json', 'dist', 'src/server/python', 'data'])
      cpSync(join(part === 'dist' ? built.folder : root, part), join(packed ?? '', part), {
        recursive: true,
      })
    execFileSync('npm', ['pack', '--silent', '--ignore-scripts'], { cwd: packed })
    const [tarball = ''] = readdirSync(packed ?? '').filter((name) => name.endsWith('.tgz'))
    execFileSync('tar', ['-xzf', tarball], { cwd: packed })
    execFileSync(pythonOf('gym') ?? '', ['-m', 'venv', clean ?? ''])
    const own = join(clean ?? '', 'bin', 'python')
    const from = join(packed ?? '', 'package/src/server/python')
    execFileSync(own, ['-m', 'pip', 'install', '--quiet', from])
    const { BEDSIDE_COMMAND: _, PYTHONPATH: __, ...env } = process.env
    const script = `import json, bedside; from bedside import _command
env = bedside.make(tier="easy"); env.reset(seed=7)
print(json.dumps([_command.find_command(), env.step("Since when have you had it?")[0]]))`
    const told = execFileSync(own, ['-c', script], { env, cwd: tmpdir(), encoding: 'utf8' })
    const [command, message] = JSON.parse(told)
    expect(realpathSync(command[1])).toBe(
      realpathSync(join(packed ?? '', 'package/dist/cli/main.js')),
    )
    expect(message).toMatch(/\[Turns left: \d+\]/)
    rmSync(join(packed ?? '', 'package/dist'), { recursive: true })
    const unbuilt = spawnSync(own, ['-c', script], { env, cwd: tmpdir(), encoding: 'utf8' })
    expect(unbuilt.stderr).toMatch(/ServerUnavailable: Expected .*package to be built/)
  }, 300_000)

  test('holds what its types say', () => {
    const cache = join(built.folder, 'mypy')
    const check = ['-m', 'mypy', '--cache-dir', cache, 'bedside']
    expect(execFileSync(pythonOf('gym') ?? '', check, { cwd: source, encoding: 'utf8' })).toContain(
      'Success',
    )
  }, 120_000)
})
