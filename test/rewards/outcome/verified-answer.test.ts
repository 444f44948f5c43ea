import { expect, test } from 'vitest'
import { graderView } from '../../../src/case.js'
import { questionCase } from '../../../src/cases/importers/huatuo.js'
import { verifiedAnswer } from '../../../src/rewards/outcome/verified-answer.js'
import { ask, episodeOf, saying } from '../../fixtures/reward-episodes.js'

const truth = graderView(questionCase('What causes scurvy?', 'Vitamin C deficiency'))

test.each([
  ['Vitamin C deficiency', 1],
  ['The answer is: vitamin C deficiency', 1],
  ['Vitamin D deficiency', 0],
  ['Vitamin C deficiency or vitamin D deficiency', 0],
])('%s is worth %d', async (answer, value) => {
  expect((await verifiedAnswer()(saying(answer), truth)).total).toBe(value)
})

test('nobody is asked where there is no answer', async () => {
  const verifier = () => Promise.reject(new TypeError('asked'))
  expect(await verifiedAnswer({ verifier })(episodeOf([ask()]), truth)).toEqual({
    total: 0,
    parts: { 'verified-answer': { status: 'ok', value: 0, evidence: 'no answer' } },
  })
})

test('the verifier is told the question, and its probability is recorded', async () => {
  const verifier = async (question: string) => (question === 'What causes scurvy?' ? 0.7 : 0)
  const { parts } = await verifiedAnswer({ verifier })(saying('Ascorbate'), truth)
  expect(parts['verified-answer']).toMatchObject({ value: 1, evidence: 'p 0.700 > 0.5: Ascorbate' })
})
