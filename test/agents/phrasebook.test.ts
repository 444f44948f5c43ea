import { describe, expect, test } from 'vitest'
import { phrasebook } from '../../src/agents/phrasebook.js'
import type { Case } from '../../src/case.js'
import { patientView } from '../../src/case.js'
import { generateCase } from '../../src/cases/generator/generate.js'
import { rulePatientAtOnce } from '../../src/envs/patients/rule.js'
import { loadKnowledge } from '../../src/knowledge/load.js'
import { familyKnowledge } from '../fixtures/family-knowledge.js'

const knowledge = familyKnowledge()
const shipped = loadKnowledge()
const en = phrasebook(knowledge, 'en')
const zh = phrasebook(knowledge, 'zh')

describe('reading', () => {
  test('finds every known sentence of a text, in order, and passes over the others', () => {
    expect(en.read('Well, doctor. I keep coughing. Nothing comes up. My cat is fine!')).toEqual([
      { finding: 'cough', state: 'present' },
      { finding: 'sputum', state: 'none' },
    ])
    expect(zh.read('我一直咳。吐出来的发绿。您说呢？')).toEqual([
      { finding: 'cough', state: 'present' },
      { finding: 'sputum', state: 'green' },
    ])
  })

  test('needs no final stop and finds an entry of two sentences', () => {
    expect(en.read('I smoke')).toEqual([{ finding: 'smoker', state: 'present' }])
    expect(en.read('I get short of breath. It is worse on the stairs. I smoke.')).toEqual([
      { finding: 'breathless', state: 'present' },
      { finding: 'smoker', state: 'present' },
    ])
    expect(en.read('It is worse on the stairs.')).toEqual([])
    expect(zh.read('我喘不上气。爬楼更厉害。')).toEqual([
      { finding: 'breathless', state: 'present' },
    ])
  })

  test('tells states of one wording apart by the measured value', () => {
    expect(en.read('White cell count 7.3 x10^9/L.')).toEqual([
      { finding: 'white-cells', state: 'normal' },
    ])
    expect(zh.read('白细胞计数15×10^9/L。未见阑尾增粗。')).toEqual([
      { finding: 'white-cells', state: 'high' },
      { finding: 'appendix-swollen', state: 'absent' },
    ])
    expect(en.read('White cell count 10.05 x10^9/L.')).toEqual([])
    expect(en.read('White cell count unclear x10^9/L.')).toEqual([])
  })

  test('reads "I do not know" as unknown', () => {
    expect(en.read('I am not sure about a fever.')).toEqual([
      { finding: 'fever', state: 'unknown' },
    ])
  })

  test('is done of somebody spoken for: by he or she, through an interpreter, and said before', () => {
    expect(en.read('He keeps coughing. She smokes.')).toEqual([
      { finding: 'cough', state: 'present' },
      { finding: 'smoker', state: 'present' },
    ])
    expect(zh.read('她一直咳。他抽烟。')).toHaveLength(2)
    expect(en.read('She says: I keep coughing. It smells foul.')).toEqual([
      { finding: 'cough', state: 'present' },
      { finding: 'foul-sputum', state: 'present' },
    ])
    expect(zh.read('他说：刚才说过：我抽烟。')).toEqual([{ finding: 'smoker', state: 'present' }])
    expect(
      en.read('She says: As I said: I get short of breath. It is worse on the stairs. I smoke.'),
    ).toEqual([
      { finding: 'breathless', state: 'present' },
      { finding: 'smoker', state: 'present' },
    ])
    expect(en.read('Note: a: b: I smoked.')).toEqual([])
  })

  test('takes nothing from a sentence that two states share', () => {
    const ambiguous = {
      ...knowledge,
      findings: knowledge.findings.map((finding) =>
        finding.id === 'fever' || finding.id === 'cough'
          ? { ...finding, say: { ...finding.say, absent: { zh: ['没有。'], en: ['No.'] } } }
          : finding,
      ),
    }
    expect(phrasebook(ambiguous, 'en').read('No. I smoke.')).toEqual([
      { finding: 'smoker', state: 'present' },
    ])
  })
})

