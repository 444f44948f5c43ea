import { describe, expect, test } from 'vitest'
import { patientView } from '../../../../src/case.js'
import { generateCase } from '../../../../src/cases/generator/generate.js'
import { findingSentence } from '../../../../src/envs/patients/nlg/finding-sentences.js'
import type { AbsentPolicy } from '../../../../src/envs/patients/nlg/recall.js'
import { reportedState } from '../../../../src/envs/patients/nlg/recall.js'
import { rulePatientAtOnce } from '../../../../src/envs/patients/rule.js'
import type { FindingDefinition } from '../../../../src/knowledge/knowledge.js'
import { loadKnowledge } from '../../../../src/knowledge/load.js'
import type { Dial, Persona } from '../../../../src/persona.js'
import { dials, personas } from '../../../../src/persona.js'
import type { RevealedFinding } from '../../../../src/turn.js'
import { asking, interview, spokenView } from '../../../fixtures/spoken-case.js'
import { spokenKnowledge } from '../../../fixtures/spoken-knowledge.js'

const knowledge = spokenKnowledge()
const n = 2000
const near = (seen: number, p: number) =>
  expect(Math.abs(seen / n - p)).toBeLessThan(4 * Math.sqrt((p * (1 - p)) / n) + 1e-9)
const count = (
  of: string | FindingDefinition,
  state: string,
  more: Record<string, unknown>,
  policy?: AbsentPolicy,
  states = {},
) => {
  let seen = 0
  const finding = typeof of === 'string' ? knowledge.finding.get(of)! : of
  for (let seed = 0; seed < n; seed++)
    if (reportedState(finding, false, asking(spokenView(states, more), { seed }), policy) === state)
      seen++
  return seen
}

describe('a persona', () => {
  const states = {
    fever: 'present',
    cough: 'present',
    sputum: 'present',
    'abdominal-pain': 'present',
    'pain-site': 'upper',
  }
  const patient = rulePatientAtOnce({ knowledge })
  const questions = knowledge.findings.flatMap(({ ask }) => ask.en.slice(0, 1))
  const tact = (text: string) => `I ask everyone, it is confidential. ${text}`
  const told = (persona: Persona, seed: number): ReadonlyMap<string, string> => {
    const view = spokenView(states, { persona })
    const all = [...questions, 'Anything else?', ...questions, ...questions.map(tact)]
    const list: RevealedFinding[] = interview(patient, all, asking(view, { seed })).flatMap(
      ({ reply }) => [...reply.told],
    )
    return new Map(list.map(({ finding, state }) => [finding, state]))
  }

  test.each(Object.keys(dials).filter((dial) => dial !== 'fabricating') as Dial[])(
    'that is %s changes no state: it tells the truth, or at most that it forgot',
    (dial) => {
      for (let seed = 0; seed < 6; seed++) {
        const plain = told({}, seed)
        for (const [finding, state] of told({ [dial]: 3 }, seed))
          expect(dial === 'forgetful' && state === 'unknown' ? plain.get(finding) : state).toBe(
            plain.get(finding),
          )
      }
    },
  )

  test.each(Object.entries(personas).filter(([name]) => name !== 'fabricating'))(
    'named %s contradicts no plain one',
    (_, persona) => {
      for (let seed = 0; seed < 3; seed++) {
        const plain = told({}, seed)
        for (const [finding, state] of told(persona, seed))
          if (state !== 'unknown') expect(state).toBe(plain.get(finding))
      }
    },
  )

  test.each([
    [1, 0.1],
    [2, 0.2],
    [3, 0.35],
  ])('fabricating %d says %d of things the wrong way round, both ways', (fabricating, p) => {
    const more = { persona: { fabricating } }
    near(count('fever', 'present', more), p)
    near(count('fever', 'absent', more, undefined, { fever: 'present' }), p)
  })

  test.each([
    [1, 0.05],
    [2, 0.12],
    [3, 0.25],
  ])('forgetful %d cannot say in %d of cases, on top of the tier', (forgetful, p) => {
    const noise = { forget: 0.1, deny: 0, overReport: 0 }
    const ofOld = { ...knowledge.finding.get('fever')!, kind: 'antecedent' as const }
    near(count(ofOld, 'unknown', { persona: { forgetful } }), p)
    near(count(ofOld, 'unknown', { persona: { forgetful }, noise }), p + 0.1 - 0.1 * p)
  })

  test('forgets a date, an illness of old and a medicine, but neither what is felt nor a habit', () => {
    const fever = knowledge.finding.get('fever')!
    const more = { persona: { forgetful: 3 } }
    const forgotten = (change: Partial<FindingDefinition>) =>
      count({ ...fever, ...change }, 'unknown', more)
    expect(forgotten({})).toBe(0)
    expect(forgotten({ attribute: 'severity' })).toBe(0)
    expect(forgotten({ kind: 'social' })).toBe(0)
    near(forgotten({ attribute: 'duration' }), 0.25)
    near(forgotten({ kind: 'medication' }), 0.25)
    near(forgotten({ kind: 'family' }), 0.25)
  })

  test('does not make up or forget what the patient came in with', () => {
    const more = {
      persona: { fabricating: 3, forgetful: 3 },
      chiefComplaint: { text: { en: 'I am hot.' }, findings: ['fever'] },
    }
    expect(count('fever', 'present', more, undefined, { fever: 'present' })).toBe(n)
  })
})

