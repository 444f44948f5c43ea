import { describe, expect, test } from 'vitest'
import { type Case, primaryDiagnosis } from '../../../src/case.js'
import type { CaseSourceOptions } from '../../../src/cases/generator/case-id.js'
import { parseCaseId } from '../../../src/cases/generator/case-id.js'
import { caseSource, generateCase } from '../../../src/cases/generator/generate.js'
import { ageInYears } from '../../../src/inference/posterior.js'
import type { Knowledge } from '../../../src/knowledge/knowledge.js'
import {
  backgroundFor,
  clinic,
  expandPanel,
  stateProbabilities,
} from '../../../src/knowledge/knowledge.js'
import { loadKnowledge } from '../../../src/knowledge/load.js'
import { tiers } from '../../../src/knowledge/tiers.js'
import { caseSchema } from '../../../src/storage/case-schema.js'
import { standaloneSentences, toThirdPerson } from '../../../src/text/third-person.js'
import { familyKnowledge, widerKnowledge } from '../../fixtures/family-knowledge.js'
import { fc } from '../../fixtures/property.js'

const small = familyKnowledge()
const shipped = loadKnowledge()
const names = ['easy', 'standard', 'hard'] as const
const options = fc.record({
  tier: fc.constantFrom(...names),
  split: fc.constantFrom('train' as const, 'heldout' as const),
  seed: fc.nat(),
  n: fc.nat(),
})
const stateOf = (truth: Case, id: string): string | undefined =>
  truth.findings.find((finding) => finding.id === id)?.state

const take = (knowledge: Knowledge, count: number, given: CaseSourceOptions = {}): Case[] =>
  Array.from({ length: count }, (_, n) => caseSource(knowledge, given)(n))

