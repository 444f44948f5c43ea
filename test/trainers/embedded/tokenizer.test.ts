import { expect, test } from 'vitest'
import { extractStatements } from '../../../src/trainers/embedded/tokenizer.js'

test('a statement is the same whoever says it, and with a leading yes or no', () => {
  const [own] = extractStatements('My breathing is quiet.')
  expect(own).toBe('breathing quiet')
  for (const text of [
    'No, my breathing is quiet.',
    'Her breathing is quiet!',
    'no, his breathing is quiet',
  ])
    expect(extractStatements(text)).toEqual([own])
})

test('a bare yes or no is kept', () => {
  expect(extractStatements('No.')).toEqual(['no'])
  expect(extractStatements('没有。')).toEqual(['没有'])
})

test('a report is cut at full stops that are no decimal points, without figures and ranges', () => {
  expect(
    extractStatements(
      'Blood glucose test: Plasma glucose 6.5 mmol/L (normal) (reference 3.9 to 7.8). Ferritin 20 µg/L (low).',
    ),
  ).toEqual(['blood glucose test', 'plasma glucose mmol l normal', 'ferritin g l low'])
})

test('in Chinese too, without the pronoun', () => {
  expect(extractStatements('我没有发烧。他咳嗽！')).toEqual(['没有发烧', '咳嗽'])
})

test('present and absent are two statements', () => {
  expect(extractStatements('My chest hurts.')).not.toEqual(
    extractStatements('My chest doesn’t hurt.'),
  )
})
