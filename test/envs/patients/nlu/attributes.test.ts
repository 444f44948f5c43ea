import { describe, expect, test } from 'vitest'
import {
  findAttributes,
  isGeneric,
  looseAttribute,
} from '../../../../src/envs/patients/nlu/attributes.js'

describe('an attribute is loose', () => {
  test.each([
    ['where exactly', 'site'],
    ['how long has this been going on', 'duration'],
    ['does it spread anywhere', 'radiation'],
    ['大概多久了', 'duration'],
  ] as const)('in "%s"', (text, attribute) => {
    expect(looseAttribute(text)).toBe(attribute)
  })

  test.each([
    'where did you buy the jacket',
    'good morning',
    'what time is it',
    '你今年多大了',
    '你从哪里来',
  ])('but not in "%s"', (text) => {
    expect(looseAttribute(text)).toBeUndefined()
  })
})

test('days that have just passed do not ask how many', () => {
  expect(findAttributes('你这几天咳嗽吗')).not.toContain('duration')
  expect(findAttributes('咳嗽几天了')).toContain('duration')
})

test('words that fit any complaint name nothing', () => {
  expect(isGeneric('how is it now')).toBe(true)
  expect(isGeneric('how is the cough now')).toBe(false)
})
