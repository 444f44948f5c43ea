import { describe, expect, test } from 'vitest'
import { make } from '../../src/tasks/registry.js'

/** `make` as JavaScript calls it. */
const loosely = make as (id: string, options?: unknown) => unknown // types are what is missing

describe('make refuses what the command line refuses', () => {
  test.each<[unknown, string]>([
    [{ tier: 7 }, 'Expected `tier` to be easy or standard or hard or ood, got `7`'],
    [{ clinic: 'upper-airway' }, 'Expected `clinic` to be a list of names, got `upper-airway`'],
    [{ caseSeed: '1' }, 'Expected `caseSeed` to be an integer from 0 to 4294967295, got `1`'],
    [
      { maxTurns: 'ten' },
      'Expected `maxTurns` to be a positive integer, or the least and the most of a range of them, got `ten`',
    ],
    [{ patient: 'chat' }, 'Expected `patient` to be a function, got `chat`'],
    [{ reward: 'default' }, 'Expected `reward` to be a function, got `default`'],
  ])('%j, of another type', (options, message) => {
    expect(() => loosely('consultation', options)).toThrow(new TypeError(message))
  })

  test.each<[unknown, string]>([
    [{ tier: 'medium' }, 'Expected `tier` to be easy or standard or hard or ood, got `medium`'],
    [{ split: 'test' }, 'Expected `split` to be train or heldout, got `test`'],
    [{ clinic: [] }, 'Expected `clinic` to be a list of names, got `[]`'],
    [
      { caseSeed: 2 ** 32 },
      'Expected `caseSeed` to be an integer from 0 to 4294967295, got `4294967296`',
    ],
    [{ caseSeed: -1 }, 'Expected `caseSeed` to be an integer from 0 to 4294967295, got `-1`'],
    [
      { caseSeed: Number.NaN },
      'Expected `caseSeed` to be an integer from 0 to 4294967295, got `NaN`',
    ],
    [
      { maxTurns: Number.NaN },
      'Expected `maxTurns` to be a positive integer, or the least and the most of a range of them, got `NaN`',
    ],
    [{ money: -5 }, 'Expected `money` to be a number of at least 0, got `-5`'],
    [{ cases: [] }, 'Expected `cases` to be a function, or a list of at least one case, got `[]`'],
  ])('%j, out of bounds', (options, message) => {
    expect(() => loosely('consultation', options)).toThrow(new RangeError(message))
  })

  test('a disease group that does not exist, with those there are', () => {
    expect(() => loosely('consultation', { clinic: ['bowl'] })).toThrow(/upper-airway.*got `bowl`/)
  })

  test.each([
    [{ maxTurn: 3 }, 'maxTurn', 'maxTurns'],
    [{ teir: 'easy' }, 'teir', 'tier'],
    [{ max_turns: 3 }, 'max_turns', 'maxTurns'],
    [{ langauge: 'zh' }, 'langauge', 'language'],
  ])('%j, with what was meant', (options, given, meant) => {
    expect(() => loosely('consultation', options)).toThrow(
      `got \`${given}\`; did you mean \`${meant}\`?`,
    )
  })

  test('options of a question', () => {
    expect(() => loosely('question', { tier: 'easy' })).toThrow(
      "Expected an option of make('question') (cases, reward, grammar, language), got `tier`",
    )
    expect(() => loosely('question')).toThrow('to be an object, got `undefined`')
  })

  test('an env that does not exist, with what was meant', () => {
    expect(() => loosely('consultaton')).toThrow('got `consultaton`; did you mean `consultation`?')
  })
})

test('make takes every option there is', async () => {
  const env = make('consultation', {
    ...{ tier: 'hard', split: 'heldout', caseSeed: 3, clinic: ['upper-airway'] },
    ...{ language: 'zh', maxTurns: 2, money: 0, minutes: 60, minutesPerQuestion: 2 },
    ...{ unknownOrderMoney: 0, maxInvalid: 1 },
  })
  const { observation, info } = await env.reset({ seed: 4 })
  expect(info.caseId).toBe('hard-heldout-3-4@upper-airway')
  expect(observation).toMatchObject({ turnsLeft: 2, language: 'zh', budget: { minutes: 60 } })
})
