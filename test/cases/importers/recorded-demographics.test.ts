import { describe, expect, test } from 'vitest'
import {
  parseDemographics,
  recordedDemographics,
} from '../../../src/cases/importers/recorded-demographics.js'

describe('sex and age in a description', () => {
  test.each([
    ['It hurts (male, 34 years old)', 'It hurts', 'M', 34, 'year'],
    ['It hurts (Female, 27).', 'It hurts.', 'F', 27, 'year'],
    ['It hurts (female, 7 months old)', 'It hurts', 'F', 7, 'month'],
    ['It hurts (male, 3 weeks old)', 'It hurts', 'M', 21, 'day'],
    ['(Male, 5 day) it hurts', 'it hurts', 'M', 5, 'day'],
    ['肚子疼（男，6个月）', '肚子疼', 'M', 6, 'month'],
    ['肚子疼 (女性，40岁)', '肚子疼', 'F', 40, 'year'],
  ])('are read and taken out of "%s"', (description, text, sex, v, unit) => {
    expect(parseDemographics(description)).toEqual({
      text,
      tags: 1,
      demographics: { sex, age: { v, unit } },
    })
  })

  test('are not made up from other brackets, and a description of nothing else is kept', () => {
    expect(parseDemographics('It hurts (below the ribs, 3 cm)')).toEqual({
      text: 'It hurts (below the ribs, 3 cm)',
      tags: 0,
      demographics: {},
    })
    expect(parseDemographics('(male, 30 years old)').text).toBe('(male, 30 years old)')
  })
})

describe('who a consultation is about', () => {
  const none = [] as const
  test.each([
    ['I bumped my knee, I am 38 years old', { age: { v: 38, unit: 'year' } }],
    ['我今年30岁，头晕', { age: { v: 30, unit: 'year' } }],
    [
      'My 3-year-old son has a cough',
      { age: { v: 3, unit: 'year' }, sex: 'M', speaker: 'caregiver' },
    ],
    ['My mother keeps coughing', { sex: 'F', speaker: 'caregiver' }],
    ['宝宝拉肚子两天了', { speaker: 'caregiver' }],
    ['I have had stomach pain since my son was born', {}],
    [
      'Cough (female, 6 years old)',
      { age: { v: 6, unit: 'year' }, sex: 'F', speaker: 'caregiver' },
    ],
    ['Pain for 3 days', {}],
  ])('is read from "%s"', (description, demographics) => {
    expect(recordedDemographics(description, none).demographics).toEqual(demographics)
  })

  test('an age that was asked for counts where the description has none, and no other number', () => {
    const asked = [
      { question: 'How many days has it lasted?', answer: '5 days' },
      { question: 'How old are you?', answer: '41' },
    ]
    expect(recordedDemographics('It itches', asked).demographics).toEqual({
      age: { v: 41, unit: 'year' },
    })
    const tagged = recordedDemographics('It itches (male, 20)', asked)
    expect(tagged.demographics).toEqual({ age: { v: 20, unit: 'year' }, sex: 'M' })
  })
})
