/** DoctorAgent-RL: each fault of its rewards once, as released and fixed. */
import { describe, expect, test } from 'vitest'
import type { Episode, EpisodeTurn } from '../../../src/episode.js'
import type { Reward } from '../../../src/reward.js'
import type {
  DoctorAgentRlJudgeOptions,
  DoctorAgentRlOptions,
} from '../../../src/rewards/published/doctoragent-rl.js'
import {
  doctoragentMatch,
  doctoragentPatient,
} from '../../../src/rewards/published/doctoragent-rl.js'
import { deiMetric } from '../../../src/rewards/published/doctoragent-rl-dei.js'
import type { Preset } from '../../fixtures/doctoragent.js'
import { paid } from '../../fixtures/doctoragent.js'
import { drawnTurn } from '../../fixtures/draws.js'
import type { Compared } from '../../fixtures/influenza-consultations.js'
import {
  asking,
  concluding,
  flu,
  good,
  judgeOf,
  right,
} from '../../fixtures/influenza-consultations.js'
import { ask, episodeOf, invalid } from '../../fixtures/reward-episodes.js'

/** What a preset pays two episodes: as released, and fixed. */
async function both(
  preset: Preset,
  one: Episode,
  other: Episode,
  options: DoctorAgentRlJudgeOptions = {},
): Promise<Compared> {
  const pay = async (episode: Episode, parity: boolean): Promise<number> =>
    (await paid(preset, [episode, flu], { ...options, parity })) ?? Number.NaN
  return {
    parity: [await pay(one, true), await pay(other, true)],
    fixed: [await pay(one, false), await pay(other, false)],
  }
}

