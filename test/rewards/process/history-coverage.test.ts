import { describe, expect, test } from 'vitest'
import type { Finding } from '../../../src/case.js'
import type { EpisodeTurn } from '../../../src/episode.js'
import { historyCoverage } from '../../../src/rewards/process/history-coverage.js'
import { fc } from '../../fixtures/property.js'
import { ask, episodeOf, finding, order, present, truthOf } from '../../fixtures/reward-episodes.js'

const judge = async (turns: readonly EpisodeTurn[], findings: readonly Finding[]) =>
  (await historyCoverage()(episodeOf(turns), truthOf({ findings }))).total

const two = [finding('fever'), finding('ache')]

describe('what counts', () => {
  test('a finding counts when it is told, and once', async () => {
    expect(await judge([], two)).toBe(0)
    expect(await judge([ask(present('fever'))], two)).toBe(0.5)
    expect(await judge([ask(present('fever')), ask(present('fever'))], two)).toBe(0.5)
    expect(await judge([ask(present('fever', 'ache'))], two)).toBe(1)
  })

  test('a categorical value counts, and so does an answer that denied the truth', async () => {
    const site = [finding('site', { state: 'upper' })]
    expect(await judge([ask([{ finding: 'site', state: 'upper' }])], site)).toBe(1)
    expect(await judge([ask([{ finding: 'fever', state: 'absent' }])], two)).toBe(0.5)
  })

  test('“I don’t know” does not count, and a later answer does', async () => {
    const unknown = ask([{ finding: 'fever', state: 'unknown' }])
    expect(await judge([unknown], two)).toBe(0)
    expect(await judge([unknown, ask(present('fever'))], two)).toBe(0.5)
  })

  test('two questions in a turn are tolerated, a laundry list earns nothing', async () => {
    const list = (questions: number) => ask(present('fever', 'ache'), { questions })
    expect(await judge([list(2)], two)).toBe(1)
    expect(await judge([list(3)], two)).toBe(0)
    expect(await judge([list(3), ask(present('fever'))], two)).toBe(0.5)
  })
})

test('an open question counts once a consultation, a question for something always', async () => {
  const open = (...told: string[]) => ask(present(...told), { understood: 'open' })
  expect(await judge([open('fever')], two)).toBe(0.5)
  expect(await judge([open('fever'), open('ache')], two)).toBe(0.5)
  expect(await judge([open('fever'), open(), ask(present('ache'))], two)).toBe(1)
})

describe('what is worth eliciting', () => {
  test('not what is absent, unknown, an examination’s, or the complaint itself', async () => {
    const findings = [
      finding('fever'),
      finding('cough'),
      finding('rash', { state: 'absent' }),
      finding('weight-loss', { state: 'unknown' }),
      finding('shadow', { knownBy: 'exam' }),
    ]
    const all = ask(present('cough', 'rash', 'weight-loss', 'shadow'))
    expect(await judge([all], findings)).toBe(0)
    expect(await judge([ask(present('fever'))], findings)).toBe(1)
  })

  test('by weight where the case weighs, and then what has none is worth nothing', async () => {
    const weighed = [
      finding('fever', { weight: 3 }),
      finding('ache', { weight: 1 }),
      finding('habit'),
    ]
    expect(await judge([ask(present('fever'))], weighed)).toBe(0.75)
    expect(await judge([ask(present('habit'))], weighed)).toBe(0)
    expect(await judge([ask(present('fever', 'ache'))], weighed)).toBe(1)
  })

  test('with nothing to elicit it does not apply', async () => {
    expect(await judge([ask(present('fever'))], [])).toBeNull()
    expect(await judge([], [finding('cough')])).toBeNull()
    expect(await judge([], [finding('fever', { weight: 0 })])).toBeNull()
  })
})

test('asking more never lowers it, and it never leaves [0, 1]', () => {
  const ids = ['a', 'b', 'c', 'd', 'e', 'f']
  const turn = fc.oneof(
    fc
      .tuple(fc.subarray(ids), fc.integer({ min: 0, max: 4 }))
      .map(([told, questions]) => ask(present(...told), { questions })),
    fc.constant(order('cbc')),
  )
  return fc.assert(
    fc.asyncProperty(
      fc.array(turn, { maxLength: 8 }),
      fc.array(fc.double({ min: 0.001, max: 3, noNaN: true }), { minLength: 6, maxLength: 6 }),
      async (turns, weights) => {
        const findings = ids.map((id, i) => finding(id, { weight: weights[i] ?? 1 }))
        let before = 0
        for (let n = 0; n <= turns.length; n++) {
          const now = (await judge(turns.slice(0, n), findings)) ?? Number.NaN
          expect(now).toBeGreaterThanOrEqual(before)
          expect(now).toBeLessThanOrEqual(1)
          before = now
        }
      },
    ),
  )
})
