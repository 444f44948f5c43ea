import { expect, test } from 'vitest'
import { notApplicable } from '../../../src/reward.js'
import { examF1 } from '../../../src/rewards/process/exam-f1.js'
import { fc } from '../../fixtures/property.js'
import { diagnose, episodeOf, order, truthOf } from '../../fixtures/reward-episodes.js'

const judge = async (orders: readonly (readonly string[])[], exams?: object) => {
  const episode = episodeOf([...orders.map((list) => order(...list)), diagnose('flu')])
  const { parts } = await examF1()(episode, truthOf({ gold: exams ? { exams } : {} }))
  const part = parts['exam-f1']
  return part?.status === 'ok' ? part.value : part?.status
}

test.each([
  ['exactly what was required', [['cbc'], ['film']], 1],
  ['one of two', [['cbc']], 2 / 3],
  ['both and one needless', [['cbc'], ['film'], ['mri']], 0.8],
  ['only needless ones', [['mri'], ['ct']], 0],
  ['none', [], 0],
  ['both as members of one panel', [['cbc', 'film']], 1],
  ['a panel with a needless member', [['cbc', 'film', 'mri']], 0.8],
])('%s', async (_, orders, f1) => {
  expect(await judge(orders, { required: ['cbc', 'film'] })).toBeCloseTo(f1, 12)
})

test('an examination counts once, however often it is ordered', async () => {
  const required = ['cbc', 'film']
  expect(await judge([['cbc'], ['cbc'], ['cbc']], { required })).toBeCloseTo(2 / 3, 12)
  expect(await judge([['mri'], ['mri'], ['cbc'], ['film']], { required })).toBeCloseTo(0.8, 12)
})

test('neutral examinations neither help nor hurt', () =>
  fc.assert(
    fc.asyncProperty(
      fc.subarray(['a', 'b', 'c', 'd', 'e']),
      fc.subarray(['n1', 'n2', 'n3']),
      async (done, neutral) => {
        const exams = { required: ['a', 'b'], neutral: ['n1', 'n2', 'n3'] }
        const without = await judge(
          done.map((exam) => [exam]),
          exams,
        )
        expect(
          await judge(
            [...done, ...neutral].map((exam) => [exam]),
            exams,
          ),
        ).toBe(without)
      },
    ),
  ))

test('nothing required and nothing done does not apply; something needless done is 0', async () => {
  const exams = { required: [], neutral: ['cbc'] }
  expect(await judge([], exams)).toBe(notApplicable.status)
  expect(await judge([['cbc']], exams)).toBe(notApplicable.status)
  expect(await judge([['mri']], exams)).toBe(0)
})

test('a gold standard that says nothing of examinations makes it not apply, whatever was done', async () => {
  expect(await judge([['mri']])).toBe(notApplicable.status)
})