describe('each fault, as released and fixed', () => {
  const never = (count: number) =>
    episodeOf(
      Array.from({ length: count }, () => asking('fever')),
      { maxTurns: count },
    )

  test.each([
    [2, -32, -4],
    [3, -26, -3],
    [5, -17, -1],
    [10, 4, 4],
  ])('D1 never diagnosing within %d turns', async (budget, batch, alone) => {
    const scored = [never(budget), flu] as const
    // Only the limit's own fault is shown: every question is new.
    const options: DoctorAgentRlOptions = { parity: true, repeats: () => 'OK.' }
    expect(await paid('patient', scored, options)).toBe(batch)
    expect(await paid('patient', scored, { ...options, alone: true })).toBe(alone)
    expect(await paid('judge', scored, options)).toBe(alone)
    expect(await paid('patient', scored)).toBe(0)
  })

  test('D3 blanks, commas and function words', async () => {
    const form = episodeOf([concluding('you, the, a of', 'and , the . for and , a .')])
    const other = episodeOf([concluding('Migraine', 'Lie down in a dark room.')])
    const { parity, fixed } = await both('patient', form, other)
    expect(parity[0]).toBeGreaterThan(1.5)
    expect(fixed).toEqual([0, 0])
  })

  test('D5 recall and precision', async () => {
    const recalled = episodeOf([asking('fever'), asking('chills'), right])
    const unread = episodeOf([ask(), ask(), right])
    const match = doctoragentMatch({ parity: true })
    expect((await match(recalled, flu)).parts.questions).toEqual({ status: 'ok', value: 0 })
    const { fixed } = await both('match', recalled, unread)
    const [more, less] = fixed
    expect(more).toBeGreaterThan(less + 0.1)
  })

  test('D7 a question with a second colon', async () => {
    const questions = (last: string) =>
      episodeOf([
        asking('fever', 'About the fever: how high?'),
        asking('chills', `About the fever: ${last}`),
        right,
      ])
    const repeats: DoctorAgentRlOptions['repeats'] = (question, earlier) =>
      earlier.includes(question) ? 'Sorry, again.' : 'OK.'
    const plain = episodeOf([asking('fever', 'How high?'), asking('chills', 'And chills?'), right])
    const { parity, fixed } = await both('patient', questions('and chills?'), plain, { repeats })
    const [cut, whole] = parity
    expect(cut).toBeCloseTo(whole - 3, 9)
    expect(fixed[0]).toBe(fixed[1])
  })

  test('D8 a judge of repeats that thinks of the word', async () => {
    const repeats = () => '<think>Else I would say Sorry.</think><answer>OK.</answer>'
    const scored = [good, flu] as const
    const released = await paid('patient', scored, { parity: true, repeats: () => 'OK.' })
    expect(await paid('patient', scored, { parity: true, repeats })).toBe((released ?? 0) - 6)
    expect(await paid('patient', scored, { repeats })).toBe(await paid('patient', scored))
  })

  test('D9 an answer that begins with a courtesy', async () => {
    const courteous = episodeOf([
      asking('fever', 'Fever?', 'Sorry to bother you, yes.'),
      asking('chills'),
      right,
    ])
    const { parity, fixed } = await both('patient', courteous, good)
    const [one, other] = parity
    expect(one).toBeCloseTo(other - 2, 9)
    expect(fixed[0]).toBe(fixed[1])
  })

  test('D10 a diagnosis without its colon', async () => {
    const unread: EpisodeTurn = { ...invalid, text: '<answer>Diagnosis influenza</answer>' }
    const { parity, fixed } = await both(
      'judge',
      episodeOf([asking('fever'), unread, right]),
      episodeOf([asking('fever'), right]),
    )
    expect(parity[0]).toBe(parity[1])
    const [bad, clean] = fixed
    expect(bad).toBeLessThan(clean)
  })

  test('D11 a number in the chain of thought', async () => {
    const words = '<think>1. Same organ. 2. Same cause.</think><answer>5</answer>'
    const dei = (options: object) => deiMetric({ judge: judgeOf(words), ...options })
    const clear = (options: object) => deiMetric({ judge: judgeOf('5'), ...options })
    const value = async (reward: Reward) => (await reward(good, flu)).total ?? Number.NaN
    expect(await value(dei({ parity: true }))).toBeLessThan(await value(clear({ parity: true })))
    // The tag's content, and no other number.
    expect(await value(dei({}))).toBe(await value(clear({})))
    const prose = deiMetric({ judge: judgeOf('1. Same organ. 2. Same cause. So: 5') })
    expect((await prose(good, flu)).total).toBeNull()
    const hidden = judgeOf('<think>1. Same organ.</think>5')
    expect(await value(deiMetric({ judge: hidden }))).toBe(await value(clear({})))
  })

  test('D13 tokens counted with their padding', async () => {
    const drawn = (turn: EpisodeTurn): EpisodeTurn =>
      drawnTurn(turn, {
        ...{ prompt: [1], tokens: [2, 3], logprobs: [-1, -1], policyVersion: 0, temperature: 1 },
        ...{ logprobMode: 'raw', stopReason: 'stop' },
      })
    const episode = episodeOf(good.turns.map(drawn))
    const judge = judgeOf('5')
    const value = async (options: object) =>
      (await deiMetric({ judge, ...options })(episode, flu)).total ?? Number.NaN
    const padded = await value({ parity: true, tokensOf: () => 400 })
    expect(padded).toBeLessThan(await value({ parity: true }))
    expect(await value({})).toBeCloseTo(1 / (3 + 0.01 * 2), 9)
  })

  test('D19 stopping early', async () => {
    const longer = episodeOf([...good.turns.slice(0, 2), ask(), ask(), right])
    const { parity, fixed } = await both('patient', longer, good)
    const [padded, short] = parity
    expect(padded).toBe(short + 2)
    const [late, early] = fixed
    expect(late).toBeLessThan(early)
  })

  test('D24 a diagnosis without its colon at the turn limit of env.py', async () => {
    const unread: EpisodeTurn = {
      ...asking('chills'),
      text: '<answer>Diagnosis, have you chills?</answer>',
    }
    const plain: EpisodeTurn = { ...asking('chills'), text: '<answer>Have you chills?</answer>' }
    const limited = { maxTurns: 1 }
    const scored = (turn: EpisodeTurn) => [episodeOf([turn], limited), flu] as const
    const options = { parity: true, alone: true }
    expect(await paid('match', scored(unread), options)).toBe(-4)
    expect(await paid('match', scored(plain), options)).toBe(-5)
    expect([await paid('match', scored(unread)), await paid('match', scored(plain))]).toEqual([
      0, 0,
    ])
  })

  test('D25 a question the patient cannot answer', async () => {
    const useless: EpisodeTurn = {
      ...ask([], { understood: 'unknown' }),
      outcome: { kind: 'answered', text: 'Sorry, I do not know.' },
    }
    const { parity } = await both('patient', episodeOf([useless, right]), episodeOf([right]))
    const [with1, without] = parity
    expect(with1).toBeCloseTo(without - 1, 9)
    const { parts } = await doctoragentPatient()(episodeOf([useless, right]), flu)
    expect(parts.conduct).toMatchObject({ value: 1 })
  })
})
