import { describe, expect, test } from 'vitest'
import {
  questionConcepts,
  statementConcepts,
} from '../../../../src/envs/patients/recorded/concepts.js'

const all = (question: string): string[] => {
  const { aspects, symptoms, frames } = questionConcepts(question)
  return [...aspects, ...symptoms, ...frames]
}

describe('the concepts of a question', () => {
  test.each([
    ['When did it start?', 'How long have you had this?', '从什么时候开始的？', '多久了？'],
    ['Any fever?', 'Have you had a temperature?', '发烧吗？', '体温高不高？'],
    ['Do you have any allergies?', 'Are you allergic to anything?', '对什么过敏吗？'],
    ['Does anything run in the family?', 'Are your parents well?', '家里人有这样的吗？'],
    ['How old are you?', 'May I ask your age?', '您多大了？', '您今年几岁？'],
    ['What worries you?', 'Are you concerned about anything?', '您担心什么？'],
  ])('are shared by the wordings of one question: %s', (...wordings) => {
    const [first = [], ...others] = wordings.map(all)
    expect(first.length).toBeGreaterThan(0)
    for (const other of others) expect(first.some((one) => other.includes(one))).toBe(true)
  })

  test('tell a sore throat from a pain elsewhere, and a course from an onset', () => {
    expect(all('Do you have a sore throat?')).toEqual(['#throat'])
    expect(all('嗓子疼不疼？')).toEqual(['#throat'])
    expect(all('How long does it last each time?')).toEqual(['?duration'])
  })

  test('"anything else?" asks for more; a named allergy does not', () => {
    for (const more of ['Anything else?', 'Any other symptoms?', '还有别的不舒服吗？'])
      expect(questionConcepts(more).more).toBe(true)
    expect(questionConcepts('您还有过敏吗？').more).toBe(false)
  })

  test('a named examination answers a question for any', () => {
    expect(statementConcepts('I had a gastroscopy in May.')).toContain('#tests')
    expect(all('Have you had a gastroscopy?')).not.toContain('#tests')
  })
})
