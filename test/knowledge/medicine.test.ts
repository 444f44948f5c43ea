/** What a clinician would object to in the shipped knowledge base; the reasons are in `data/knowledge/README.md`. */
import { describe, expect, test } from 'vitest'
import type { Disease, FindingDefinition } from '../../src/knowledge/knowledge.js'
import { expandPanel } from '../../src/knowledge/knowledge.js'
import { loadKnowledge } from '../../src/knowledge/load.js'

const { diseases, disease, finding, findings, exam, actions, icd10 } = loadKnowledge()

const named = (id: string): Disease => disease.get(id) as Disease
const edge = (id: string, of: string): number => named(id).findings[of] as number

type Table = NonNullable<FindingDefinition['measure']>
const tables = (measure: Table) => [measure, ...(measure.bands ?? [])]

describe('what patients come with', () => {
  test('is written for every disease, as boolean findings that it lists', () => {
    for (const { id, complaints, findings: edges } of diseases) {
      expect([id, Object.keys(complaints).length > 0]).toEqual([id, true])
      for (const complaint of Object.keys(complaints))
        expect([id, complaint, typeof edges[complaint]]).toEqual([id, complaint, 'number'])
    }
  })

  test('is there in 98 of 100 patients, whatever their disease', () => {
    for (const { id, complaints, findings: edges } of diseases) {
      const none = Object.keys(complaints).reduce((p, f) => p * (1 - (edges[f] as number)), 1)
      expect([id, none <= 0.02]).toEqual([id, true])
    }
  })

  test('has the atypical presentations, rarer than the typical one', () => {
    const { complaints } = named('myocardial-infarction')
    for (const atypical of ['breathlessness', 'abdominal-pain', 'nausea'])
      expect(complaints[atypical]).toBeGreaterThan(0)
    expect(complaints['chest-pain']).toBe(1)
  })
})

describe('the work-up', () => {
  test('of every disease has a source', () => {
    expect(diseases.filter(({ workup }) => !workup?.source).map(({ id }) => id)).toEqual([])
  })

  test('requires nothing for at most a fifth of the patients', () => {
    const mass = (list: readonly Disease[]) => list.reduce((sum, d) => sum + d.prior.base, 0)
    const none = diseases.filter(({ workup }) => workup?.required.length === 0)
    expect(mass(none) / mass(diseases)).toBeLessThanOrEqual(0.2)
  })

  test('requires only what shows something of the disease', () => {
    const linked = (d: Disease, id: string): boolean => {
      const { parent, given } = finding.get(id) as FindingDefinition
      const above = parent?.finding ?? given?.finding
      return d.findings[id] !== undefined || (above !== undefined && linked(d, above))
    }
    for (const d of diseases)
      for (const id of d.workup?.required ?? []) {
        const shown = expandPanel(exam.get(id)!).flatMap((one) => exam.get(one)!.yields)
        expect([d.id, id, shown.some((one) => linked(d, one))]).toEqual([d.id, id, true])
      }
  })
})

describe('likelihoods', () => {
  test.each([
    ['appendicitis', 'abdominal-pain', 0.97, 1],
    ['kawasaki-disease', 'child-coronary-widening', 0.15, 0.25],
    ['kawasaki-disease', 'eye-redness', 0.85, 0.95],
    ['kawasaki-disease', 'fever', 0.98, 1],
    ['plaque-psoriasis', 'skin-pinpoint-bleeding', 0.1, 0.3],
    ['tuberculosis', 'airway-sputum-bacilli', 0.45, 0.65],
    ['irritable-bowel', 'abdominal-pain', 0.97, 1],
    ['measles', 'child-white-cheek-specks', 0.5, 0.75],
    ['influenza', 'virus-antigen', 0.55, 0.75],
    ['transient-ischaemic-attack', 'nerve-passed-off', 0.9, 1],
    ['ischaemic-stroke', 'nerve-passed-off', 0, 0.15],
    ['retinal-detachment', 'eye-pain', 0, 0.1],
  ])('%s: %s is present in %d to %d', (id, of, low, high) => {
    expect(edge(id, of)).toBeGreaterThanOrEqual(low)
    expect(edge(id, of)).toBeLessThanOrEqual(high)
  })

  test('suppress the thyroid-stimulating hormone where the thyroid is overactive', () => {
    expect(named('hyperthyroidism').findings.tsh).toMatchObject({ low: 0.975 })
  })
})

