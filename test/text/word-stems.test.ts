import { describe, expect, test } from 'vitest'
import { languageOf, words } from '../../src/text/word-stems.js'

describe('the words of a text', () => {
  test.each([
    ['Have you been throwing up?', 'Did you vomit? I threw up.', ['vomit']],
    ['Are your stools bloody?', 'Is there any blood in the stool?', ['stool', 'bleed']],
    ['Does your belly hurt?', 'Do you have stomach pain?', ['abdomen', 'pain']],
    ['Any coughing?', 'Do you have a cough?', ['cough']],
  ])('are shared by "%s" and "%s"', (one, other, shared) => {
    for (const word of shared) {
      expect(words(one)).toContain(word)
      expect(words(other)).toContain(word)
    }
  })

  test('leave out what every question says, greetings above all', () => {
    for (const text of ['Hello doctor, thank you.', 'Do you have any?', '您好', ''])
      expect(words(text)).toEqual([])
  })

  test('keep how long, how many and how often apart', () => {
    const [long, many, often] = ['How long?', 'How many?', 'How often?'].map(words)
    expect(new Set([long?.[0], many?.[0], often?.[0]]).size).toBe(3)
  })

  test('are pairs of neighbouring characters in Chinese, particles left out', () => {
    expect(words('肚子疼吗？')).toEqual(['肚子', '子疼'])
    expect(words('疼')).toEqual(['疼'])
    expect(words('体温 38.5，fever')).toEqual(['38.5', 'fever', '体温'])
  })

  test('do not depend on width, case or the shape of an apostrophe', () => {
    expect(words('ＦＥＶＥＲ')).toEqual(words('fever'))
    expect(words('the patient’s cough')).toEqual(words("the patient's cough"))
  })
})

test('a text is Chinese from three Han letters in ten on', () => {
  expect(languageOf('胃痛三天')).toBe('zh')
  expect(languageOf('吃了omep三天')).toBe('zh')
  expect(languageOf('Formula 加 rice cereal')).toBe('en')
  expect(languageOf('38.5')).toBe('en')
})