describe('a generated case', () => {
  test('is a case of the schema, with every default written out', () => {
    for (const knowledge of [small, shipped])
      fc.assert(
        fc.property(options, (given) => {
          const truth = generateCase(knowledge, given)
          expect(caseSchema.parse(truth)).toEqual(truth)
        }),
        { numRuns: 60 },
      )
  })

  test('has the same bytes for the same options, and others for another seed or number', () => {
    fc.assert(
      fc.property(options, (given) => {
        const bytes = JSON.stringify(generateCase(shipped, given))
        expect(JSON.stringify(generateCase(shipped, given))).toBe(bytes)
        expect(caseSource(shipped, given)(given.n)).toEqual(JSON.parse(bytes))
        expect(JSON.stringify(generateCase(shipped, { ...given, n: given.n + 1 }))).not.toBe(bytes)
        expect(JSON.stringify(generateCase(shipped, { ...given, seed: given.seed + 1 }))).not.toBe(
          bytes,
        )
      }),
      { numRuns: 30 },
    )
  })

  test('can be made again from its id', () => {
    fc.assert(
      fc.property(options, (given) => {
        const { id } = generateCase(small, given)
        expect(parseCaseId(id)).toEqual(given)
      }),
    )
    const part = clinic(loadKnowledge(), ['headache', 'bowel'])
    const { id } = generateCase(part, { n: 3 })
    expect(id).toBe('easy-train-0-3@bowel+headache')
    expect(parseCaseId(id)).toMatchObject({ n: 3, clinic: ['bowel', 'headache'] })
    for (const id of ['', 'easy-train-0', 'tiny-train-0-1', 'easy-train-0-1x', 'easy-train--1-1'])
      expect(parseCaseId(id)).toBeUndefined()
  })

  test('has an even seed in train and an odd one in heldout, so that splits share none', () => {
    for (const truth of take(small, 200)) expect((truth.seed ?? -1) % 2).toBe(0)
    for (const truth of take(small, 200, { split: 'heldout' }))
      expect((truth.seed ?? -1) % 2).toBe(1)
  })

  test('lists a child only behind an open gate: absent if boolean, not at all if categorical', () => {
    let [open, shut] = [0, 0]
    for (const truth of take(small, 500, { tier: 'hard' })) {
      const coughs = stateOf(truth, 'cough') === 'present'
      if (coughs) open++
      else shut++
      expect(stateOf(truth, 'sputum') !== undefined).toBe(coughs)
      if (!coughs) expect(stateOf(truth, 'bloody-sputum')).toBe('absent')
      if (stateOf(truth, 'sputum') !== 'green') expect(stateOf(truth, 'foul-sputum')).toBe('absent')
    }
    expect(Math.min(open, shut)).toBeGreaterThan(50)
  })

  test('complains of a present finding with salience and no parent, in a sentence of it', () => {
    for (const truth of take(shipped, 300, { tier: 'hard' })) {
      const [id, ...more] = truth.chiefComplaint.findings
      const finding = shipped.finding.get(id ?? '')
      expect(more).toEqual([])
      expect(finding?.knownBy).toBe('patient')
      expect(finding?.parent).toBeUndefined()
      expect(finding?.salience).toBeGreaterThan(0)
      expect(stateOf(truth, id ?? '')).toBe('present')
      const { zh, en } = truth.chiefComplaint.text
      const sentences = (lang: 'zh' | 'en') =>
        standaloneSentences(finding?.say.present?.[lang] ?? [])
      if (truth.demographics.speaker === 'caregiver') {
        const pronoun = truth.demographics.sex === 'F' ? 'she' : 'he'
        const spoken = sentences('en').map((text) => toThirdPerson(text, 'en', pronoun))
        expect(spoken.some((text) => en?.endsWith(` ${text}`))).toBe(true)
        expect(zh).toMatch(/^医生，我(带|陪)/)
      } else {
        expect(sentences('zh')).toContain(zh)
        expect(sentences('en')).toContain(en)
      }
    }
  })

  test('opens with a statement, not with a reply, where there is one', () => {
    for (const truth of take(small, 100)) {
      expect(truth.chiefComplaint.text.en).not.toMatch(/^yes/i)
      expect(truth.chiefComplaint.text.zh).not.toMatch(/^是的/)
    }
  })

  test('has values within the range of their state, and says them in the report', () => {
    const { measure } = small.finding.get('white-cells')!
    for (const truth of take(small, 200)) {
      const cells = truth.findings.find((finding) => finding.id === 'white-cells')
      const [low, high] = measure!.ranges[cells!.state]!
      expect(cells?.value).toBeGreaterThanOrEqual(low)
      expect(cells?.value).toBeLessThanOrEqual(high)
      const result = truth.exams.find(({ exam }) => exam === 'blood-count')
      expect(result?.report.en).toBe(`White cell count ${cells?.value} x10^9/L.`)
      expect(result?.abnormal).toBe(cells?.state === 'high')
    }
  })

  test('has one result for each examination that is no panel, unavailable at its own rate', () => {
    const cases = take(small, 2000)
    const singles = small.exams.filter((exam) => exam.panelOf.length === 0).map((exam) => exam.id)
    for (const truth of cases) expect(truth.exams.map(({ exam }) => exam)).toEqual(singles)
    const missing = cases.flatMap(({ exams }) => exams.filter((result) => result.unavailable))
    expect(new Set(missing.map(({ exam }) => exam))).toEqual(new Set(['ultrasound']))
    expect(missing.every(({ findings }) => findings.length === 0)).toBe(true)
    expect(Math.abs(missing.length / 2000 - 0.1)).toBeLessThan(4 * Math.sqrt(0.09 / 2000))
  })
})

