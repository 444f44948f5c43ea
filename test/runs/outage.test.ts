import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Agent } from '../../src/agent.js'
import type { ExamSimulator } from '../../src/exam.js'
import type { Patient } from '../../src/patient.js'
import { lastCheckpoint } from '../../src/runs/directory.js'
import type { OwnParts } from '../../src/runs/own-parts.js'
import type { RecipeInput } from '../../src/runs/recipe.js'
import { train } from '../../src/runs/train.js'
import { bedside } from '../cli/terminal.js'

let folder: string
let runs = 0
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bedside-outage-'))
})
afterAll(() => rm(folder, { recursive: true }))
const nextRun = () => join(folder, `run-${runs++}`)

const cases = { clinic: ['upper-airway'], heldOut: 4 }
const often = { evaluateCases: 2, evaluateEvery: 100, checkpointEvery: 100, steps: 8 }
type Training = NonNullable<RecipeInput['training']>
const loops: readonly (readonly [string, Training])[] = [
  ['GRPO', { ...often, groupsPerStep: 2, groupSize: 4 }],
  ['GRPO that plays ahead', { ...often, groupsPerStep: 2, groupSize: 4, maxStaleness: 1 }],
  ['PPO', { ...often, algorithm: 'ppo', ppo: { episodesPerStep: 8 } }],
]

/** A reward whose judge is down for the consultations of some steps; evaluations have none. */
const downFrom = (from: number, to: number): NonNullable<OwnParts['reward']> => {
  let calls = 0
  return async (_, __, { step = 0 } = {}) =>
    step >= from && step <= to
      ? { total: null, parts: { judge: { status: 'unavailable', reason: `503 at ${step}` } } }
      : { total: calls++ % 2, parts: {} }
}

describe.each(loops)('%s', (name, training) => {
  const ahead = name.includes('ahead')

  test('ends at a judge that is down for three steps, and goes on from there when it is back', async () => {
    const out = nextRun()
    const reward = downFrom(4, Number.POSITIVE_INFINITY)
    const ended = train({ cases, training }, { out, reward })
    await expect(ended).rejects.toMatchObject({
      code: 'component-failed',
      message: expect.stringMatching(
        /steps [345] to [567]: none of 24 consultations could be scored; the first reason: 503 at \d$/,
      ),
    })
    // The step before the last one, whose groups may have been begun in another where they are played ahead.
    expect(Math.abs((await lastCheckpoint(out)) - 5)).toBeLessThanOrEqual(ahead ? 1 : 0)
    const { report } = await train({ cases, training }, { out, reward: downFrom(99, 99) })
    expect(report.steps).toBe(8)
  })

  test('goes on through an outage of two steps', async () => {
    const reward = downFrom(4, 5)
    const { report } = await train({ cases, training }, { out: nextRun(), reward })
    expect(report.steps).toBe(8)
    if (!ahead) expect(report.samples.unavailable).toBe(16)
  })
})

describe('a part of one’s own that never works ends the run with its reason:', () => {
  const boom = () => {
    throw new Error('boom')
  }
  const nonsense: readonly (readonly [string, OwnParts, RegExp])[] = [
    ['a patient that throws', { patient: boom }, /boom/],
    ['a patient that answers nonsense', { patient: (() => 3) as unknown as Patient }, /3/],
    ['an exam simulator that throws', { exams: boom }, /boom/],
    ['exams of nonsense', { exams: (() => 'x') as unknown as ExamSimulator }, /x/],
    ['a reward that throws', { reward: boom }, /boom/],
    ['a reward of nonsense', { reward: (() => 'good') as unknown as () => number }, /good/],
    ['a reward that is no number', { reward: () => Number.NaN }, /NaN/],
  ]
  // An examination that breaks ends the run at the first step whose two consultations both order something.
  const small = { ...often, groupsPerStep: 1, groupSize: 2, maxUnscored: 1, steps: 20 }
  const of = (training: Training): RecipeInput => ({ seed: 3, cases, training })
  test.each(nonsense)('%s', async (_, parts, reason) => {
    await expect(train(of(small), { out: nextRun(), ...parts })).rejects.toThrow(reason)
  })

  test('an agent that demonstrates nothing', async () => {
    const recipe = of({ algorithm: 'sft', sft: { agent: 'mine', cases: 4 } })
    const agents = { mine: boom as Agent }
    await expect(train(recipe, { out: nextRun(), agents })).rejects.toThrow('boom')
  })

  test('a reward, under fine-tuning, which does not learn by it', async () => {
    const recipe = of({ algorithm: 'sft', sft: { cases: 4 } })
    await expect(train(recipe, { out: nextRun(), reward: boom })).rejects.toThrow('boom')
  })
})

test('the command says why a run ended, how it goes on, and exits 1', async () => {
  const reward = join(folder, 'down.mjs')
  const text = `let n = 0\nexport const reward = () => { if (n++ > 20) throw new Error('503'); return n % 2 }\n`
  await writeFile(reward, text)
  const out = nextRun()
  const flags = ['groupsPerStep=2', 'groupSize=4', 'evaluateCases=2', 'maxUnscored=2']
  const argv = ['--clinic', 'upper-airway', '--cases', '4', '--set', `reward=${reward}`]
  const settings = flags.flatMap((flag) => ['--set', `training.${flag}`])
  const { code, stderr } = await bedside(['train', ...argv, ...settings, '--out', out])
  expect(code).toBe(1)
  expect(stderr).toMatch(/steps \d to \d: none of 16 consultations could be scored; .*503/)
  expect(stderr).toContain(`npx bedside train --resume ${out} --trust`)
  expect(await readFile(join(out, 'config.yaml'), 'utf8')).toContain('maxUnscored: 2')
})
