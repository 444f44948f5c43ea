import { describe, expect, test } from 'vitest'
import { objectiveKinds } from '../../src/batch.js'
import { advantageNames } from '../../src/group.js'
import { courseOf, estimatorOf, lossOf } from '../../src/runs/loop-options.js'
import { Recipe } from '../../src/runs/recipe.js'
import { taskOf } from '../../src/runs/task-of-recipe.js'

const recipeOf = (value: object): Recipe => Recipe.parse(value)
const trainingOf = (training: object) => recipeOf({ training }).training

describe('the loss of a recipe', () => {
  test('has the constants of its kind, and no other', () => {
    const plain = { entropy: 0 }
    const bounds = { low: 0.2, high: 0.28 }
    const losses = Object.fromEntries(
      objectiveKinds.map((kind) => [kind, lossOf(trainingOf({ loss: { kind } }))]),
    )
    expect(losses).toEqual({
      'policy-gradient': { kind: 'policy-gradient', ...plain },
      'importance-sampling': { kind: 'importance-sampling', ...plain },
      'cross-entropy': { kind: 'cross-entropy', ...plain },
      'ppo-clip': { kind: 'ppo-clip', ...bounds, ...plain },
      cispo: { kind: 'cispo', ...bounds, ...plain },
      gspo: { kind: 'gspo', ...bounds, ...plain },
      sapo: { kind: 'sapo', tauPositive: 1, tauNegative: 1.05, ...plain },
    })
  })

  test('has its penalty and its correction', () => {
    const loss = lossOf(
      trainingOf({ loss: { dual: 3, kl: { coefficient: 0.1 }, correction: { max: 2 } } }),
    )
    expect(loss).toEqual({
      ...{ kind: 'ppo-clip', low: 0.2, high: 0.28, dual: 3, entropy: 0 },
      kl: { estimator: 'k3', coefficient: 0.1 },
      correction: { level: 'token', mode: 'truncate', min: 0, max: 2 },
    })
  })
})

test('every estimator a recipe can name centres a group', () => {
  for (const advantages of advantageNames) {
    const { estimator, together, greedy } = estimatorOf(trainingOf({ advantages }))
    const group = { totals: [1, 0, 0.5], parts: [{ a: 1 }, { a: 0 }, { a: 0.5 }] }
    const [got] = together ? together([group]) : [estimator([1, 0, 0.5])]
    expect(Math.abs(got!.reduce((sum, one) => sum + one, 0))).toBeLessThan(1e-6)
    expect(got![0]).toBeGreaterThan(got![1]!)
    expect(greedy === true).toBe(advantages === 'remax')
  }
})

describe('the course of a recipe', () => {
  const recipe = recipeOf({
    cases: {
      clinic: ['headache'],
      tier: 'standard',
      curriculum: [{ tier: 'easy', steps: 2 }],
      heldOut: 4,
    },
  })

  test('draws from easier tiers first', async () => {
    const task = await taskOf(recipe)
    const course = await courseOf(recipe, task)
    const tierAt = (step: number) => course.caseAt(0, step).difficulty?.tier
    expect([1, 2, 3, 9].map(tierAt)).toEqual(['easy', 'easy', 'standard', 'standard'])
    const turnsAt = async (step: number) => {
      await using env = course.makeEnv(step)
      const { observation } = await env.reset({
        seed: 0,
        options: { case: course.caseAt(0, step) },
      })
      return observation.turnsLeft
    }
    expect(await turnsAt(1)).toBeLessThan(await turnsAt(3))
    expect(course.maxTurns).toBe(task.maxTurns)
  })
})
