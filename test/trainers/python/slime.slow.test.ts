/** slime's plugin: consultations by a real server, draws by a stand-in of its engines, on the records of slime's. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { pythonPackage } from '../../../src/trainers/sidecar/environment.js'
import { describeWithPython, pythonOf } from '../../fixtures/python.js'
import { builtPackage } from '../../server/built.js'

/** What a script prints at its end; it starts `bedside` by the command. */
async function found(script: string, command: readonly string[]) {
  const path = fileURLToPath(new URL(`../../python/${script}`, import.meta.url))
  const env = { ...process.env, BEDSIDE_TEST_COMMAND: JSON.stringify(command) }
  const { stdout } = await promisify(execFile)(pythonOf('verl') ?? '', [path], {
    env,
    maxBuffer: 1e8,
  }).catch((error) => error)
  return JSON.parse(stdout.trimEnd().split('\n').at(-1))
}

describeWithPython("slime's plugin", 'verl', (run) => {
  const { command } = builtPackage()

  test('plays, breaks off, loses, replaces and pays as it should', async () => {
    const { passed, failed } = await found('slime_plugin.py', command)
    expect(failed).toEqual({})
    expect(passed).toHaveLength(34)
  }, 300_000)

  test('says at once that its stand-in lacks the engine, where only a trainer is installed', async () => {
    const code =
      "import runpy, sys; sys.modules['peft'] = None; sys.argv[1:] = ['--help']; runpy.run_module('bedside_trainers.slime.stand_in', run_name='__main__')"
    const env = { ...process.env, PYTHONPATH: pythonPackage() }
    const missing = promisify(execFile)(pythonOf('verl') ?? '', ['-c', code], { env })
    await expect(missing).rejects.toMatchObject({ stderr: /No module named 'peft'/ })
  })

  test('stands on the facts of slime: the fields of a sample, and losses with their gradients', async () => {
    const golden = new URL('../../golden/slime-sample.json', import.meta.url)
    const sample = JSON.parse(await readFile(golden, 'utf8'))
    const { fields, status, losses } = Object(run('slime_facts.py', {}))
    expect(fields).toEqual(Object.keys(sample.fields))
    expect(status).toEqual(sample.status)
    expect(losses).toHaveLength(37)
    for (const { name, gap } of losses) expect(gap, name).toBeLessThan(1e-8)
  }, 300_000)

  test("gives a batch the sidecar's loss and gradient", () => {
    const batches = Object.entries(Object(run('slime_batch.py', {})))
    expect(batches).toHaveLength(6)
    for (const [name, found] of batches)
      for (const [ours, theirs] of Object.values<readonly [number, number]>(Object(found)))
        expect(Math.abs(ours - theirs) / Math.abs(theirs), name).toBeLessThan(
          name.startsWith('float64') ? 1e-9 : 1e-4,
        )
  }, 300_000)

  test('trains a small model by the stand-in, which goes on and says what it is', async () => {
    const { codes, lines, said, states, model } = await found('slime_trains.py', command)
    expect(codes).toEqual([0, 0])
    const steps = Object(lines)
    expect(steps.map(({ type, step }: Record<string, unknown>) => [type, step])).toEqual([
      ['held-out', 0],
      ['step', 1],
      ['step', 2],
      ['held-out', 2],
      ['step', 3],
      ['held-out', 3],
    ])
    for (const { type, trainer, update, samples } of steps) {
      expect(trainer).toMatch(/^stand-in for slime/)
      if (type !== 'step') continue
      expect(samples).toMatchObject({ used: 8, unavailable: 0 })
      expect(update.logprobGap.max).toBeLessThanOrEqual(1e-5)
      expect(update.tokens).toBeGreaterThan(0)
    }
    expect(
      steps.some(({ update }: Record<string, { gradNorm: number }>) => (update?.gradNorm ?? 0) > 0),
    ).toBe(true)
    expect(said.every((name: string) => name.startsWith('stand-in for slime'))).toBe(true)
    expect(states).toEqual(['step-000003-version-3'])
    expect(model).toContain('model.safetensors')
  }, 180_000)
})
