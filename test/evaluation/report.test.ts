import { describe, expect, test } from 'vitest'
import type { Agent } from '../../src/agent.js'
import { fullInformationDoctor } from '../../src/agents/at-once.js'
import { positiveChaser } from '../../src/agents/listeners.js'
import { oracle } from '../../src/agents/oracle.js'
import { random } from '../../src/agents/random.js'
import { caseSource } from '../../src/cases/generator/generate.js'
import { consultation } from '../../src/envs/consultation.js'
import { recordExams } from '../../src/envs/exams/record.js'
import { rulePatient } from '../../src/envs/patients/rule.js'
import type { Yardstick } from '../../src/evaluation/evaluate.js'
import { buildEvaluation, evaluateReferences } from '../../src/evaluation/evaluate.js'
import type { Measures } from '../../src/evaluation/play-cases.js'
import { playCases } from '../../src/evaluation/play-cases.js'
import { logProbabilityGains } from '../../src/inference/belief-trace.js'
import { getPosterior } from '../../src/inference/posterior.js'
import { knowledgeActionSpace } from '../../src/knowledge/action-space.js'
import { tiers } from '../../src/knowledge/tiers.js'
import { diagnosisAccuracy, partialCredit } from '../../src/rewards/outcome/partial-credit.js'
import { examF1 } from '../../src/rewards/process/exam-f1.js'
import { familyKnowledge } from '../fixtures/family-knowledge.js'

const knowledge = familyKnowledge()
const options = { knowledge, ...tiers.standard }
const make = caseSource(knowledge, { tier: 'standard', split: 'heldout' })
const heldOut = Array.from({ length: 60 }, (_, n) => make(n))
const measures: Measures = {
  reward: partialCredit(),
  accuracy: diagnosisAccuracy(),
  partialCredit: partialCredit(),
  examF1: examF1(),
}
const grounds = {
  heldOut,
  measures,
  makeEnv: () =>
    consultation({
      cases: heldOut,
      patient: rulePatient({ knowledge }),
      exams: [recordExams({ knowledge })],
      maxTurns: 6,
    }),
  floor: random({ actionSpace: knowledgeActionSpace(knowledge, 'en') }),
  ceiling: { name: 'oracle', agent: oracle(options) },
}
const yardstick: Yardstick = {
  bound: () => fullInformationDoctor(options),
  informationGain: (episode, truth) =>
    logProbabilityGains(knowledge, getPosterior(knowledge, tiers.standard), episode, truth),
}
const labels = { agent: 'test', tier: 'standard', lang: 'en', split: 'heldout', seed: 3 } as const

const played = (agent: Agent) =>
  playCases({ ...grounds, cases: heldOut, agent, agentName: 'test', seed: 3 })

describe('an evaluation where a knowledge base is behind the cases', async () => {
  const references = await evaluateReferences({ ...grounds, yardstick }, { seed: 3 })
  const of = async (agent: Agent) => buildEvaluation(await played(agent), { ...labels, references })
  const best = await of(grounds.ceiling.agent)
  const chaser = await of(positiveChaser(options))

  test('of the ceiling has no regret and asks with an efficiency of 1', () => {
    expect(best.regret).toEqual({ accuracy: 0, reward: 0 })
    expect(best.normalised).toEqual({ accuracy: 1, reward: 1 })
    expect(best.questionEfficiency).toEqual({ mean: 1, ci95: [1, 1] })
  })

  test('of a doctor that asks worse shows it in all of them', () => {
    expect(chaser.regret.accuracy).toBeCloseTo(
      (best.accuracy.mean ?? 0) - (chaser.accuracy.mean ?? 0),
      12,
    )
    expect(chaser.regret.accuracy).toBeGreaterThan(0.05)
    const { mean, ci95 } = chaser.questionEfficiency
    expect(mean).toBeGreaterThan(0.1)
    expect(mean).toBeLessThan(0.9)
    expect(ci95?.[0]).toBeLessThan(mean ?? 0)
    expect(ci95?.[1]).toBeGreaterThan(mean ?? 0)
  })

  test('is bounded by what everything there is to know gives', () => {
    expect(best.bound.accuracy).toBeGreaterThan(best.ceiling.accuracy ?? 1)
    expect(chaser.bound).toEqual(best.bound)
  })

  test('measures an agent against as many turns of the ceiling as it took itself', async () => {
    const once: Agent = (observation, context) =>
      observation.turns.length === 0
        ? grounds.ceiling.agent(observation, context)
        : { action: { kind: 'diagnose', diagnosis: 'no idea' } }
    expect((await of(once)).questionEfficiency.mean).toBe(1)
    const never: Agent = () => ({ action: { kind: 'diagnose', diagnosis: 'no idea' } })
    expect((await of(never)).questionEfficiency).toEqual({ mean: null, ci95: null })
  })
})

test('an evaluation without a knowledge base has a floor and a ceiling, and neither bound nor efficiency', async () => {
  const references = await evaluateReferences(grounds, { seed: 3 })
  const evaluation = buildEvaluation(await played(grounds.floor), { ...labels, references })
  expect(evaluation).toMatchObject({
    bound: { accuracy: null },
    questionEfficiency: { mean: null, ci95: null },
    normalised: { accuracy: 0, reward: 0 },
  })
  expect(evaluation.usage).toEqual({})
})
