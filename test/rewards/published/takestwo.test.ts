/** MrlX-TakesTwo's fixed rewards: what they pay for, what they do not, and the contract of both forms. */
import { describe, expect, test } from 'vitest'
import type { Episode, EpisodeTurn } from '../../../src/episode.js'
import { Fault } from '../../../src/error.js'
import type { Judge } from '../../../src/rewards/judges/judge.js'
import { takestwoDoctor } from '../../../src/rewards/published/takestwo.js'
import { takestwoPatient } from '../../../src/rewards/published/takestwo-patient.js'
import { roundLikePython } from '../../../src/rewards/text/python-text.js'
import { rewardChecks } from '../../../src/testing/reward.js'
import {
  asking,
  best,
  concluding,
  flu,
  fluCase,
  good,
  right,
} from '../../fixtures/influenza-consultations.js'
import {
  ask,
  diagnose,
  episodeOf,
  invalid,
  order,
  present,
} from '../../fixtures/reward-episodes.js'
import { staysWithinBounds } from '../arbitrary.js'

const doctor = takestwoDoctor()
const patient = takestwoPatient()
const paid = async (episode: Episode) => (await doctor(episode, flu)).total ?? Number.NaN

describe('the fixed doctor', () => {
  test('is paid in full for the whole consultation', async () => {
    expect(await paid(best)).toBeCloseTo(1, 9)
  })

  test('is paid part of it for a guess that is right', async () => {
    expect(await paid(episodeOf([right]))).toBeCloseTo(0.7, 9)
    expect(await paid(episodeOf([diagnose('Influenza')]))).toBeCloseTo(0.3, 9)
  })

  const cheats: readonly (readonly [string, readonly EpisodeTurn[]])[] = [
    ['a list', [concluding('Influenza, pneumonia, gastritis, migraine or asthma')]],
    ['a constant sentence', [concluding('You likely have gastritis and enteritis.')]],
    ['the gold advice with a wrong diagnosis', [...best.turns.slice(0, 4), concluding('Gout')]],
    ['questions without end', best.turns.slice(0, 4)],
    ['no reply that can be read', [invalid, invalid]],
  ]
  test.each(cheats)('is paid nothing for %s', async (_, turns) => {
    expect(await paid(episodeOf(turns))).toBe(0)
  })

  test('is not paid for padding', async () => {
    const padding = Array.from({ length: 5 }, () => ask([], { understood: 'unknown' }))
    const padded = [...good.turns.slice(0, -1), ...padding, order('ecg'), right]
    expect(await paid(episodeOf(padded))).toBe(await paid(good))
  })

  test('is fined for turns at fault', async () => {
    const refused = ask([], { understood: 'refused' })
    const faulty = (...turns: readonly EpisodeTurn[]) => paid(episodeOf([...turns, ...best.turns]))
    expect(await faulty(refused)).toBeCloseTo(0.96, 9)
    expect(await faulty(refused, invalid)).toBeCloseTo(0.92, 9)
    expect(await faulty(...Array.from({ length: 9 }, () => invalid))).toBeCloseTo(0.8, 9)
  })

  test('reads names of the formulary', async () => {
    const formulary = [{ id: 'influenza', names: ['the grip'], codes: [] }]
    const named = episodeOf([concluding('the grip')])
    expect((await takestwoDoctor({ formulary })(named, flu)).total).toBeCloseTo(0.7, 9)
    expect(await paid(named)).toBe(0)
  })
})

