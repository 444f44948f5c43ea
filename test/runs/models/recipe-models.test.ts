import { describe, expect, test } from 'vitest'
import { parseRecipe, resolveRecipe } from '../../../src/runs/recipe.js'

const models = (text: string, ...set: readonly string[]) => parseRecipe(text, 'r.yaml', set).models

describe('the models of a recipe', () => {
  test('are written with hyphens, or as in a program', () => {
    const hyphens = `
models:
  patient: { model: p, base-url: 'http://h/v1', api-key-env: A_KEY, max-tokens: 64, stop: ['###'] }
  judge: { model: j, headers: { x-team: a }, body: { top-k: 3 } }
  prices: { my-model-a: { input: 1, output: 2 } }
  budget: { tokens: 1000 }
  cassette: { file: c.jsonl }
`
    const expected = {
      patient: {
        ...{ model: 'p', baseUrl: 'http://h/v1', apiKeyEnv: 'A_KEY', maxTokens: 64, stop: ['###'] },
      },
      // Names that somebody chose stay as they are.
      judge: { model: 'j', headers: { 'x-team': 'a' }, body: { 'top-k': 3 } },
      prices: { 'my-model-a': { input: 1, output: 2 } },
      budget: { tokens: 1000 },
      cassette: { file: 'c.jsonl', mode: 'replay' as const },
    }
    expect(models(hyphens)).toEqual(expected)
    expect(resolveRecipe({ models: expected }).models).toEqual(expected)
  })

  test('are set by a path of either form, below names with dots in none', () => {
    const set = [
      'models.patient.model=p',
      'models.patient.base-url=http://h/v1',
      'models.patient.topP=0.5',
    ]
    expect(models('', ...set)).toEqual({
      patient: { model: 'p', baseUrl: 'http://h/v1', topP: 0.5 },
    })
    expect(
      models(
        'models: { patient: { model: a, base-url: "http://a" } }',
        'models.patient.base-url=http://b',
      ),
    ).toEqual({
      patient: { model: 'a', baseUrl: 'http://b' },
    })
    expect(models('', 'models.doctor={model: d, max-tokens: 5}')).toEqual({
      doctor: { model: 'd', maxTokens: 5 },
    })
  })

  test.each([
    [
      'no model',
      'models: { judge: { temperature: 1 } }',
      /r\.yaml.*models\.judge\.model: expected the name of the model/,
    ],
    [
      'no server',
      'models: { judge: { model: a, base-url: localhost:8000 } }',
      /r\.yaml:1: models\.judge\.baseUrl: expected an http\(s\) base URL.*localhost:8000/,
    ],
    ['an unknown role', 'models: { nurse: { model: a } }', /models\.nurse: unknown key nurse/],
    [
      'a slip',
      'models: { judge: { model: a, temprature: 1 } }',
      /did you mean `models\.judge\.temperature`/,
    ],
    ['a mode', 'models: { cassette: { file: a, mode: loop } }', /models\.cassette\.mode/],
    ['a price', 'models: { prices: { m: { input: -1, output: 1 } } }', /models\.prices\.m\.input/],
    [
      'a patient without a model',
      'env: { patient: free }',
      /models\.patient: expected the model of env\.patient `free`/,
    ],
    [
      'a model for another patient',
      'env: { patient: rule }\nmodels: { patient: { model: a } }',
      /models\.patient: has no effect beside env\.patient `rule`/,
    ],
  ])('with %s are refused, with the place', (_, text, says) => {
    expect(() => models(text)).toThrow(says)
  })

  test.each([
    [
      'its place',
      'models: { judge: { model: a, api-key-env: sk-12-34 } }',
      /models\.judge\.apiKeyEnv: expected the name of an environment variable/,
    ],
    [
      'a key of its own',
      'models: { judge: { model: a, api-key: sk-12-34 } }',
      /models\.judge\.apiKey/,
    ],
  ])('never repeat a key that was put into %s', (_, text, says) => {
    expect(() => models(text)).toThrow(says)
    expect(() => models(text)).not.toThrow(/sk-12-34/)
  })
})
