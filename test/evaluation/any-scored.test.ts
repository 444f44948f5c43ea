import { expect, test } from 'vitest'
import { Fault } from '../../src/error.js'
import { assertAnyScored } from '../../src/evaluation/any-scored.js'
import type { PlayedCase } from '../../src/evaluation/play-cases.js'
import { notApplicable, type Part, unavailable } from '../../src/reward.js'
import { saying } from '../fixtures/reward-episodes.js'
import { tinyCase } from '../fixtures/tiny-case.js'

const truth = tinyCase('tiny-1')
const scored = (total: number | null, part?: Part): PlayedCase => {
  const score = { total, parts: part ? { part } : {} }
  const scores = { reward: score, accuracy: score, partialCredit: score, examF1: score }
  return { truth, episode: saying('cold'), scores }
}
const down = scored(null, unavailable('503'))
const lost: PlayedCase = { truth, fault: new Fault('model-unavailable', 'no answer') }

test('one score is enough, and so is a reward that has no meaning for any case', () => {
  for (const played of [[], [down, scored(0)], [scored(null, notApplicable)]])
    expect(assertAnyScored(played)).toBe(played)
})

test.each([
  [[down, lost], 'component-failed', 'none of the 2 consultations', '503'],
  [[lost, down], 'model-unavailable', 'none of the 2 consultations', 'no answer'],
])('an evaluation of nothing ends with its first reason', (played, code, ...texts) => {
  const thrown = () => assertAnyScored(played)
  expect(thrown).toThrow(expect.objectContaining({ code }))
  for (const text of texts) expect(thrown).toThrow(text)
})
