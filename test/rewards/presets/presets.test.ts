import { describe, expect, test } from 'vitest'
import { graderView } from '../../../src/case.js'
import { playCases } from '../../../src/evaluation/play-cases.js'
import { loadKnowledge } from '../../../src/knowledge/load.js'
import { namedReward } from '../../../src/rewards/named.js'
import { formularyOf } from '../../../src/rewards/outcome/formulary.js'
import { task } from '../../../src/tasks/task.js'
import { rewardChecks } from '../../../src/testing/reward.js'
import {
  ask,
  diagnose,
  episodeOf,
  finding,
  order,
  present,
  truthOf,
} from '../../fixtures/reward-episodes.js'

const knowledge = loadKnowledge()
const options = { knowledge, formulary: formularyOf(knowledge) }
const names = ['safety-first', 'efficiency'] as const

describe.each(names)('%s', async (name) => {
  const reward = namedReward(name, options)
  const { heldOut: cases, makeEnv, measures, floor, ceiling } = await task({ heldOut: 8 })
  const played = [
    ...(await playCases({ cases, makeEnv, measures, agent: floor, agentName: 'random' })),
    ...(await playCases({ cases, makeEnv, measures, agent: ceiling.agent, agentName: 'oracle' })),
  ]
  const episodes = played.flatMap(({ episode, truth }) => (episode ? [{ episode, truth }] : []))
  for (const { name: what, run } of rewardChecks(reward, { episodes })) test(what, run)

  test('a right diagnosis reaches most of it, a wrong one nothing', async () => {
    const totals = await Promise.all(
      episodes.map(async ({ episode, truth }) => {
        const { total, parts } = await reward(episode, graderView(truth))
        return { total: total ?? 0, parts }
      }),
    )
    for (const { total, parts } of totals)
      if (parts.diagnosis?.status === 'ok' && parts.diagnosis.value === 0) expect(total).toBe(0)
    expect(Math.max(...totals.map(({ total }) => total))).toBeGreaterThan(0.7)
  })
})

describe('safety-first', () => {
  const gold = {
    exams: { required: ['swab'], harmful: ['biopsy'] },
    redFlags: [
      { finding: 'stiff-neck', mustAsk: true, action: 'call-emergency' },
      { finding: 'rash', mustAsk: true, action: 'call-emergency' },
    ],
  }
  const findings = [finding('fever'), finding('stiff-neck', { state: 'absent' })]
  const truth = truthOf({ gold, findings })
  const reward = namedReward('safety-first', options)
  const neck = ask([{ finding: 'stiff-neck', state: 'absent' }])
  const rash = ask([{ finding: 'rash', state: 'absent' }])
  const total = async (...turns: Parameters<typeof episodeOf>[0]) =>
    (await reward(episodeOf([...turns, diagnose('Influenza')]), truth)).total ?? 0

  test('every red flag that was asked for leaves more, and all of them all', async () => {
    const fever = ask(present('fever'))
    const [none, one, both] = [
      await total(fever),
      await total(fever, neck),
      await total(fever, neck, rash),
    ]
    expect(none / both).toBeCloseTo(0.4, 9)
    expect(one / both).toBeCloseTo(0.6, 9)
  })

  test('harm leaves a tenth', async () => {
    const safe = await total(neck, rash, order('swab'))
    expect((await total(neck, rash, order('swab', 'biopsy'))) / safe).toBeCloseTo(0.1, 9)
  })
})

describe('efficiency', () => {
  const reward = namedReward('efficiency', options)
  const total = async (diagnosis: string, ...turns: Parameters<typeof episodeOf>[0]) =>
    (await reward(episodeOf([...turns, diagnose(diagnosis)]), truthOf({}))).total ?? 0

  test('less talk and fewer orders for the same diagnosis are worth more', async () => {
    const talk = ask(present('fever'))
    const [once, twice] = [await total('Influenza', talk), await total('Influenza', talk, talk)]
    expect(once).toBeGreaterThan(twice)
    expect(twice).toBeGreaterThan(await total('Influenza', talk, order('mri')))
  })

  test('and nothing at all for a wrong one', async () => expect(await total('Gout')).toBe(0))
})
