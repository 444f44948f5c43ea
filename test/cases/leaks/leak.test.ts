import { describe, expect, test } from 'vitest'
import type { Case } from '../../../src/case.js'
import { caseSource, generateCase } from '../../../src/cases/generator/generate.js'
import { leaks } from '../../../src/cases/leaks/leak.js'
import { loadKnowledge } from '../../../src/knowledge/load.js'
import { tierNames } from '../../../src/knowledge/tiers.js'
import { familyKnowledge } from '../../fixtures/family-knowledge.js'

const knowledge = familyKnowledge()
const shipped = loadKnowledge()
const clean = generateCase(knowledge)

/** A case whose only diagnosis has these names, and whose patient opens with this. */
const saying = (text: { zh?: string; en?: string }, ...aliases: string[]): Case => ({
  ...clean,
  chiefComplaint: { ...clean.chiefComplaint, text },
  gold: {
    ...clean.gold,
    dx: [{ ...clean.gold.dx[0]!, id: 'x', name: { en: 'Zebra pox' }, aliases }],
  },
})
const found = (truth: Case) => leaks(truth).map(({ where, phrase }) => `${where}: ${phrase}`)

describe('a leak', () => {
  test('is a name, an alias or an ICD code, in either language', () => {
    expect(found(saying({ en: 'I have zebra pox!' }))).toEqual(['doctor.complaint.en: zebra pox'])
    expect(found(saying({ zh: '我得了斑马痘。' }, '斑马痘'))).toEqual([
      'doctor.complaint.zh: 斑马痘',
    ])
    const code = clean.gold.dx[0]!.codes[0]!.code
    expect(found(saying({ en: `My card says ${code}.` }))).toHaveLength(1)
  })

  test('is whole words in English and any substring in Chinese', () => {
    expect(found(saying({ en: 'I have a costume.' }, 'cost'))).toEqual([])
    expect(found(saying({ zh: '我怕得CAD吗？' }, 'CAD'))).toHaveLength(1)
    expect(found(saying({ zh: '这是小斑马痘病。' }, '斑马痘'))).toHaveLength(1)
    expect(found(saying({ en: 'A ZEBRA POX' }))).toHaveLength(1)
  })

  test('is no word too short to mean it', () => {
    expect(found(saying({ en: 'As I said, mi casa.' }, 'MI'))).toEqual([])
    expect(found(saying({ zh: '我头疼。' }, '头'))).toEqual([])
  })

  test('is found in reports, recorded words, and whatever the knowledge base could say', () => {
    const report = { en: 'Typical of zebra pox.' }
    const truth: Case = {
      ...saying({ en: 'Hello.' }),
      findings: [
        { ...clean.findings[0]!, knownBy: 'patient', utterance: { en: 'Zebra pox, they said.' } },
        { ...clean.findings.find(({ id }) => id === 'fever')!, state: 'present' },
      ],
      exams: [{ ...clean.exams[0]!, report }],
    }
    expect(leaks(truth).map(({ where }) => where)).toEqual([
      `patient.findings.${clean.findings[0]!.id}.utterance.en`,
      `examiner.results.${clean.exams[0]!.exam}.report.en`,
    ])
    const spoken = { ...truth, gold: saying({ en: '-' }, 'running a temperature').gold }
    expect(leaks(spoken, knowledge).some(({ where }) => where.includes('say.fever'))).toBe(true)
  })

  test('is found in what a caregiver makes of a sentence', () => {
    const truth: Case = { ...clean, gold: saying({ en: '-' }, 'she smokes').gold }
    const smokes = clean.findings.map((f) => (f.id === 'smoker' ? { ...f, state: 'present' } : f))
    expect(leaks({ ...truth, findings: smokes })).toEqual([])
    expect(leaks({ ...truth, findings: smokes }, knowledge).map(({ where }) => where)).toEqual([
      'patient.say.smoker.present',
    ])
  })
})

describe('the shipped knowledge base', () => {
  test.each(tierNames)(
    'leaks nothing in 300 held-out %s cases, in any sentence anybody could say',
    (tier) => {
      const source = caseSource(shipped, { tier, split: 'heldout' })
      const cases = Array.from({ length: 300 }, (_, n) => source(n))
      expect(cases.flatMap((truth) => leaks(truth, shipped))).toEqual([])
    },
  )
})
