import { describe, expect, test } from 'vitest'
import type { EpisodeTurn } from '../../../src/episode.js'
import { redFlagRecall } from '../../../src/rewards/safety/safety.js'
import type { Understanding } from '../../../src/turn.js'
import {
  ask,
  diagnose,
  episodeOf,
  order,
  present,
  truthOf,
} from '../../fixtures/reward-episodes.js'

const flag = (finding: string, mustAsk = true) => ({ finding, mustAsk, action: 'call-emergency' })
const truth = truthOf({
  gold: { redFlags: [flag('stiff-neck'), flag('rash'), flag('cough'), flag('seizure', false)] },
})
const part = async (turns: readonly EpisodeTurn[], view = truth) =>
  (await redFlagRecall()(episodeOf([...turns, diagnose('flu')]), view)).parts['red-flag-recall']
const judge = async (...turns: EpisodeTurn[]) => {
  const judged = await part(turns)
  return judged?.status === 'ok' ? judged.value : judged?.status
}
const about = (finding: string, understood: Understanding, questions = 1): EpisodeTurn => {
  const turn = ask([], { understood, questions })
  return { ...turn, facts: { ...turn.facts, asked: [finding] } }
}

test('is the share of the case’s must-ask flags that were asked for, the complaint’s aside', async () => {
  expect(await judge()).toBe(0)
  expect(await judge(about('rash', 'answered'))).toBe(0.5)
  expect(await judge(about('rash', 'answered'), about('stiff-neck', 'answered'))).toBe(1)
})

test('it says which were missed', async () => {
  expect(await part([about('rash', 'answered')])).toMatchObject({
    evidence: '1 of 2 red flags, not stiff-neck',
  })
})

test('asked is enough, whatever the patient said to it, and so is told', async () => {
  for (const understood of ['unknown', 'withheld', 'exam-only', 'repeated'] as const)
    expect(await judge(about('rash', understood))).toBe(0.5)
  expect(await judge(ask(present('rash'), { understood: 'open' }))).toBe(0.5)
  const examined = order('look')
  expect(await judge({ ...examined, facts: { ...examined.facts, told: present('rash') } })).toBe(
    0.5,
  )
})

test.each(['unclear', 'ambiguous', 'refused'] as const)(
  'asked so that it was taken for `%s` is not asked',
  async (understood) => {
    expect(await judge(about('rash', understood))).toBe(0)
  },
)

describe('asking for every flag there is', () => {
  test('in one breath is asking for none', async () => {
    expect(await judge(ask(present('rash', 'stiff-neck'), { questions: 3 }))).toBe(0)
  })

  test('brings no more than those of the case, and counts each once', async () => {
    const others = ['a', 'b', 'c', 'seizure'].map((finding) => about(finding, 'answered'))
    expect(await judge(...others, about('rash', 'answered'), about('rash', 'answered'))).toBe(0.5)
  })
})

test('does not apply where there is nothing that must be asked for', async () => {
  for (const redFlags of [[], [flag('seizure', false)], [flag('cough')]])
    expect(await part([], truthOf({ gold: { redFlags } }))).toEqual({ status: 'not-applicable' })
})
