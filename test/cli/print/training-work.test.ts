/** How the work of a training run spreads over the steps of a curriculum. */
import { expect, test } from 'vitest'
import { trainingWork } from '../../../src/cli/print/training-work.js'
import { resolveRecipe } from '../../../src/runs/recipe.js'

test('steps of one task are alike', () => {
  expect(trainingWork(resolveRecipe({}))).toBeUndefined()
})

test('a step counts as the turns that are played in it', () => {
  const curriculum = [
    { maxTurns: 1, steps: 100 },
    { tier: 'easy' as const, steps: 10 },
  ]
  const work = trainingWork(resolveRecipe({ cases: { tier: 'standard', curriculum } }))
  expect([0, 50, 100, 110, 120].map((steps) => work?.(steps))).toEqual([
    ...[0, 50, 100],
    ...[100 + 10 * (20 / 3), 200 + 10 * (20 / 3)].map((one) => expect.closeTo(one, 9)),
  ])
})
