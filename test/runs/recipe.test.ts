import { expect, test } from 'vitest'
import { parseRecipe } from '../../src/runs/recipe.js'

test('an empty recipe is the default one, resolved', () => {
  const recipe = parseRecipe('', 'empty.yaml')
  expect(recipe).toMatchObject({
    seed: 0,
    language: 'en',
    backend: 'embedded',
    training: { groupSize: 8 },
  })
  expect(parseRecipe(JSON.stringify(recipe), 'again.yaml')).toEqual(recipe)
})

test('--set overrides a path, its value read as YAML', () => {
  const recipe = parseRecipe('seed: 1', 'r.yaml', [
    'seed=7',
    'training.loss.entropy=0.01',
    'cases.clinic=[bowel]',
  ])
  expect(recipe.seed).toBe(7)
  expect(recipe.training.loss.entropy).toBe(0.01)
  expect(recipe.cases.clinic).toEqual(['bowel'])
})

test.each([
  [
    'an unknown key',
    'seed: 1\ntrainng:\n  steps: 3\n',
    /^r\.yaml:\d+: trainng: unknown key trainng/,
  ],
  [
    'a wrong value',
    'training:\n  steps: many\n',
    /^r\.yaml:2: training\.steps: .*expected number.*got `"many"`/,
  ],
  [
    'a wrong choice',
    'training:\n  advantages: ppo\n',
    /training\.advantages: .*"dr-grpo".*got `"ppo"`/,
  ],
  ['broken YAML', 'seed: [1\n', /^r\.yaml: .*line 2/],
])('%s is refused with file, line, path and value', (_, text, message) => {
  expect(() => parseRecipe(text, 'r.yaml')).toThrow(message)
})

test('a --set without a value is refused', () => {
  expect(() => parseRecipe('', 'r.yaml', ['seed'])).toThrow(
    '--set: expected path=value, got `seed`',
  )
})
