import { describe, expect, test } from 'vitest'
import type { ExamMeasure } from '../../../src/rewards/process/exam-f1.js'
import { examAgreement, examF1 } from '../../../src/rewards/process/exam-f1.js'
import { fc } from '../../fixtures/property.js'
import { diagnose, episodeOf, order, truthOf } from '../../fixtures/reward-episodes.js'

const judge = async (measure: ExamMeasure, done: readonly string[], exams?: object) => {
  const reward = examAgreement({ measure })
  const episode = episodeOf([...done.map((exam) => order(exam)), diagnose('flu')])
  return (await reward(episode, truthOf({ gold: exams ? { exams } : {} }))).total
}
const all: readonly ExamMeasure[] = ['precision', 'recall', 'f1', 'iou']
const exams = {
  required: ['cbc', 'film'],
  neutral: ['ecg', 'biopsy'],
  harmful: ['biopsy', 'ct'],
}

test.each<[ExamMeasure, readonly string[], number]>([
  ['precision', ['cbc', 'mri', 'ct'], 1 / 3],
  ['recall', ['cbc', 'mri', 'ct'], 1 / 2],
  ['f1', ['cbc', 'mri', 'ct'], 2 / 5],
  ['iou', ['cbc', 'mri', 'ct'], 1 / 4],
  ['precision', ['cbc'], 1],
  ['recall', ['cbc', 'film', 'mri', 'ct'], 1],
  ['iou', ['cbc', 'film'], 1],
  ['precision', [], 0],
  ['recall', [], 0],
  ['iou', [], 0],
])('%s of %j', async (measure, done, value) => {
  expect(await judge(measure, done, exams)).toBeCloseTo(value, 12)
})

test.each(all)(
  '%s lets neutral ones neither help nor hurt, but for those that harm',
  async (measure) => {
    expect(await judge(measure, ['cbc', 'ecg'], exams)).toBe(await judge(measure, ['cbc'], exams))
    expect(await judge(measure, ['cbc', 'biopsy'], exams)).toBe(
      await judge(measure, ['cbc', 'ct'], exams),
    )
  },
)

test.each(all)(
  '%s never counts a harmful one as right, though the case requires it',
  async (measure) => {
    const contrary = { required: ['cbc', 'ct'], harmful: ['ct'] }
    expect(await judge(measure, ['cbc'], contrary)).toBe(1)
    expect(await judge(measure, ['ct'], contrary)).toBe(0)
  },
)

test('order everything pays in recall alone, order nothing in none', async () => {
  const everything = ['cbc', 'film', 'mri', 'ct', 'scope', 'echo', 'biopsy', 'swab']
  const paid = await Promise.all(all.map((measure) => judge(measure, everything, exams)))
  expect(paid.map((value) => Number(value?.toFixed(3)))).toEqual([0.25, 1, 0.4, 0.25])
  for (const measure of all) expect(await judge(measure, [], exams)).toBe(0)
})

describe('a case that requires none', () => {
  const none = { required: [], neutral: ['ecg'] }
  test.each(all)('does not apply to %s where none was done', async (measure) => {
    expect(await judge(measure, ['ecg'], none)).toBeNull()
    expect(await judge(measure, [])).toBeNull()
  })
  test('gives 0 for a needless one, and no recall whatever was done', async () => {
    const paid = await Promise.all(all.map((measure) => judge(measure, ['mri'], none)))
    expect(paid).toEqual([0, null, 0, 0])
  })
})

test('iou ≤ f1 ≤ 1, f1 between precision and recall, and all 1 where all is right', () =>
  fc.assert(
    fc.asyncProperty(
      fc.subarray(['a', 'b', 'c', 'd']),
      fc.subarray(['a', 'b', 'c', 'd'], { minLength: 1 }),
      async (done, required) => {
        const [p, r, f, iou] = await Promise.all(
          all.map(async (measure) => (await judge(measure, done, { required })) ?? Number.NaN),
        )
        expect(iou).toBeLessThanOrEqual(f!)
        expect(f).toBeLessThanOrEqual(Math.max(p!, r!) + 1e-12)
        expect(f).toBeGreaterThanOrEqual(Math.min(p!, r!) - 1e-12)
        expect(f === 1).toBe(p === 1 && r === 1)
      },
    ),
  ))

test('names, and a measure there is not', () => {
  expect(all.map((measure) => examAgreement({ measure }).rewardName)).toEqual(
    all.map((measure) => `exam-${measure}`),
  )
  expect(examF1().rewardName).toBe('exam-f1')
  // A JavaScript user has no compiler to stop this.
  expect(() => examAgreement({ measure: 'dice' as ExamMeasure })).toThrow(
    'Expected `measure` to be one of precision, recall, f1, iou, got `dice`',
  )
})
