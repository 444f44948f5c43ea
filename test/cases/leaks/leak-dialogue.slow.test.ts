import { describe, expect, test } from 'vitest'
import { primaryDiagnosis } from '../../../src/case.js'
import { caseSource, generateCase } from '../../../src/cases/generator/generate.js'
import type { DialogueSimulators } from '../../../src/cases/leaks/leak-dialogue.js'
import { dialogueLeaks } from '../../../src/cases/leaks/leak-dialogue.js'
import { recordExams } from '../../../src/envs/exams/record.js'
import { rulePatientAtOnce } from '../../../src/envs/patients/rule.js'
import type { Knowledge } from '../../../src/knowledge/knowledge.js'
import { loadKnowledge } from '../../../src/knowledge/load.js'
import { tierNames } from '../../../src/knowledge/tiers.js'
import { personas } from '../../../src/persona.js'
import { familyKnowledge } from '../../fixtures/family-knowledge.js'

const castOf = (knowledge: Knowledge): DialogueSimulators => ({
  knowledge,
  patient: rulePatientAtOnce({ knowledge }),
  examine: recordExams({ knowledge }),
})
const small = castOf(familyKnowledge())
const shipped = castOf(loadKnowledge())

describe('a played consultation', () => {
  test('is heard to leak by a patient who blurts out the diagnosis to one question only', () => {
    const truth = generateCase(small.knowledge)
    const name = primaryDiagnosis(truth.gold).name.en ?? ''
    const blurting: DialogueSimulators = {
      ...small,
      patient: (utterance, context) => {
        const reply = small.patient(utterance, context)
        return /pain in your belly/.test(utterance) ? { ...reply, text: `It is ${name}!` } : reply
      },
    }
    const found = [0, 1, 2, 3].flatMap((n) => dialogueLeaks(truth, blurting, n))
    expect(found.length).toBeGreaterThan(0)
    for (const { where, phrase } of found) {
      expect(name.toLowerCase()).toContain(phrase)
      expect(where).toContain('pain in your belly')
    }
  })

  test('is heard to leak by an examination that names it', () => {
    const truth = generateCase(small.knowledge, { n: 3 })
    const telling: DialogueSimulators = {
      ...small,
      examine: (order, context) => {
        const report = small.examine(order, context)
        return (
          report && { ...report, text: `${report.text} ${primaryDiagnosis(truth.gold).name.zh}` }
        )
      },
    }
    expect(dialogueLeaks(truth, telling, 0).map(({ where }) => where)).toContainEqual(
      expect.stringMatching(/^dialogue\.order\./),
    )
  })

  test('is, over some hundred cases, with everybody about everything', () => {
    const asked = new Set<string>()
    const ordered = new Set<string>()
    const met = new Set<string>()
    const watching: DialogueSimulators = {
      ...small,
      patient: (utterance, context) => {
        asked.add(utterance)
        met.add(`${JSON.stringify(context.view.persona)} ${context.view.demographics.speaker}`)
        return small.patient(utterance, context)
      },
      examine: (order, context) => {
        ordered.add(order)
        return small.examine(order, context)
      },
    }
    const make = caseSource(small.knowledge)
    for (let n = 0; n < 300; n++) dialogueLeaks(make(n), watching, n)
    for (const { ask } of small.knowledge.findings)
      for (const text of [...ask.zh, ...ask.en]) expect(asked).toContain(text)
    for (const { name } of small.knowledge.exams) expect(ordered).toContain(name.en)
    const different = new Set(Object.values(personas).map((persona) => JSON.stringify(persona)))
    expect(met.size).toBeGreaterThanOrEqual(3 * different.size)
  })

  test('is of the same words for the same case and number', () => {
    const heard: string[][] = [[], []]
    const truth = generateCase(small.knowledge, { tier: 'hard', n: 8 })
    for (const words of heard) {
      const patient: DialogueSimulators['patient'] = (utterance, context) => {
        const reply = small.patient(utterance, context)
        words.push(reply.text)
        return reply
      }
      dialogueLeaks(truth, { ...small, patient }, 8)
    }
    expect(heard[0]).toEqual(heard[1])
    expect(heard[0]?.length).toBeGreaterThan(30)
  })
})

test.each(tierNames)('nobody gives a shipped %s case away, in 60 consultations', (tier) => {
  const make = caseSource(shipped.knowledge, { tier, split: 'heldout', seed: 1 })
  for (let n = 0; n < 60; n++) expect(dialogueLeaks(make(n), shipped, n)).toEqual([])
})
