import { expect, test } from 'vitest'
import type { EpisodeTurn } from '../../../src/episode.js'
import { questionSpecificity } from '../../../src/rewards/process/conduct.js'
import type { Understanding } from '../../../src/turn.js'
import {
  ask,
  diagnose,
  episodeOf,
  order,
  present,
  truthOf,
} from '../../fixtures/reward-episodes.js'

const judge = async (...turns: EpisodeTurn[]) =>
  (await questionSpecificity()(episodeOf([...turns, diagnose('flu')]), truthOf())).total
const about = (finding: string, understood: Understanding, questions = 1): EpisodeTurn => {
  const turn = ask([], { understood, questions })
  return { ...turn, facts: { ...turn.facts, asked: [finding] } }
}
const open = ask(present('fever'), { understood: 'open' })

test.each(['answered', 'unknown', 'exam-only', 'withheld'] as const)(
  'a question about a finding is specific, though it comes out as `%s`',
  async (understood) => {
    expect(await judge(about('fever', understood))).toBe(1)
  },
)

test.each(['repeated', 'unclear', 'ambiguous', 'refused', 'courtesy'] as const)(
  'one taken for `%s` is not',
  async (understood) => {
    expect(await judge(about('fever', understood))).toBe(0)
  },
)

test('a question about nothing that anybody knows is not', async () => {
  expect(await judge(ask())).toBe(0)
})

test('the first open question is half a specific one, the others are nothing', async () => {
  expect(await judge(open)).toBe(0.5)
  expect(await judge(open, open, open)).toBeCloseTo(0.5 / 3, 12)
})

test('asking for the same again pays nothing, but for what was kept back', async () => {
  expect(await judge(about('fever', 'unknown'), about('fever', 'unknown'))).toBe(0.5)
  expect(await judge(about('fever', 'withheld'), about('fever', 'answered'))).toBe(1)
})

test('a list of questions is not specific', async () => {
  expect(await judge(about('fever', 'answered', 2))).toBe(1)
  expect(await judge(about('fever', 'answered', 3))).toBe(0)
})

test('orders are not questions, and a doctor who asked none gets 0', async () => {
  expect(await judge(about('fever', 'answered'), order('cbc'))).toBe(1)
  expect(await judge(order('cbc'))).toBe(0)
})
