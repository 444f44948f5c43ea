import { expect, test } from 'vitest'
import { Fault } from '../../src/error.js'
import { checkJudge, type LabelledRequest } from '../../src/evaluation/judge-check.js'
import type { Judge, JudgeRequest } from '../../src/rewards/judges/judge.js'

/** A judge whose reply to a request is its `answer`. */
const repeating: Judge = Object.assign(
  async (request: JudgeRequest) => {
    const words = 'answer' in request ? request.answer : ''
    if (words === 'down') throw new Fault('model-unavailable', 'no reply')
    return words
  },
  { judgeName: 'repeating' },
)

const verdict = (label: string, answer: string): LabelledRequest => ({
  request: { task: 'same-diagnosis', reference: 'x', answer },
  label,
})
const likeness = (label: number, answer: string): LabelledRequest => ({
  request: { task: 'similarity', of: 'diagnosis', reference: 'x', answer },
  label: String(label),
})
const times = <T>(n: number, one: T): T[] => Array.from({ length: n }, () => one)
async function* stream<T>(all: readonly T[]) {
  yield* all
}

test('the textbook table: 20 and 15 agreed, 5 and 10 not', async () => {
  const check = await checkJudge(
    repeating,
    stream([
      ...times(20, verdict('Correct', 'Correct')),
      ...times(5, verdict('Correct', 'Wrong')),
      ...times(10, verdict('Wrong', 'Correct')),
      ...times(15, verdict('Wrong', 'Wrong')),
    ]),
  )
  expect(check).toMatchObject({
    ...{ judge: 'repeating', n: 50, unavailable: 0, unreadable: 0 },
    accuracy: { mean: 0.7 },
    agreement: { mean: 0.7 },
    kappa: { value: expect.closeTo(0.4, 12), n: 50 },
    byLabel: {
      Correct: { n: 25, agreement: 0.8, unavailable: 0 },
      Wrong: { n: 25, agreement: 0.6, unavailable: 0 },
    },
    confusion: { Correct: { Correct: 20, Wrong: 5 }, Wrong: { Correct: 10, Wrong: 15 } },
  })
  const [low, high] = check.kappa.ci95 ?? [Number.NaN, Number.NaN]
  // The normal approximation gives 0.16 to 0.64.
  expect(low).toBeGreaterThan(0.05)
  expect(low).toBeLessThan(0.25)
  expect(high).toBeGreaterThan(0.55)
  expect(high).toBeLessThan(0.7)
  expect(check).not.toHaveProperty('weightedKappa')
})

test('no answer is no answer: wrong for accuracy, left out of agreement and kappa', async () => {
  const check = await checkJudge(
    repeating,
    stream([
      ...times(4, verdict('Correct', 'Correct')),
      ...times(4, verdict('Wrong', 'Wrong')),
      verdict('Wrong', 'Incorrect'),
      verdict('Correct', 'down'),
    ]),
  )
  expect(check).toMatchObject({
    ...{ n: 10, unavailable: 2, unreadable: 1 },
    accuracy: { mean: 0.8 },
    agreement: { mean: 1 },
    kappa: { value: 1, n: 8 },
    confusion: { Correct: { Correct: 4, Wrong: 0 }, Wrong: { Correct: 0, Wrong: 4 } },
  })
  expect(check.trouble).toContain('expected `Correct` or `Wrong`, got `Incorrect`')
})

test('numbers have a kappa with weights too, which counts near misses less', async () => {
  const near = await checkJudge(
    repeating,
    stream([likeness(5, '4'), likeness(4, '5'), likeness(0, '1'), likeness(1, '0')]),
  )
  expect(near.kappa.value).toBeLessThan(0)
  // 1 − Σ(difference²)·n / Σ over all pairs: 1 − 4·4 / 136.
  expect(near.weightedKappa?.value).toBeCloseTo(1 - 16 / 136, 12)
  expect(Object.keys(near.confusion)).toEqual(['0', '1', '4', '5'])
})

test('perfect agreement of a few is not certain', async () => {
  const of = async (n: number) => {
    const all = [...times(n, verdict('Correct', 'Correct')), ...times(n, verdict('Wrong', 'Wrong'))]
    return (await checkJudge(repeating, stream(all))).kappa
  }
  const [few, many] = [await of(3), await of(100)]
  expect([few.value, few.ci95?.[1], many.value]).toEqual([1, 1, 1])
  // Wilson's interval of 6 of 6 begins at 0.610, and half of the disagreement is expected.
  expect(few.ci95?.[0]).toBeCloseTo(1 - 2 * (1 - 0.6097), 3)
  expect(many.ci95?.[0]).toBeGreaterThan(0.95)
})

test('one label and one answer say nothing beyond chance', async () => {
  const { kappa, accuracy } = await checkJudge(
    repeating,
    stream(times(5, verdict('Correct', 'Correct'))),
  )
  expect(kappa).toEqual({ value: null, ci95: null, n: 5 })
  expect(accuracy.mean).toBe(1)
})

test('the same seed gives the same intervals, whatever the concurrency', async () => {
  const all = [...times(9, verdict('Correct', 'Correct')), ...times(9, verdict('Wrong', 'Correct'))]
  const by = (concurrency: number, seed: number) =>
    checkJudge(repeating, stream(all), { concurrency, seed })
  expect(await by(1, 3)).toEqual(await by(8, 3))
})

test('nothing to check is bad input', async () => {
  await expect(checkJudge(repeating, stream([]))).rejects.toMatchObject({ code: 'bad-input' })
})