describe('the shipped knowledge base', () => {
  test.each(['en', 'zh'] as const)('has one meaning for each %s sentence', (language) => {
    const book = phrasebook(shipped, language)
    for (const { id, say, measure } of shipped.findings)
      for (const [state, said] of Object.entries(say))
        for (const text of said[language]) {
          const value = measure?.ranges[state]?.[0] ?? 0
          const spoken = text.replaceAll('{value}', String(value))
          expect(book.read(spoken), spoken).toEqual([{ finding: id, state }])
        }
  })

  test.each(['en', 'zh'] as const)('has one %s question for each finding', (language) => {
    const book = phrasebook(shipped, language)
    for (const { id, ask } of shipped.findings)
      expect(book.question(ask[language][0] ?? '')).toBe(id)
    expect(book.question('?')).toBeUndefined()
  })

  const speakers = [
    { speaker: 'self', sex: 'F' },
    { speaker: 'caregiver', sex: 'F' },
    { speaker: 'caregiver', sex: 'M' },
    { speaker: 'interpreter', sex: 'F' },
    { speaker: 'interpreter', sex: 'M' },
  ] as const

  describe.each(['en', 'zh'] as const)('in %s', (language) => {
    test.each(speakers)('is told by the rule patient ($speaker, $sex) as it reads back', (who) => {
      const talk = rulePatientAtOnce({ knowledge: shipped })
      const book = phrasebook(shipped, language)
      const base = generateCase(shipped)
      let told = 0
      for (const { id, kind, knownBy, salience, stigma, states, ask, parent } of shipped.findings) {
        if (knownBy !== 'patient') continue
        for (const state of states) {
          const open = parent ? [{ id: parent.finding, state: [parent.when].flat()[0]! }] : []
          const findings = [...open, { id, state }].map((one) => ({
            ...{ kind, knownBy, salience, stigma },
            ...one,
          }))
          const truth: Case = { ...base, demographics: who, findings, persona: {} }
          for (const seed of [1, 2, 3]) {
            const context = { view: patientView(truth), dialogue: [], seed, language }
            const utterance = ask[language][0] ?? ''
            const reply = talk(utterance, context)
            expect(book.read(reply.text), reply.text).toEqual(reply.told)
            told += reply.told.filter(({ finding }) => finding === id).length
            const dialogue = [{ utterance, reply }]
            const again = talk(utterance, { ...context, dialogue })
            // Asked again, a patient says the same or puts it more exactly.
            expect([reply.told, again.told], again.text).toContainEqual(book.read(again.text))
          }
        }
      }
      expect(told).toBeGreaterThan(1000)
    })
  })

  test.each(['en', 'zh'] as const)('has %s reports that read back as they were', (language) => {
    const book = phrasebook(shipped, language)
    for (let n = 0; n < 100; n++) {
      const truth = generateCase(shipped, { tier: 'hard', n })
      const states = new Map(truth.findings.map(({ id, state }) => [id, state]))
      for (const result of truth.exams)
        expect(book.read(result.report[language] ?? ''), result.exam).toEqual(
          result.findings.map((finding) => ({ finding, state: states.get(finding) })),
        )
    }
  })
})

test.each(['en', 'zh'] as const)(
  'a measured report reads back whatever the age: %s',
  (language) => {
    const knowledge = loadKnowledge()
    const book = phrasebook(knowledge, language)
    let young = 0
    for (let n = 0; n < 60; n++) {
      const truth = generateCase(knowledge, { tier: 'standard', n })
      const stateOf = new Map(truth.findings.map(({ id, state }) => [id, state] as const))
      for (const { report, findings } of truth.exams)
        for (const { finding, state } of book.read(report[language] ?? '')) {
          expect(findings).toContain(finding)
          expect(state, finding).toBe(stateOf.get(finding))
          if (finding === 'heart-rate' && (truth.demographics.age?.v ?? 99) < 12) young++
        }
      const pulse = truth.exams.find(({ findings }) => findings.includes('heart-rate'))
      const read = book.read(pulse?.report[language] ?? '').map(({ finding }) => finding)
      if (pulse) expect(read).toContain('heart-rate')
      expect(pulse?.report.en ?? 'reference').toMatch(/reference/)
    }
    expect(young).toBeGreaterThan(0)
  },
)
