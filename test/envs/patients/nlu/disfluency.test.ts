import { describe, expect, test } from 'vitest'
import { removeDisfluencies } from '../../../../src/envs/patients/nlu/disfluency.js'

describe('spoken language', () => {
  test.each([
    ['Um, and, have you, have you had any fever?', 'and have you had any fever?'],
    ['Are you on, um, any tablets?', 'Are you on any tablets?'],
    ['Has it, you know, got worse?', 'Has it, got worse?'],
    ['Is the pain, uh, is the pain constant?', 'Is the pain constant?'],
    ['Yeah. Yeah.', 'Yeah.'],
    ['Mm-hmm.', ''],
    ['呃，您发烧吗？', '您发烧吗？'],
    ['嗯，那个，有痰吗？', '有痰吗？'],
  ])('%s', (said, meant) => expect(removeDisfluencies(said)).toBe(meant))

  test.each([
    'Do you have a fever?',
    'Any umbrella at hand?',
    'Any allergies that you know of?',
    'Do you know when it began?',
    '有没有胸闷？',
    '这个药吃了吗？',
  ])('%s stays as it is', (text) => expect(removeDisfluencies(text)).toBe(text))
})