describe('adding a finding to the knowledge base', () => {
  test('moves no draw of another: age, sex, disease, states, values and availability', () => {
    const wider = widerKnowledge()
    let kept = 0
    for (let n = 0; n < 300; n++) {
      const before = generateCase(small, { tier: 'hard', n })
      const after = generateCase(wider, { tier: 'hard', n })
      // A patient who now has something to complain of is no longer drawn again.
      if (after.chiefComplaint.findings[0] === 'dizzy') continue
      kept++
      expect(after.demographics).toEqual(before.demographics)
      expect(primaryDiagnosis(after.gold).id).toBe(primaryDiagnosis(before.gold).id)
      expect(after.findings.filter(({ id }) => id !== 'dizzy')).toEqual(before.findings)
      expect(after.exams).toEqual(before.exams)
      expect(after.chiefComplaint).toEqual(before.chiefComplaint)
    }
    expect(kept).toBeGreaterThan(150)
  })
})

describe('over many cases', () => {
  test.each(names)('%s findings occur as often as the model says', (tier) => {
    const cases = take(small, 6000, { tier })
    const a = tiers[tier].atypicality
    for (const disease of small.diseases) {
      const own = cases.filter((truth) => primaryDiagnosis(truth.gold).id === disease.id)
      // A finding without salience cannot be why a patient was drawn again, so its rate is the model's.
      for (const id of ['smoker', 'opacity', 'crp-raised', 'gallstones']) {
        const finding = small.finding.get(id)!
        const chances = own.map(({ demographics: { age, sex } }) => {
          const leak = backgroundFor(finding, { age: ageInYears(age), sex })
          const background = stateProbabilities([], finding, leak)[1]!
          return (1 - a) * stateProbabilities([disease], finding, leak)[1]! + a * background
        })
        const p = chances.reduce((sum, chance) => sum + chance, 0) / own.length
        const seen = own.filter((truth) => stateOf(truth, id) === 'present').length / own.length
        expect(Math.abs(seen - p), `${disease.id} ${id}`).toBeLessThan(
          4 * Math.sqrt((p * (1 - p)) / own.length) + 1e-9,
        )
      }
    }
  })

  test('the complaint is chosen in proportion to salience', () => {
    let [cough, breathless] = [0, 0]
    for (const truth of take(small, 6000)) {
      const present = truth.findings.filter(
        ({ state, salience, knownBy, id }) =>
          state === 'present' &&
          salience > 0 &&
          knownBy === 'patient' &&
          !small.finding.get(id)?.parent,
      )
      if (present.map(({ id }) => id).join() !== 'cough,breathless') continue
      if (truth.chiefComplaint.findings[0] === 'cough') cough++
      else breathless++
    }
    const n = cough + breathless
    const p = 0.9 / (0.9 + 0.8)
    expect(n).toBeGreaterThan(200)
    expect(Math.abs(cough / n - p)).toBeLessThan(4 * Math.sqrt((p * (1 - p)) / n))
  })
})

