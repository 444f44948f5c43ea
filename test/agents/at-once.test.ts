import { describe, expect, test } from 'vitest'
import type { PrivilegedAgent } from '../../src/agent.js'
import { complaintOnly, fullInformationDoctor, prior } from '../../src/agents/at-once.js'
import { oracle } from '../../src/agents/oracle.js'
import type { Case } from '../../src/case.js'
import { doctorView, primaryDiagnosis } from '../../src/case.js'
import { caseSource } from '../../src/cases/generator/generate.js'
import { priorWeights } from '../../src/inference/generative-model.js'
import {
  fullInformationBelief,
  getPosterior,
  mostProbableDisease,
} from '../../src/inference/posterior.js'
import { tiers } from '../../src/knowledge/tiers.js'
import { consult, seen } from '../fixtures/consulting.js'
import { familyKnowledge } from '../fixtures/family-knowledge.js'

const knowledge = familyKnowledge()
const options = { knowledge, ...tiers.standard }
const playing = { knowledge, tier: 'standard', count: 200 } as const
const make = caseSource(knowledge, { tier: 'standard', split: 'heldout' })
const cases = Array.from({ length: 200 }, (_, n) => make(n))

describe('the doctor that knows what is common', () => {
  test('names the disease of most weight at that age and sex, whatever is complained of', async () => {
    for (const age of [5, 30, 80]) {
      const { intake } = seen([])
      const old = { ...intake.demographics, age: { v: age, unit: 'year' as const } }
      const observation = seen([], { intake: { ...intake, demographics: old } })
      const weights = priorWeights(knowledge, { age, sex: 'F' })
      const common = knowledge.diseases[weights.indexOf(Math.max(...weights))]!.name.en
      const { action } = await prior(options)(observation, { seed: 0 })
      expect(action).toMatchObject({ kind: 'diagnose', diagnosis: common })
    }
  })

  test('is right less often than the one that hears the complaint, who is right less often than one that asks', async () => {
    const common = await consult(prior(options), playing)
    const heard = await consult(complaintOnly(options), playing)
    const asked = await consult(oracle(options), playing)
    expect(heard.accuracy).toBeGreaterThan(common.accuracy + 0.05)
    expect(asked.accuracy).toBeGreaterThan(heard.accuracy + 0.1)
    for (const { turns } of [...common.episodes, ...heard.episodes]) expect(turns).toHaveLength(1)
  })
})

describe('the doctor that is given every finding', () => {
  const rightly = async (agent: PrivilegedAgent, truth: Case) => {
    const { action } = await agent.forCase(truth)(seen([], { intake: doctorView(truth) }), {
      seed: 0,
    })
    return action.kind === 'diagnose' && action.diagnosis === primaryDiagnosis(truth.gold).name.en
  }

  test('names what is most probable given all findings, and is right more often than the oracle', async () => {
    const agent = fullInformationDoctor(options)
    const posterior = getPosterior(knowledge, tiers.standard)
    let right = 0
    for (const truth of cases) {
      const known = mostProbableDisease(knowledge, fullInformationBelief(posterior, truth))
      expect(await rightly(agent, truth)).toBe(known.id === primaryDiagnosis(truth.gold).id)
      if (known.id === primaryDiagnosis(truth.gold).id) right++
    }
    const asked = await consult(oracle(options), playing)
    expect(right / cases.length).toBeGreaterThan(asked.accuracy)
  })

  test('knows less by what patients can tell, or by what examinations show', async () => {
    const accuracy = async (knownBy?: 'patient' | 'exam') => {
      const agent = fullInformationDoctor({ ...options, ...(knownBy ? { knownBy } : {}) })
      const right = await Promise.all(cases.map((truth) => rightly(agent, truth)))
      return right.filter(Boolean).length
    }
    const all = await accuracy()
    expect(await accuracy('patient')).toBeLessThan(all)
    expect(await accuracy('exam')).toBeLessThan(all)
  })

  test('depends on the values of case and observation alone: copies and twins of one intake included', async () => {
    const clear = (id: string) =>
      cases.find(
        ({ gold, difficulty }) =>
          primaryDiagnosis(gold).id === id && (difficulty?.bayesCeiling ?? 0) > 0.9,
      ) as Case // there is one of each among them
    const [one, other] = [clear('pneumonia'), clear('gastritis')]
    const twin: Case = {
      ...other,
      demographics: structuredClone(one.demographics),
      chiefComplaint: one.chiefComplaint,
    }
    const agent = fullInformationDoctor(options)
    const named = async (truth: Case, seenOf = truth) => {
      const observation = structuredClone(seen([], { intake: doctorView(seenOf) }))
      const { action } = await agent.forCase(truth)(observation, { seed: 0 })
      return action.kind === 'diagnose' ? action.diagnosis : undefined
    }
    expect(await named(one)).toBeDefined()
    expect(await named(one)).not.toBe(await named(twin))
    expect(await named(structuredClone(one), twin)).toBe(await named(one))
  })
})
