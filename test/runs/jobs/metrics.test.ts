import { expect, test } from 'vitest'
import { metricsLines, readRecord, readSteps, validations } from '../../../src/runs/jobs/metrics.js'

const lines = (...all: readonly object[]) => all.map((one) => `${JSON.stringify(one)}\n`).join('')

const played = (split: string, index: number, version: number, accuracy: number | null) => ({
  ...{ split, index, version, seed: 1, turns: 2, forks: 0 },
  scores: { reward: { total: accuracy, parts: {} }, accuracy: { total: accuracy, parts: {} } },
})

test('a trainer that goes on from a checkpoint says its steps again, and the later word holds', () => {
  const text = lines(
    { type: 'step', step: 1, reward: 0.1 },
    { type: 'held-out', step: 0, reward: 9 },
    { type: 'step', step: 2, reward: 0.2 },
    { type: 'step', step: 3, reward: 0.3 },
    { type: 'step', step: 2, reward: 0.25 },
  )
  const steps = readSteps(`${text}{"type":"step","step":3,"rew`)
  expect(steps.map(({ step, reward }) => [step, reward])).toEqual([
    [1, 0.1],
    [2, 0.25],
  ])
})

test('what the trainer does not say of a step is told from the consultations that were recorded', () => {
  const record = readRecord(
    lines(
      played('heldout', 0, 7, 0),
      played('train', 5, 7, 1),
      played('train', 5, 7, 0),
      // Not scored: left out, never 0.
      played('train', 6, 7, null),
      played('train', 7, 8, 1),
      played('heldout', 0, 9, 1),
      // Played again after a retry.
      played('heldout', 1, 9, 1),
      played('heldout', 1, 9, 0),
    ),
  )
  const steps = readSteps(
    lines({ step: 1, turns: 3, seconds: 2 }, { step: 2, reward: 0.5, seconds: 3 }),
  )
  const made = metricsLines(steps, record, 2)
  expect(made.map(({ type, step, reward, accuracy }) => [type, step, reward, accuracy])).toEqual([
    ['held-out', 0, 0, 0],
    ['step', 1, 0.5, 0.5],
    ['step', 2, 0.5, 1],
    ['held-out', 2, 0.5, 0.5],
  ])
  expect(made[1]).toMatchObject({ steps: 2, turns: 3, groups: { formed: 0, reasons: { lost: 0 } } })
  expect([...validations(record).keys()]).toEqual([0, 2])
})