describe('the gold', () => {
  const cases = take(small, 400, { tier: 'hard' })

  test('pays half for other diseases of the same group only', () => {
    const paid = cases.flatMap(({ gold }) => gold.acceptable.map((other) => ({ gold, other })))
    expect(paid.length).toBeGreaterThan(20)
    for (const { gold, other } of paid) {
      expect(other.credit).toBe(0.5)
      expect(other.id).not.toBe(primaryDiagnosis(gold).id)
      expect(small.disease.get(other.id)?.group).toBe(
        small.disease.get(primaryDiagnosis(gold).id)?.group,
      )
      expect(gold.differential?.find(({ id }) => id === other.id)?.p).toBeGreaterThanOrEqual(0.05)
    }
  })

  test('requires at most three examinations, none harmful, unavailable, twice or beyond the budget', () => {
    expect(cases.some(({ gold }) => gold.exams!.required.length > 0)).toBe(true)
    for (const { gold, exams } of cases) {
      const { required, neutral, harmful } = gold.exams!
      const missing = exams.filter((result) => result.unavailable).map(({ exam }) => exam)
      expect(required.length).toBeLessThanOrEqual(3)
      expect(new Set([...required, ...neutral, ...harmful]).size).toBe(
        required.length + neutral.length + harmful.length,
      )
      for (const exam of missing) expect(required).not.toContain(exam)
    }
    for (const { gold } of take(shipped, 500, { tier: 'hard' })) {
      const costs = gold.exams!.required.map((id) => shipped.exam.get(id)?.cost ?? 0)
      expect(costs.reduce((sum, cost) => sum + cost, 0)).toBeLessThanOrEqual(tiers.hard.money)
    }
  })

  test('requires what the authored work-up requires, where it can be done and paid for', () => {
    let required = 0
    for (const { gold, exams } of take(shipped, 300, { tier: 'hard' })) {
      const { workup, harmful } = shipped.disease.get(primaryDiagnosis(gold).id)!
      const singles = (ids: readonly string[]) =>
        ids.flatMap((id) => expandPanel(shipped.exam.get(id)!))
      const missing = exams.filter((result) => result.unavailable).map(({ exam }) => exam)
      for (const exam of gold.exams!.required) {
        expect(singles(workup!.required)).toContain(exam)
        expect([...missing, ...harmful]).not.toContain(exam)
        required++
      }
      const listed = [...gold.exams!.required, ...gold.exams!.neutral, ...gold.exams!.harmful]
      for (const exam of singles(workup!.useful)) expect(listed).toContain(exam)
    }
    expect(required).toBeGreaterThan(300)
  })

  test('calls the film of a stomach patient harmful and never asks for it', () => {
    const stomach = cases.filter(({ gold }) => primaryDiagnosis(gold).id === 'gastritis')
    expect(stomach.length).toBeGreaterThan(20)
    for (const { gold } of stomach) expect(gold.exams?.harmful).toEqual(['chest-x-ray'])
  })

  test('demands to ask after a red flag exactly where the patient has it', () => {
    for (const truth of cases)
      for (const { finding, mustAsk } of truth.gold.redFlags)
        expect(mustAsk).toBe(stateOf(truth, finding) === 'present')
  })

  test('weighs what is present or telling, at most 3, and nothing behind a closed gate', () => {
    for (const truth of cases)
      for (const { id, weight, state } of truth.findings) {
        if (state === 'present') expect(weight, id).toBeDefined()
        if (weight !== undefined) expect(weight).toBeLessThanOrEqual(3)
        const parent = small.finding.get(id)?.parent
        if (parent && stateOf(truth, parent.finding) !== parent.when)
          expect(weight, id).toBeUndefined()
      }
  })
})

describe('a wrong request', () => {
  test('throws with the value received', () => {
    expect(() => generateCase(small, { n: -1 })).toThrow('Expected `n` to be an integer')
    expect(() => generateCase(small, { seed: 0.5 })).toThrow('got `0.5`')
  })

  test('is refused when nobody of the knowledge base could have a complaint', () => {
    const mute: Knowledge = {
      ...small,
      findings: small.findings.map((finding) => ({ ...finding, salience: 0 })),
      diseases: small.diseases.map((disease) => ({ ...disease, complaints: {} })),
    }
    expect(() => generateCase(mute)).toThrow('Expected a patient with a complaint within 50 draws')
  })
})

test('a finding of one sex is never there in the other, and its examinations cannot be done', () => {
  const knowledge = loadKnowledge()
  const ofWomen = knowledge.findings.filter(({ sex }) => sex === 'F').map(({ id }) => id)
  expect(ofWomen.length).toBeGreaterThan(3)
  const make = caseSource(knowledge, { tier: 'hard' })
  let men = 0
  for (let n = 0; n < 400; n++) {
    const truth = make(n)
    if (truth.demographics.sex !== 'M') continue
    men += 1
    const there = truth.findings.filter(
      ({ id, state }) => ofWomen.includes(id) && state !== 'absent',
    )
    expect(there).toEqual([])
    expect(truth.exams.find(({ exam }) => exam === 'pelvic-examination')?.unavailable).toBe(true)
  }
  expect(men).toBeGreaterThan(100)
})