describe('what the case does not record', () => {
  const states = { smoker: 'unrecorded', 'pain-site': 'unrecorded' }

  test('is unknown, denied, or drawn from the background, as the policy says', () => {
    expect(count('smoker', 'unknown', {}, 'unknown', states)).toBe(n)
    expect(count('smoker', 'absent', {}, 'deny', states)).toBe(n)
    near(count('smoker', 'present', {}, 'sample', states), 0.25)
    near(count('smoker', 'absent', {}, 'sample', states), 0.75)
  })

  test('of several values is unknown to who denies, and drawn by who samples', () => {
    expect(count('pain-site', 'unknown', {}, 'deny', states)).toBe(n)
    near(count('pain-site', 'upper', {}, 'sample', states), 0.4)
  })

  test('is told the same whenever it is asked', () => {
    const patient = rulePatientAtOnce({ knowledge, absentPolicy: 'sample' })
    for (let seed = 0; seed < 30; seed++) {
      const questions = ['Do you smoke?', 'Have you vomited?', 'Do you smoke?']
      const [first, , again] = interview(patient, questions, asking(spokenView(states), { seed }))
      expect(again!.reply.told).toEqual(first!.reply.told)
    }
  })

  test('is never known to an examination', () => {
    const patient = rulePatientAtOnce({ knowledge, absentPolicy: 'sample' })
    const view = spokenView({ 'crp-level': 'unrecorded' })
    expect(patient('What is your C-reactive protein?', asking(view)).told).toEqual([])
  })
})

test('a terse patient takes the shortest sentence, the more often the terser', () => {
  const shipped = loadKnowledge()
  const finding = shipped.finding.get('breathlessness') ?? shipped.findings[0]!
  const texts = finding.say.present!.en
  const shortest = Math.min(...texts.map((text) => text.replace(/^Yes, /, '').length))
  const shares = [0, 1, 2, 3].map(
    (terse) =>
      Array.from({ length: 500 }, (_, seed) =>
        findingSentence(
          finding,
          'present',
          asking(spokenView({}, { persona: { terse } }), { seed }),
        ),
      ).filter((text) => text?.length === shortest).length / 500,
  )
  expect(shares[3]).toBe(1)
  expect(shares[0]).toBeLessThan(0.6)
  expect(shares[1]).toBeGreaterThan(shares[0]!)
  expect(shares[2]).toBeGreaterThan(shares[1]!)
})

describe('who has denied something', () => {
  test('tells no detail of it', () => {
    const real = loadKnowledge()
    const patient = rulePatientAtOnce({ knowledge: real, persona: {} })
    for (let n = 0; n < 400; n++) {
      const truth = generateCase(real, { tier: 'hard', seed: 3, n })
      const view = patientView(truth)
      if (view.findings.get('abdominal-pain')?.state !== 'present') continue
      if (view.complaint.findings.includes('abdominal-pain')) continue
      const noise = { forget: 0, deny: 1, overReport: 0 }
      const reply = patient('Where exactly does your tummy hurt?', asking({ ...view, noise }))
      expect(reply.told).toEqual([{ finding: 'abdominal-pain', state: 'absent' }])
      return
    }
    throw new Error('Expected a patient with belly pain beside the complaint, got none')
  })
})
