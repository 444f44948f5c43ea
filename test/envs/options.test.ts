import { describe, expect, test } from 'vitest'
import { consultation } from '../../src/envs/consultation.js'
import { checkOptions, oneOf, whole } from '../../src/envs/options.js'
import { question } from '../../src/envs/question.js'
import { vectorize } from '../../src/envs/vectorize.js'
import { tinyCase } from '../fixtures/tiny-case.js'

/** A call as JavaScript makes it, whatever its types say. */
const loosely = (work: (options: never) => unknown, options: unknown): (() => unknown) => {
  const call = work as (options: unknown) => unknown // types are what is missing
  return () => call(options)
}

const patient = () => ({ text: '', understood: 'answered', questions: 1, asked: [], told: [] })
const good = { cases: [tinyCase()], patient }

describe('the options of a consultation', () => {
  test.each<[string, unknown, string]>([
    ['patient', undefined, 'a function, got `undefined`'],
    ['patient', 'rule', 'a function, got `rule`'],
    ['cases', 'cases.jsonl', 'a function, or a list of at least one case, got `cases.jsonl`'],
    ['exams', () => undefined, 'a list of functions, got `a function`'],
    ['exams', ['record'], 'a list of functions, got `["record"]`'],
    ['reward', 'default', 'a function, got `default`'],
    ['grammar', 'labelled', 'an object with render() and parse(), got `labelled`'],
    ['grammar', { parse: () => 0 }, 'an object with render() and parse(), got `{}`'],
    ['grammar', null, 'an object with render() and parse(), got `null`'],
    ['language', 7, 'zh or en, got `7`'],
    [
      'maxTurns',
      'ten',
      'a positive integer, or the least and the most of a range of them, got `ten`',
    ],
    [
      'maxTurns',
      '10',
      'a positive integer, or the least and the most of a range of them, got `10`',
    ],
    ['money', null, 'a number of at least 0, got `null`'],
    ['minutes', true, 'a positive number, got `true`'],
    ['minutesPerQuestion', [], 'a number of at least 0, got `[]`'],
  ])('%s: %j is of another type', (name, value, words) => {
    expect(loosely(consultation, { ...good, [name]: value })).toThrow(
      new TypeError(`Expected \`${name}\` to be ${words}`),
    )
  })

  test.each<[string, unknown, string]>([
    ['cases', [], 'a function, or a list of at least one case, got `[]`'],
    ['language', 'fr', 'zh or en, got `fr`'],
    [
      'maxTurns',
      Number.NaN,
      'a positive integer, or the least and the most of a range of them, got `NaN`',
    ],
    [
      'maxTurns',
      2.5,
      'a positive integer, or the least and the most of a range of them, got `2.5`',
    ],
    [
      'maxTurns',
      [3, 2],
      'a positive integer, or the least and the most of a range of them, got `[3,2]`',
    ],
    [
      'maxTurns',
      [2],
      'a positive integer, or the least and the most of a range of them, got `[2]`',
    ],
    [
      'maxTurns',
      [0, 2],
      'a positive integer, or the least and the most of a range of them, got `[0,2]`',
    ],
    ['maxTurns', -1, 'a positive integer, or the least and the most of a range of them, got `-1`'],
    [
      'maxTurns',
      Number.POSITIVE_INFINITY,
      'a positive integer, or the least and the most of a range of them, got `Infinity`',
    ],
    ['money', -1, 'a number of at least 0, got `-1`'],
    ['money', Number.NaN, 'a number of at least 0, got `NaN`'],
    ['minutes', 0, 'a positive number, got `0`'],
    ['minutesPerQuestion', -1, 'a number of at least 0, got `-1`'],
    ['unknownOrderMoney', Number.NaN, 'a number of at least 0, got `NaN`'],
    ['maxInvalid', 0, 'a positive number, got `0`'],
  ])('%s: %j is out of bounds', (name, value, words) => {
    expect(loosely(consultation, { ...good, [name]: value })).toThrow(
      new RangeError(`Expected \`${name}\` to be ${words}`),
    )
  })

  test('one that does not exist is named, with one that was meant', () => {
    expect(loosely(consultation, { ...good, maxTurn: 3 })).toThrow(
      /^Expected an option of a consultation \(cases, patient, .*\), got `maxTurn`; did you mean `maxTurns`\?$/,
    )
    expect(loosely(consultation, { ...good, maxTurn: 3 })).toThrow(TypeError)
    expect(loosely(consultation, { ...good, colour: 3 })).toThrow(/got `colour`$/)
    // What every object inherits is no option.
    expect(loosely(consultation, { ...good, toString: 3 })).toThrow('got `toString`')
  })

  test.each([null, 7, 'easy', []])('%j are none at all', (options) => {
    expect(loosely(consultation, options)).toThrow(/the options of a consultation to be an object/)
  })

  test('undefined is as good as absent, and budgets may be without end', () => {
    const { POSITIVE_INFINITY: endless } = Number
    const options = { ...good, maxTurns: undefined, money: endless, minutes: endless }
    expect(loosely(consultation, options)).not.toThrow()
  })
})

test('the options of a question are held to the same', () => {
  expect(loosely(question, {})).toThrow('Expected `cases` to be a function, or a list')
  expect(loosely(question, { ...good, patient: undefined })).toThrow('got `patient`')
  expect(loosely(question, { cases: good.cases, langauge: 'zh' })).toThrow('mean `language`?')
})

test('a way of resetting that does not exist is refused', () => {
  const wrong = (options: unknown) => loosely((given: never) => vectorize([], given), options)
  expect(wrong({ autoreset: 'never' })).toThrow(
    new RangeError('Expected `autoreset` to be next-step or same-step or disabled, got `never`'),
  )
  expect(wrong({ autoReset: 'disabled' })).toThrow('did you mean `autoreset`?')
})

test('long values are cut in a message', () => {
  const rules = { n: whole(1), s: oneOf('a') }
  expect(() => checkOptions('x', { n: 'y'.repeat(500) }, rules)).toThrow(/got `y{80}…`$/)
  expect(() => checkOptions('x', { s: { deep: 'y'.repeat(500) } }, rules)).toThrow(
    /`\{"deep":"y+…`$/,
  )
})
