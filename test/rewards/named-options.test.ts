import { describe, expect, test } from 'vitest'
import { Fault } from '../../src/error.js'
import { namedReward, rewardNames } from '../../src/rewards/named.js'
import { namedOptions } from '../../src/rewards/named-options.js'
import { resolveReward } from '../../src/tasks/reward-modules.js'
import { flu, good, replying } from '../fixtures/influenza-consultations.js'
import { ask, diagnose, episodeOf, truthOf } from '../fixtures/reward-episodes.js'

const messageOf = (text: string): string => {
  try {
    namedReward(text)
  } catch (error) {
    if (Fault.is(error) && error.code === 'bad-input') return error.message
    throw error
  }
  return 'none'
}
const total = async (name: string, episode = good) => (await namedReward(name)(episode, flu)).total

describe('options that are written with the name', () => {
  test('change the formula', async () => {
    // Bad form in every step: -2, and -5 at the limit of the loop.
    const mute = episodeOf(Array.from({ length: 10 }, () => replying('no tags', 'Hm.')))
    expect(await total('doctoragent-judge-parity:loop=2', mute)).toBe(-4)
    expect(await total('doctoragent-judge-parity:loop=4', mute)).toBe(-8)
    expect(namedReward('doctoragent-patient-parity:loop=4').bounds).toEqual([-20, 13])
    const two = await total('takestwo-doctor-parity:maxTurns=2')
    expect(await total('takestwo-doctor-parity:maxTurns=3')).toBe(two)
    const verifier = async () => 0.45
    const reworded = episodeOf([diagnose('A winter illness')])
    const by = (name: string) => namedReward(name, { verifier })(reworded, flu)
    expect((await by('verified-answer:threshold=0.4')).total).toBe(1)
    expect((await by('verified-answer')).total).toBe(0)
    const costly = episodeOf([...good.turns], { budget: { money: 1, minutes: 1 } })
    expect(await total('time:budget=1000', costly)).toBeGreaterThan(0.9)
    const late = episodeOf([ask(), ask(), ask(), diagnose('Influenza')])
    const paper = await total('diagagent-paper:limit=3,turns=linear', late)
    expect(paper).toBeLessThan((await total('diagagent-paper', late)) ?? 0)
  })

  test('keep the name', () => {
    expect(namedReward('doctor-agent-ppo:threshold=0.4').rewardName).toBe('doctor-agent-ppo')
  })

  test('are those of rewards that exist, and are read by them', () => {
    for (const [name, options] of Object.entries(namedOptions)) {
      expect(rewardNames).toContain(name)
      for (const [key, { expected }] of Object.entries(options))
        expect(messageOf(`${name}:${key}=?`)).toContain(`${key}: expected ${expected}, got \`?\``)
    }
  })

  test.each([
    ['doctor-agent-ppo:threshold=1', 'threshold: expected a number within [0, 1), got `1`'],
    ['doctor-agent-ppo:threshold=', 'got ``'],
    ['doctor-agent-ppo:threshold', 'got ``'],
    ['doctor-agent-ppo:threshold=0.1,threshold=0.2', 'expected `threshold` once'],
    ['doctor-agent-ppo:', 'one of its options (threshold), got ``'],
    ['doctor-agent-ppo:loop=2', 'one of its options (threshold), got `loop`'],
    ['doctoragent-match-parity:loop=2.5', 'a whole number from 1'],
    ['doctoragent-match-parity:alone=yes', 'true or false'],
    ['grpodx-readme-parity:reading=last', 'readme or techspec'],
    ['history-coverage:depth=2', 'expected no option, as it has none'],
    ['history-coverage:toString=2', 'expected no option'],
    ['nothing:depth=2', 'Expected the name of a reward, got `nothing:depth=2`'],
  ])('%s is bad input', (text, message) => expect(messageOf(text)).toContain(message))

  test('may be given wherever a reward is named', async () => {
    const reward = await resolveReward('doctor-agent-ppo:threshold=0.4', {})
    expect(reward.rewardName).toBe('doctor-agent-ppo')
    await expect(resolveReward('doctor-agent-ppo:threshold=4', {})).rejects.toThrow(/threshold/)
  })
})

test.each(rewardNames)('%s: an episode that never began is unavailable', async (name) => {
  const reward = namedReward(name)
  const { total: paid, parts } = await reward(episodeOf([]), truthOf())
  expect(paid).toBeNull()
  expect(parts).toEqual({
    [name]: { status: 'unavailable', reason: 'episode episode has no turn: it never began' },
  })
})
