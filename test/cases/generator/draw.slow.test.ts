import { describe, expect, test } from 'vitest'
import type { Case } from '../../../src/case.js'
import { primaryDiagnosis } from '../../../src/case.js'
import type { CaseSourceOptions } from '../../../src/cases/generator/case-id.js'
import { caseSource } from '../../../src/cases/generator/generate.js'
import { companionWeights, priorWeights } from '../../../src/inference/generative-model.js'
import { ageInYears } from '../../../src/inference/posterior.js'
import type { Knowledge } from '../../../src/knowledge/knowledge.js'
import { stateProbabilities } from '../../../src/knowledge/knowledge.js'
import { loadKnowledge } from '../../../src/knowledge/load.js'
import { tierNames, tiers } from '../../../src/knowledge/tiers.js'
import { pairedKnowledge } from '../../fixtures/family-knowledge.js'

const shipped = loadKnowledge()
const paired = pairedKnowledge()
const take = (knowledge: Knowledge, count: number, given: CaseSourceOptions = {}): Case[] =>
  Array.from({ length: count }, (_, n) => caseSource(knowledge, given)(n))
const years = ({ demographics }: Case): number => ageInYears(demographics.age) ?? -1
const whole = (truth: Case): number => Math.floor(years(truth) + 1e-9)
const within = (seen: number, n: number, p: number, what: string) =>
  expect(Math.abs(seen / n - p), what).toBeLessThan(4 * Math.sqrt((p * (1 - p)) / n) + 1e-9)

describe('who comes', () => {
  const cases = tierNames.flatMap((tier) => take(shipped, 500, { tier }))

  test('is a child one time in eight, in months below two years, and from 16 to 85 otherwise', () => {
    const all = cases.filter(({ difficulty }) => difficulty?.tier !== 'ood')
    const children = all.filter((truth) => years(truth) < 16)
    within(children.length, all.length, 0.12, 'children')
    for (const { demographics } of cases) {
      const { v, unit } = demographics.age!
      expect(Number.isInteger(v)).toBe(true)
      expect(unit).toBe(unit === 'month' ? 'month' : 'year')
      expect(unit === 'month' ? v < 24 : v >= 2 && v <= 85).toBe(true)
    }
  })

  test('has a disease that people of that age and sex have', () => {
    for (const truth of cases)
      for (const { id } of truth.gold.dx) {
        const { sex } = truth.demographics
        const d = shipped.diseases.findIndex((one) => one.id === id)
        expect(priorWeights(shipped, { age: years(truth), sex }, 'all')[d], id).toBeGreaterThan(0)
      }
  })

  test('has no finding of another age, nor an examination for it', () => {
    let kept = 0
    for (const truth of cases)
      for (const { ages, id } of shipped.findings) {
        if (!ages || (whole(truth) >= ages[0] && whole(truth) <= ages[1])) continue
        kept++
        const state = truth.findings.find((finding) => finding.id === id)?.state
        expect([undefined, 'absent'], `${id} at ${years(truth)}`).toContain(state)
        expect(truth.chiefComplaint.findings).not.toContain(id)
      }
    expect(kept).toBeGreaterThan(1000)
  })

  test('is brought by a parent or grandparent below 14, and speaks for themselves or is spoken for above', () => {
    for (const truth of cases) {
      const { speaker, relation } = truth.demographics
      if (years(truth) < 14)
        expect(['mother', 'father', 'grandmother', 'grandfather']).toContain(relation?.en)
      else if (speaker === 'caregiver') {
        expect(['daughter', 'son']).toContain(relation?.en)
        expect(years(truth)).toBeGreaterThanOrEqual(75)
      } else expect(relation).toBeUndefined()
      if (years(truth) < 14) expect(speaker).toBe('caregiver')
    }
    const seen = new Set(cases.map(({ demographics }) => demographics.speaker))
    expect(seen).toEqual(new Set(['self', 'caregiver', 'interpreter']))
  })

  test('is all but fully described by the tier: nobody differs in an easy one', () => {
    for (const { difficulty, persona, demographics } of cases)
      if (difficulty?.tier === 'easy') {
        expect(persona).toEqual({})
        expect(demographics.speaker).not.toBe('interpreter')
      }
  })
})

test('the out-of-distribution tier draws novel diseases alone, and the others none', () => {
  for (const tier of tierNames)
    for (const knowledge of [shipped, paired]) {
      const cases = take(knowledge, 300, { tier })
      for (const { gold } of cases) {
        expect(knowledge.disease.get(primaryDiagnosis(gold).id)?.novel).toBe(tier === 'ood')
        if (tier !== 'ood')
          for (const { id } of gold.differential!)
            expect(knowledge.disease.get(id)?.novel).toBe(false)
      }
      if (tier === 'ood')
        expect(
          cases.some(({ gold }) =>
            gold.differential!.some(({ id }) => !knowledge.disease.get(id)?.novel),
          ),
        ).toBe(true)
    }
})

