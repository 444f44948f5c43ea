import { expect, test } from 'vitest'
import { memoizeReward } from '../../../src/rewards/combinators/compose.js'
import { defineReward } from '../../../src/rewards/define.js'
import { diagnose, episodeOf, truthOf } from '../../fixtures/reward-episodes.js'

test('who holds it together computes once; another episode, truth or context computes anew', async () => {
  let calls = 0
  const counting = memoizeReward(defineReward({ name: 'counting', bounds: [0, 99] }, () => ++calls))
  const [episode, view] = [episodeOf([diagnose('Influenza')]), truthOf({})]
  const both = await Promise.all([counting(episode, view), counting(episode, view)])
  expect(both.map(({ total }) => total)).toEqual([1, 1])
  expect((await counting({ ...episode }, view)).total).toBe(2)
  expect((await counting({ ...episode }, { ...view })).total).toBe(3)
  expect((await counting(episode, view, {})).total).toBe(4)
  const { rewardName, bounds, source } = counting
  expect([rewardName, bounds, source]).toEqual(['counting', [0, 99], 'the user'])
})
