import { describe, expect, test } from 'vitest'
import { attributesIn, isGeneric, looseIn } from '../../../../src/envs/patients/nlu/attributes.js'

describe('an attribute is loose', () => {
  test.each([
    ['where exactly', 'site'],
    ['how long has this been going on', 'duration'],
    ['does it spread anywhere', 'radiation'],
    ['大概多久了', 'duration'],
  ] as const)('in "%s"', (text, attribute) => {
    expect(looseIn(text)).toBe(attribute)
  })

  test.each([
    'where did you buy the jacket',
    'good morning',
    'what time is it',
    '你今年多大了',
    '你从哪里来',
  ])('but not in "%s"', (text) => {
    expect(looseIn(text)).toBeUndefined()
  })
})

test('days that have just passed do not ask how many', () => {
  expect(attributesIn('你这几天咳嗽吗')).not.toContain('duration')
  expect(attributesIn('咳嗽几天了')).toContain('duration')
})

test('words that fit any complaint name nothing', () => {
  expect(isGeneric('how is it now')).toBe(true)
  expect(isGeneric('how is the cough now')).toBe(false)
})
