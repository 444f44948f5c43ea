import { describe, expect, test } from 'vitest'
import { Fault } from '../../src/error.js'
import { otherwise, weigh } from '../../src/rewards/compose.js'
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

/** What it can judge are cases of a knowledge base: `information-gain.test.ts`. */
const elsewhere: readonly string[] = ['information-gain']

describe.each(rewardNames.filter((name) => !elsewhere.includes(name)))('%s', (name) => {
  const reward = namedReward(name)
  const down = () => {
    throw new Fault('model-unavailable', 'the judge is down')
  }
  const faulty = weigh({ mine: [1, otherwise(reward, 0)], judge: [1, down] })

  test('goes by its name, within [0, 1]', () => {
    expect([reward.rewardName, reward.bounds]).toEqual([name, [0, 1]])
  })

  for (const { name: claim, run } of rewardChecks(reward, { episodes, faulty })) test(claim, run)
})

test('an unknown name is bad input that lists what there is', () => {
  expect(() => namedReward('best')).toThrow(
    new Fault(
      'bad-input',
      'Expected a reward of default, diagnosis-accuracy, partial-credit, exam-f1, history-coverage, communication, information-gain, verified-answer, doctor-agent-ppo, doctor-agent-grpo, got `best`',
    ),
  )
  expect(() => namedReward('toString')).toThrow(Fault)
})
