import { describe, expect, test } from 'vitest'
import type { Case } from '../../../src/case.js'
import { primaryDiagnosis } from '../../../src/case.js'
import { caseSource, generateCase, twin } from '../../../src/cases/generator/generate.js'
import { clinic, parentOf } from '../../../src/knowledge/knowledge.js'
import { loadKnowledge } from '../../../src/knowledge/load.js'
import { familyKnowledge, pairedKnowledge } from '../../fixtures/family-knowledge.js'

const small = familyKnowledge()
const paired = pairedKnowledge()
const take = (count: number, tier: 'easy' | 'hard' = 'hard', knowledge = small): Case[] =>
  Array.from({ length: count }, (_, n) => caseSource(knowledge, { tier })(n))
const stateOf = (truth: Case, id: string) => truth.findings.find((one) => one.id === id)?.state

/** A case without what names it. */
const nameless = (truth: Case) => ({
  ...truth,
  id: '',
  provenance: { ...truth.provenance, canary: '' },
})

test('a twin with nothing new is the same bytes but for the id', () => {
  for (const truth of take(100)) {
    const { id } = primaryDiagnosis(truth.gold)
    const same = twin(small, truth, { disease: id })
    expect(same.id).toBe(`${truth.id}~disease=${id}`)
    expect(JSON.stringify(nameless(same))).toBe(JSON.stringify(nameless(truth)))
    expect(twin(small, truth, {})).toEqual(truth)
  }
})

test('a twin of a twin has both changes, and can be made again', () => {
  const [truth] = take(1) as [Case]
  const other = twin(small, twin(small, truth, { age: 40 }), { findings: { fever: 'present' } })
  expect(other.id).toBe(`${truth.id}~age=40,fever=present`)
  expect(twin(small, truth, { age: 40, findings: { fever: 'present' } })).toEqual(other)
  const again = twin(small, other, { findings: { smoker: 'absent' } })
  expect(again.id).toBe(`${truth.id}~age=40,fever=present,smoker=absent`)
})

test('one other finding changes that family alone, the complaint it was or becomes, and the gold', () => {
  let changed = 0
  for (const truth of take(200)) {
    const state = stateOf(truth, 'cough') === 'present' ? 'absent' : 'present'
    const alone = truth.chiefComplaint.findings[0] === 'cough' && state === 'absent'
    const others = truth.findings.some(
      ({ id, state, salience }) =>
        id !== 'cough' && state === 'present' && salience > 0 && !small.finding.get(id)?.parent,
    )
    if (alone && !others) continue
    const other = twin(small, truth, { findings: { cough: state } })
    changed++
    expect(stateOf(other, 'cough')).toBe(state)
    const family = ['cough', 'sputum', 'bloody-sputum', 'foul-sputum']
    const rest = (one: Case) => one.findings.filter(({ id }) => !family.includes(id))
    expect(rest(other)).toEqual(rest(truth))
    const [before] = truth.chiefComplaint.findings
    if (before !== 'cough' && other.chiefComplaint.findings[0] !== 'cough')
      expect(other.chiefComplaint).toEqual(truth.chiefComplaint)
    for (const key of ['demographics', 'exams', 'noise', 'persona', 'seed', 'examDefault'] as const)
      expect(other[key]).toEqual(truth[key])
    expect(other.gold.dx).toEqual(truth.gold.dx)
    expect(other.gold.actions).toEqual(truth.gold.actions)
  }
  expect(changed).toBeGreaterThan(100)
})

test('another disease changes only what either lists', () => {
  const ids = small.diseases.map(({ id }) => id)
  for (const [n, truth] of take(120).entries()) {
    const disease = ids[n % ids.length]!
    let other: Case
    try {
      other = twin(small, truth, { disease })
    } catch {
      continue // nothing to complain of
    }
    expect(primaryDiagnosis(other.gold).id).toBe(disease)
    const listed = [primaryDiagnosis(truth.gold).id, disease].flatMap((id) =>
      Object.keys(small.disease.get(id)!.findings),
    )
    const under = (id: string): boolean => {
      const above = parentOf(small.finding.get(id)!)
      return listed.includes(id) || (above !== undefined && under(above))
    }
    for (const { id, state } of truth.findings)
      if (!under(id)) expect(stateOf(other, id), id).toBe(state)
    expect(other.demographics).toEqual(truth.demographics)
    expect(other.persona).toEqual(truth.persona)
  }
})

test('a second disease can be added and taken away', () => {
  const truth = generateCase(paired, { tier: 'easy', n: 1 })
  const belly = twin(paired, truth, { disease: 'appendicitis', companion: 'asthma' })
  expect(belly.gold.dx.map(({ id, role }) => `${id} ${role}`)).toEqual([
    'appendicitis primary',
    'asthma comorbid',
  ])
  const without = twin(paired, belly, { companion: null })
  expect(nameless(without)).toEqual(nameless(twin(paired, truth, { disease: 'appendicitis' })))
})

describe('a twin that cannot be', () => {
  const truth = generateCase(paired, { n: 0 })
  test.each([
    [{ disease: 'plague' }, /Expected a disease of the knowledge base, got `plague`/],
    [{ companion: 'plague' }, /got `plague`/],
    [{ findings: { plague: 'present' } }, /a finding of the knowledge base, got `plague=present`/],
    [{ findings: { fever: 'high' } }, /fever \(absent, present\), got `fever=high`/],
    [{ age: -1 }, /Expected an age from 0 to 130 years, got `-1`/],
    [{ age: Number.NaN }, /got `NaN`/],
    [{ disease: 'asthma', companion: 'asthma' }, /got none for/],
    [{ disease: 'pneumonia', companion: 'asthma' }, /got none for/],
    [{ disease: 'cholecystitis', companion: 'asthma' }, /got none for/],
    [{ disease: 'asthma', companion: 'appendicitis' }, /got none for/],
    [{ findings: { cough: 'absent', sputum: 'green' } }, /got none for/],
  ] as const)('%o is refused', (change, message) => {
    expect(() => twin(paired, truth, change)).toThrow(RangeError)
    expect(() => twin(paired, truth, change)).toThrow(message)
  })

  test('is one of a case that was not generated', () => {
    expect(() => twin(paired, { ...truth, id: 'tiny-1' }, {})).toThrow('got `tiny-1`')
  })

  test('is one who complains of nothing', () => {
    const findings = Object.fromEntries(
      small.findings
        .filter(({ type, parent, salience }) => type === 'bool' && !parent && salience > 0)
        .map(({ id }) => [id, 'absent']),
    )
    expect(() => twin(small, take(1)[0]!, { findings })).toThrow('who complains of something')
  })
})

test('a twin in a clinic is made from that part of the knowledge base, whichever is given', () => {
  const shipped = loadKnowledge()
  const part = clinic(shipped, [...shipped.groups.keys()].slice(0, 2))
  const truth = generateCase(part, { n: 4 })
  expect(twin(shipped, truth, { age: 33 })).toEqual(twin(part, truth, { age: 33 }))
})
