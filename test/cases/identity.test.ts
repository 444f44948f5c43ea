import { describe, expect, test } from 'vitest'
import { type Case, graderView } from '../../src/case.js'
import { generateCase, twin } from '../../src/cases/generator/generate.js'
import { patientIdentity, patientsOf } from '../../src/cases/identity.js'
import { clinic } from '../../src/knowledge/knowledge.js'
import { loadKnowledge } from '../../src/knowledge/load.js'
import { tinyCase } from '../fixtures/tiny-case.js'

const knowledge = loadKnowledge()
const identityOf = (truth: Case): string => patientIdentity(graderView(truth))

describe('a generated patient', () => {
  const easy = generateCase(knowledge, { split: 'heldout', n: 7 })

  test('is the same in every tier and clinic, as a twin, and under another id', () => {
    const same = [
      generateCase(knowledge, { tier: 'standard', split: 'heldout', n: 7 }),
      generateCase(knowledge, { tier: 'hard', split: 'heldout', n: 7 }),
      generateCase(clinic(knowledge, ['bowel']), { split: 'heldout', n: 7 }),
      twin(knowledge, easy, { age: 30 }),
      { ...easy, id: 'mine' },
    ]
    for (const one of same) expect(identityOf(one)).toBe(identityOf(easy))
    expect(patientIdentity({ caseId: 'hard-heldout-0-7' })).toBe(identityOf(easy))
  })

  test('is another one under another number, seed or split', () => {
    for (const other of [{ n: 8 }, { n: 7, seed: 1 }, { n: 7, split: 'train' as const }]) {
      const truth = generateCase(knowledge, { split: 'heldout', ...other })
      expect(identityOf(truth)).not.toBe(identityOf(easy))
    }
  })
})

describe('any other patient', () => {
  test('is the same where the text is, whatever the id', () => {
    expect(identityOf(tinyCase('one'))).toBe(identityOf(tinyCase('two')))
    const other = { ...tinyCase('one'), findings: [] }
    expect(identityOf(other)).not.toBe(identityOf(tinyCase('one')))
  })

  test('is found by id where nothing else is known of the case', () => {
    const isOne = patientsOf([tinyCase('one')])
    expect(isOne({ caseId: 'one' })).toBe(true)
    expect(isOne({ caseId: 'two' })).toBe(false)
    expect(isOne({ ...graderView(tinyCase('two')) })).toBe(true)
  })
})
