import { describe, expect, test } from 'vitest'
// @ts-expect-error A bench is plain JavaScript, without declarations.
import { saysTopic } from '../../bench/judging/said.js'
import { loadKnowledge } from '../../src/knowledge/load.js'

const knowledge = loadKnowledge()
const view = {
  biography: { 'smoking-more': { en: 'About ten a day.', zh: '一天半包左右。' } },
}
const reply = (text: string, asked: readonly string[] = [], told: readonly object[] = []) => ({
  text,
  asked,
  told,
})
const label = (topics: readonly string[], complaint = 'palpitations') => ({
  topics,
  complaint,
  lang: 'en',
})

describe('whether a reply says what a topic asks for', () => {
  test.each([
    [['smoking-count'], reply('About ten a day.', ['smoking']), true],
    [['smoking-count'], reply('Yes, I smoke. About ten a day.', ['smoking']), true],
    [['smoking-count'], reply('Hard to say, I have not kept track.', ['smoking']), false],
    [['smoking-count'], reply('Ten years or so.', ['smoking']), false],
    [['smoking-count'], reply('A packet a day, more or less.', ['smoking']), false],
    [['pet-name'], reply('About ten a day.', ['smoking']), false],
    [
      ['weight-general'],
      reply('No loss.', ['weight-loss'], [{ finding: 'weight-loss', state: 'absent' }]),
      true,
    ],
    [
      ['weight-general'],
      reply('Who knows.', ['weight-loss'], [{ finding: 'weight-loss', state: 'unknown' }]),
      false,
    ],
    [
      ['weight-general'],
      reply('No.', ['weight-loss', 'cough'], [{ finding: 'weight-loss', state: 'absent' }]),
      false,
    ],
  ])('of %j: %j', (topics, said, right) => {
    expect(saysTopic(knowledge, label(topics), said, view)).toBe(right)
  })

  test('a fact of the finding counts for it, and only where that finding was asked for', () => {
    const fact = knowledge.details.find(
      ({ attribute, of = [], facts }) =>
        attribute === 'frequency' && of.includes('palpitations') && facts !== undefined,
    )
    const text = fact?.facts?.[0]?.en[0] ?? ''
    expect(text).not.toBe('')
    const often = label(['episodes-often'])
    expect(saysTopic(knowledge, often, reply(text, ['palpitations']), view)).toBe(true)
    expect(saysTopic(knowledge, often, reply(text, ['vomiting']), view)).toBe(false)
  })
})
