import { describe, expect, test } from 'vitest'
import { Fault } from '../../src/error.js'
import { otherwise, weigh } from '../../src/rewards/combinators/compose.js'
import { namedReward, rewardNames } from '../../src/rewards/named.js'
import { rewardChecks } from '../../src/testing/reward.js'
import { ask, diagnose, episodeOf, order, present } from '../fixtures/reward-episodes.js'
import { tinyCase } from '../fixtures/tiny-case.js'

const findings = [
  { id: 'fever', kind: 'symptom', state: 'present', knownBy: 'patient', salience: 1, stigma: 0 },
  { id: 'ache', kind: 'symptom', state: 'present', knownBy: 'patient', salience: 1, stigma: 0 },
] as const
const truth = tinyCase('tiny-1', { findings: [...findings] })
const episodes = [
  [ask(present('ache')), order('blood-count'), diagnose('flu')],
  [ask(present('ache')), order('biopsy'), diagnose('gout')],
  [diagnose('influenza or gout')],
  [ask()],
].map((turns) => ({ episode: episodeOf(turns), truth }))

/** These need more of a case than this one has, or go below 0: each has a test of its own. */
const elsewhere: readonly string[] = [
  'information-gain',
  'differential-f1',
  'grave-differential-f1',
  'differential-agreement',
  'calibration',
  'triage',
  'treatment',
  'red-flag-recall',
  'escalation',
]

describe.each(rewardNames.filter((name) => !elsewhere.includes(name)))('%s', (name) => {
  const reward = namedReward(name)
  const down = () => {
    throw new Fault('model-unavailable', 'the judge is down')
  }
  const faulty = weigh({ mine: [1, otherwise(reward, 0)], judge: [1, down] })

  test('goes by its name, within [0, 1] unless it is as released', () => {
    expect([reward.rewardName, reward.parity ?? false]).toEqual([name, name.endsWith('-parity')])
    expect(reward.parity ? [0, 1] : reward.bounds).toEqual([0, 1])
  })

  for (const { name: claim, run } of rewardChecks(reward, { episodes, faulty })) test(claim, run)
})

describe('a name that does not exist is bad input', () => {
  const refused = (name: string): string => {
    try {
      namedReward(name)
    } catch (error) {
      if (Fault.is(error) && error.code === 'bad-input') return error.message
      throw error
    }
    return 'nothing'
  }

  test('that shows it and lists all there are, where none is near', () => {
    const message = refused('zzz')
    expect(message).toContain('got `zzz`')
    for (const name of rewardNames) expect(message).toContain(name)
  })

  test.each([
    ['defualt', 'default'],
    ['exam_f1', 'exam-f1'],
    ['History Coverage', 'history-coverage'],
    ['accuracy', 'diagnosis-accuracy'],
  ])('that asks for %s whether %s was meant', (given, meant) => {
    expect(refused(given)).toMatch(new RegExp(`got \`${given}\`; did you mean .*\`${meant}\``))
  })

  test('though every object has it', () => {
    expect(refused('toString')).toContain('got `toString`')
  })
})
