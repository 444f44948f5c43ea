/** English lists: what a member asks for by its words, by what it shares with the others, and as a topic of its own. */
import { describe, expect, test } from 'vitest'
import { understand } from '../../../../../src/envs/patients/nlu/understand.js'
import { loadKnowledge } from '../../../../../src/knowledge/load.js'

const knowledge = loadKnowledge()
const findings = (text: string) =>
  understand(knowledge, text)
    .topics.map(({ finding }) => finding)
    .sort()

describe('a member of an English list', () => {
  test('shares the place that another one names', () => {
    expect(findings('Any blood or mucus in the stool?')).toEqual(['bloody-stool', 'mucus-stool'])
  })

  test('is of the broad topic that heads the list', () => {
    expect(findings('With your waterworks: any stinging, going more often, or blood?')).toEqual([
      'blood-in-urine',
      'frequent-urination',
      'painful-urination',
    ])
  })

  test('that no finding answers is answered beside those that findings answer', () => {
    const { topics, asides } = understand(knowledge, 'Any nosebleeds, sore throat or toothache?')
    expect(topics.map(({ finding }) => finding)).toEqual(['sore-throat'])
    expect([...asides].sort()).toEqual(['nosebleeds', 'toothache'])
  })

  test('is heard where a phrase runs over the comma', () => {
    expect(findings('Any cough, cold, sore throat or earache?')).toContain('cough')
  })

  test('asks for a symptom, not for what it is like', () => {
    expect(findings('Do you feel breathless or tight in the chest?')).not.toContain(
      'chest-pain-character',
    )
  })

  test('is none where two parts of a question are about one finding', () => {
    expect(findings('Does the pain in your chest go off when you rest or sit forward?')).toEqual([
      'chest-pain-relieving',
    ])
  })
})
