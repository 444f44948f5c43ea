import { describe, expect, test } from 'vitest'
import { detectLanguage, wordStems } from '../../src/text/word-stems.js'

describe('the words of a text', () => {
  test.each([
    ['Have you been throwing up?', 'Did you vomit? I threw up.', ['vomit']],
    ['Are your stools bloody?', 'Is there any blood in the stool?', ['stool', 'bleed']],
    ['Does your belly hurt?', 'Do you have stomach pain?', ['abdomen', 'pain']],
    ['Any coughing?', 'Do you have a cough?', ['cough']],
  ])('are shared by "%s" and "%s"', (one, other, shared) => {
    for (const word of shared) {
      expect(wordStems(one)).toContain(word)
      expect(wordStems(other)).toContain(word)
    }
  })

  test('leave out what every question says, greetings above all', () => {
    for (const text of ['Hello doctor, thank you.', 'Do you have any?', '您好', ''])
      expect(wordStems(text)).toEqual([])
  })

  test('keep how long, how many and how often apart', () => {
    const [long, many, often] = ['How long?', 'How many?', 'How often?'].map(wordStems)
    expect(new Set([long?.[0], many?.[0], often?.[0]]).size).toBe(3)
  })

  test('are pairs of neighbouring characters in Chinese, particles left out', () => {
    expect(wordStems('肚子疼吗？')).toEqual(['肚子', '子疼'])
    expect(wordStems('疼')).toEqual(['疼'])
    expect(wordStems('体温 38.5，fever')).toEqual(['38.5', 'fever', '体温'])
  })

  test('do not depend on width, case or the shape of an apostrophe', () => {
    expect(wordStems('ＦＥＶＥＲ')).toEqual(wordStems('fever'))
    expect(wordStems('the patient’s cough')).toEqual(wordStems("the patient's cough"))
  })
})

test('a text is Chinese from three Han letters in ten on', () => {
  expect(detectLanguage('胃痛三天')).toBe('zh')
  expect(detectLanguage('吃了omep三天')).toBe('zh')
  expect(detectLanguage('Formula 加 rice cereal')).toBe('en')
  expect(detectLanguage('38.5')).toBe('en')
})
