import { expect, test } from 'vitest'
import { readClauses } from '../../../../src/envs/patients/statements/clauses.js'
import {
  contraryReferences,
  referencesOf,
  saysRather,
  statesOf,
} from '../../../../src/envs/patients/statements/references.js'
import { loadKnowledge } from '../../../../src/knowledge/load.js'

const knowledge = loadKnowledge()

/** The state in which a sentence says a finding to be, of those it may say. */
const stateSaid = (finding: string, text: string, language: 'en' | 'zh') =>
  statesOf(knowledge, finding, language).filter((state) =>
    readClauses(text, language).some((clause) =>
      saysRather(
        clause,
        referencesOf(knowledge, { finding, state }, language),
        contraryReferences(knowledge, { finding, state }, language),
      ),
    ),
  )

test('every sentence of the base says its own state, and no other', () => {
  const wrong: string[] = []
  let count = 0
  for (const { id, knownBy, say } of knowledge.findings)
    if (knownBy === 'patient')
      for (const language of ['en', 'zh'] as const)
        for (const [state, { [language]: said }] of Object.entries(say))
          for (const text of said) {
            if (state === 'unknown' || text.includes('{value}')) continue
            count++
            const states = stateSaid(id, text, language)
            if (!states.includes(state)) wrong.push(`${id} ${state}: ${text}`)
          }
  // A few sentences deny with no word of denial, or say what two states have in common.
  expect(count).toBeGreaterThan(1500)
  expect(wrong.length / count).toBeLessThan(0.03)
})

test('what is turned round is not said', () => {
  expect(stateSaid('cough', 'I have no cough at all.', 'en')).toEqual(['absent'])
  expect(stateSaid('cough', 'I cough a lot.', 'en')).toEqual(['present'])
  expect(stateSaid('fatigue', 'I have plenty of energy.', 'en')).toEqual(['absent'])
  expect(stateSaid('fatigue', 'I have no energy.', 'en')).toEqual(['present'])
  expect(stateSaid('cough', '不咳嗽。', 'zh')).toEqual(['absent'])
  expect(stateSaid('cough', '老是咳嗽。', 'zh')).toEqual(['present'])
})