describe('the patient, by the facts', () => {
  const judged = async (...turns: readonly EpisodeTurn[]) =>
    (await patient(episodeOf(turns), flu)).parts
  const knowing = (told: EpisodeTurn['facts']['told'], asked: readonly string[]): EpisodeTurn => {
    const turn = ask(told)
    return { ...turn, facts: { ...turn.facts, asked } }
  }

  test.each<[string, EpisodeTurn, object]>([
    ['answers', asking('fever'), { information: 1, completeness: 1, conflict: 1 }],
    [
      'tells more than was asked',
      knowing(present('fever', 'chills'), ['fever']),
      { information: 0.8, completeness: 1, conflict: 1 },
    ],
    [
      'keeps back',
      knowing([], ['fever', 'aches']),
      { information: 1, completeness: 0.6, conflict: 1 },
    ],
    [
      'contradicts',
      knowing([{ finding: 'fever', state: 'absent' }], ['fever']),
      { information: 1, completeness: 1, conflict: 0.8 },
    ],
    [
      'does not know what it should',
      knowing([{ finding: 'fever', state: 'unknown' }], ['fever']),
      { information: 1, completeness: 0.8, conflict: 1 },
    ],
    [
      'is invited to tell',
      ask(present('fever', 'aches'), { understood: 'open' }),
      { information: 1, completeness: 1, conflict: 1 },
    ],
    [
      'is asked what no one knows',
      knowing([], ['gout']),
      { information: 1, completeness: 1, conflict: 1 },
    ],
  ])('%s', async (_, turn, rates) => {
    const parts = await judged(turn, right)
    for (const [name, rate] of Object.entries(rates))
      expect(parts[name]).toMatchObject({ value: expect.closeTo(rate, 9) })
  })

  test('what is told later was not kept back', async () => {
    expect(await judged(knowing([], ['fever']), asking('fever'))).toMatchObject({
      completeness: { value: 1, evidence: 'rule: 0 extra, 0 missing, 0 opposite' },
    })
  })

  test('a patient who never spoke: nothing to the fixed form, no sample to the released one', async () => {
    expect((await patient(episodeOf([right]), flu)).total).toBe(0)
    const released = await takestwoPatient({ parity: true })(episodeOf([right]), flu)
    expect(released).toEqual({ total: null, parts: { conduct: { status: 'not-applicable' } } })
  })

  test('the released form without a judge', async () => {
    const parity = takestwoPatient({ parity: true })
    expect((await parity(good, flu)).total).toBe(3)
    const silent = episodeOf([knowing([], ['fever', 'chills', 'headache', 'aches']), right])
    expect((await parity(silent, flu)).total).toBe(2.2)
  })

  test('a judge reads what could be heard, and the patient’s whole story', async () => {
    let seen: unknown
    const judge: Judge = Object.assign(
      async (request: Parameters<Judge>[0]) => {
        seen = request
        return '{"extra": 1, "missing": 0, "opposite": 0}'
      },
      { judgeName: 'test' },
    )
    const thoughtful = asking('fever', '<think>why</think>Fever?', '<think>mm</think>Yes.')
    const episode = episodeOf([thoughtful, order('ecg'), invalid, right])
    const { parts } = await takestwoPatient({ judge })(episode, flu)
    expect(parts.information).toEqual({
      ...{ status: 'ok', value: 0.8, evidence: 'test: 1 extra, 0 missing, 0 opposite' },
    })
    expect(seen).toEqual({
      task: 'patient-conduct',
      profile: 'I cough.\nfever: present\nchills: present\nheadache: present\naches: present',
      diagnosis: 'Influenza',
      recommendation: flu.gold.recommendation?.en,
      dialogue: [
        { role: 'doctor', text: 'Fever?' },
        { role: 'patient', text: 'Yes.' },
        { role: 'examiner', text: 'Done.' },
      ],
    })
  })

  test.each([
    [4, 3],
    [5, null],
  ])('released: %i unreadable replies, asked for five times', async (unreadable, total) => {
    let asks = 0
    const rates =
      '{"information_control_rate":1,"response_completeness_rate":1,"factual_conflict_rate":1}'
    const judge: Judge = Object.assign(
      async () => (asks++ < unreadable ? 'It went well.' : rates),
      { judgeName: 'test' },
    )
    const score = await takestwoPatient({ parity: true, judge })(good, flu)
    expect([score.total, asks]).toEqual([total, 5])
    asks = 0
    const fixed = await takestwoPatient({ judge })(good, flu)
    expect([fixed.total, asks]).toEqual([total && 1, 5])
  })

  test('are summed in the order of the release, completeness first', async () => {
    const rates = {
      information_control_rate: 0.5385,
      response_completeness_rate: 0.6235,
      factual_conflict_rate: 0.6125,
    }
    const judge: Judge = Object.assign(async () => JSON.stringify(rates), { judgeName: 'test' })
    // In the order of the names Python gives 1.774.
    expect((await takestwoPatient({ parity: true, judge })(good, flu)).total).toBe(1.775)
  })

  test.each(['1e9', '-1e9'])('a rate of %s is none', async (rate) => {
    const judge: Judge = Object.assign(async () => `{"information_control_rate": ${rate}}`, {
      judgeName: 'test',
    })
    const { total } = await takestwoPatient({ parity: true, judge })(good, flu)
    expect(total).toBeNull()
  })
})

test.each([
  [1.0625, 1.062],
  [1.1875, 1.188],
  [-1.0625, -1.062],
  [-1.1875, -1.188],
  [2.6000000000000005, 2.6],
  [3, 3],
])('%d is rounded as Python does', (value, to) => {
  expect(roundLikePython(value)).toBe(to)
})

const down: Judge = Object.assign(
  async () => {
    throw new Fault('model-unavailable', 'the judge is down')
  },
  { judgeName: 'down' },
)
const episodes = [
  good,
  episodeOf([right]),
  episodeOf([asking('fever'), invalid, order('ecg')]),
].map((episode) => ({ episode, truth: fluCase }))
const asked = episodes.filter(({ episode }) => episode.turns.length > 1)

describe.each(
  [false, true].flatMap((parity) => [
    { reward: takestwoDoctor({ parity }), material: { episodes } },
    {
      reward: takestwoPatient({ parity }),
      material: { episodes: asked, faulty: takestwoPatient({ parity, judge: down }) },
    },
  ]),
)('$reward.rewardName', ({ reward, material }) => {
  for (const check of rewardChecks(reward, material)) test(check.name, check.run)

  test('within its bounds on any episode', () => staysWithinBounds(reward))
})

test('a consultation of many turns is within the bounds of the released form', async () => {
  const long = episodeOf(
    Array.from({ length: 500 }, () => asking('fever', 'Fever?', 'Sorry? Sorry?')),
  )
  const reward = takestwoDoctor({ parity: true })
  expect((await reward(long, flu)).total).toBe(reward.bounds[0])
})
