/** English questions whose topic no word of theirs shows alone. */
import { describe, expect, test } from 'vitest'
import { topicByForm } from '../../../../../src/envs/patients/nlu/english/spoken-topics.js'
import { understand } from '../../../../../src/envs/patients/nlu/understand.js'
import { loadKnowledge } from '../../../../../src/knowledge/load.js'

const knowledge = loadKnowledge()
const findings = (text: string) => understand(knowledge, text).topics.map(({ finding }) => finding)

describe('a medicine by its name', () => {
  test.each(['Are you taking sertraline at the moment?', 'Are you still on bisoprolol?'])(
    '%s asks for medicines',
    (text) => {
      expect(findings(text)).toEqual(['regular-medication'])
    },
  )

  test('is not taken where the doctor gives it or somebody reacts to it', () => {
    expect(findings('Are you allergic to amoxicillin?')).not.toContain('regular-medication')
    expect(findings("I'll give you amoxicillin, is that all right?")).toEqual([])
  })

  test('asks what it did', () => {
    expect(findings('And what happens when you take clindamycin?')).toEqual(['drug-allergy'])
  })
})

describe('what was before', () => {
  test.each(['Have you had this kind of pain before?', 'Do you get this often?'])('%s', (text) => {
    expect(findings(text)).toEqual(['previous-episodes'])
  })
})

describe('a topic by the form of the question', () => {
  test.each([
    ['how would you like me to call you', 'name'],
    ['are you grandma', 'companion'],
    ['who does she sleep with', 'household'],
    ['what have you been putting on it', 'tried'],
    ['is there anything else you are worried about', 'concerns'],
    ['did anything set it off', 'cause'],
    ['have you got a thermometer at home', 'home-checks'],
    ['how are you today', 'general-state'],
  ])('%s', (text, topic) => {
    expect(topicByForm(knowledge, text)).toBe(topic)
  })

  test('none is seen in a question for something else', () => {
    for (const text of ['do you get this rash often', 'have you ever had high blood pressure'])
      expect(topicByForm(knowledge, text)).toBeUndefined()
  })

  test('a child that is hot has a fever', () => {
    expect(findings('Is he hot?')).toEqual(['fever'])
  })
})