describe('a second disease', () => {
  const all = take(paired, 5000, { tier: 'hard' })
  const both = all.filter(({ gold }) => gold.dx.length > 1)

  test('is there as often as the tier says, where one can be', () => {
    const possible = all.filter((truth) => {
      const first = paired.disease.get(primaryDiagnosis(truth.gold).id)!
      return companionWeights(paired, first, { age: years(truth) }).some((weight) => weight > 0)
    })
    // Who has two diseases has more to come with: a tenth of those drawn are a few more of those who come.
    const share = both.length / possible.length
    expect(share).toBeGreaterThan(tiers.hard.comorbidity - 0.02)
    expect(share).toBeLessThan(tiers.hard.comorbidity + 0.04)
    for (const tier of ['easy', 'standard', 'ood'] as const)
      for (const { gold } of take(paired, 200, { tier })) expect(gold.dx).toHaveLength(1)
  })

  test('is of another group, compatible, one that may accompany, and second in the gold', () => {
    for (const { gold } of [...both, ...take(shipped, 500, { tier: 'hard' })]) {
      const known = gold.dx.map(({ id }) => paired.disease.get(id) ?? shipped.disease.get(id)!)
      expect(gold.dx.map(({ role }) => role)).toEqual(
        ['primary', 'comorbid'].slice(0, known.length),
      )
      const [first, second] = known
      if (!first || !second) continue
      expect(second.group).not.toBe(first.group)
      expect(second.comorbid).toBeGreaterThan(0)
      expect([...first.incompatible, first.id]).not.toContain(second.id)
      expect([...second.incompatible, second.id]).not.toContain(first.id)
    }
    expect(new Set(both.flatMap(({ gold }) => gold.dx.slice(1).map(({ id }) => id)))).toEqual(
      new Set(['asthma', 'gastritis']),
    )
  })

  test('brings its findings: each is as frequent as the model of both says', () => {
    const a = tiers.hard.atypicality
    for (const first of paired.diseases)
      for (const second of paired.diseases) {
        const own = both.filter(
          ({ gold }) => gold.dx[0]!.id === first.id && gold.dx[1]!.id === second.id,
        )
        if (own.length < 20) continue
        // Without salience, so that being drawn again for want of a complaint selects none.
        for (const id of ['smoker', 'opacity', 'crp-raised', 'wheeze-heard']) {
          const finding = paired.finding.get(id)!
          const p =
            (1 - a) * stateProbabilities([first, second], finding)[1]! +
            a * stateProbabilities([], finding)[1]!
          const seen = own.filter(({ findings }) =>
            findings.some((f) => f.id === id && f.state === 'present'),
          )
          within(seen.length, own.length, p, `${first.id} ${second.id} ${id}`)
        }
      }
  })

  test('harms and changes nothing of the first one’s triage and actions', () => {
    for (const { gold } of both) {
      const first = paired.disease.get(primaryDiagnosis(gold).id)!
      expect(gold.triage?.level).toBe(first.triage)
      const harmful = gold.dx.flatMap(({ id }) => paired.disease.get(id)!.harmful)
      expect(new Set(gold.exams?.harmful)).toEqual(new Set(harmful))
    }
  })
})

test('findings behind a gate are as frequent as the model says, given that it is open', () => {
  const cases = take(paired, 5000, { tier: 'standard' })
  const a = tiers.standard.atypicality
  for (const disease of paired.diseases.filter(({ novel }) => !novel)) {
    const own = cases.filter(({ gold }) => primaryDiagnosis(gold).id === disease.id)
    for (const id of ['sputum', 'belly-pain-site', 'bloody-sputum']) {
      const finding = paired.finding.get(id)!
      const open = own.filter(({ findings }) =>
        findings.some((f) => f.id === finding.parent?.finding && f.state === finding.parent.when),
      )
      if (open.length < 30) continue
      for (const [s, state] of finding.states.entries()) {
        const p =
          (1 - a) * stateProbabilities([disease], finding)[s]! +
          a * stateProbabilities([], finding)[s]!
        const seen = open.filter(({ findings }) =>
          findings.some((f) => f.id === id && f.state === state),
        )
        within(seen.length, open.length, p, `${disease.id} ${id} ${state}`)
      }
    }
  }
})