describe('treatment', () => {
  test.each([
    ['appendicitis', 'remove-appendix'],
    ['ovarian-torsion', 'untwist-ovary'],
    ['ectopic-pregnancy', 'ectopic-treatment'],
    ['acute-cholecystitis', 'remove-gallbladder'],
    ['peptic-ulcer', 'germ-eradication'],
    ['kawasaki-disease', 'child-immunoglobulin'],
    ['kawasaki-disease', 'child-aspirin-with-immunoglobulin'],
  ])('of %s includes %s', (id, action) => {
    expect(named(id).recommend).toContain(action)
    expect(actions.get(action)?.zh).toBeTruthy()
  })

  test('never recommends and forbids the same', () => {
    for (const { id, recommend, contraindicated } of diseases)
      expect([id, recommend.filter((a) => contraindicated.includes(a))]).toEqual([id, []])
  })
})

describe('ICD-10 codes', () => {
  test('are of the published list, and every listed title is used', () => {
    const used = new Set(diseases.flatMap(({ codes }) => codes.map(({ code }) => code)))
    expect([...used].filter((code) => !icd10.has(code))).toEqual([])
    expect([...icd10.keys()].filter((code) => !used.has(code))).toEqual([])
    for (const code of used) expect(code).toMatch(/^[A-Z]\d{2}(\.\d)?$/)
  })
})

describe('measured findings', () => {
  const measured = findings.flatMap(({ id, states, measure }) =>
    measure ? [[id, states, measure] as const] : [],
  )

  test.each(measured)(
    '%s: has a range per state, apart, and a reference interval',
    (_, states, measure) => {
      for (const { ranges, reference } of tables(measure)) {
        expect(Object.keys(ranges).sort()).toEqual([...states].sort())
        const [low, high] = reference as readonly [number, number]
        const normal = ranges.normal as readonly [number, number]
        expect(normal[0]).toBeGreaterThanOrEqual(low)
        expect(normal[1]).toBeLessThanOrEqual(high)
        const sorted = Object.values(ranges).sort((a, b) => a[0] - b[0])
        for (const [i, range] of sorted.entries())
          if (i > 0) expect(range[0]).toBeGreaterThan(sorted[i - 1]![1])
      }
    },
  )

  test.each([
    'heart-rate',
    'blood-pressure-level',
    'breathing-rate',
    'haemoglobin',
    'white-cells',
    'creatinine',
    'ferritin',
    'tsh',
  ])('%s: differs in children', (id) => {
    const bands = finding.get(id)?.measure?.bands ?? []
    expect(bands.some(({ ages }) => ages && ages[1] < 16)).toBe(true)
  })

  test('of the core of a work-up are seldom abnormal without a cause', () => {
    for (const id of [
      'temperature',
      'breathing-rate',
      'blood-sugar',
      'creatinine',
      'sodium',
      'potassium',
      'esr',
      'urine-sugar',
      'urine-protein',
    ]) {
      const { leak } = finding.get(id) as FindingDefinition
      const abnormal = typeof leak === 'number' ? leak : 1 - (leak.normal ?? 0)
      expect([id, abnormal <= 0.03 + 1e-9]).toEqual([id, true])
    }
  })

  test('make temperature follow the fever that the patient speaks of', () => {
    const { leaks } = finding.get('temperature')!.given!
    const { low, high } = leaks as Record<string, Record<string, number>>
    expect(high!.normal).toBeLessThan(0.2)
    expect(high!.high).toBeGreaterThan(low!.high!)
  })
})
