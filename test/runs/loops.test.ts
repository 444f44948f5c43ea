import { describe, expect, test } from 'vitest'
import { advantageNames } from '../../src/group.js'
import { adamSchedule, lossOn } from '../../src/runs/loops.js'
import { Recipe } from '../../src/runs/recipe.js'
import { openTask } from '../../src/runs/task-of-recipe.js'
import { namedAdvantages } from '../../src/trainers/advantages/method.js'

const recipeOf = (value: object): Recipe => Recipe.parse(value)

test('every estimator a recipe can name pays the better more, and all but pass@k centre a group', () => {
  for (const name of advantageNames) {
    const advantages = namedAdvantages(name)
    expect(advantages.per === 'greedy').toBe(name === 'remax')
    if (advantages.per === 'greedy') continue
    const group = { totals: [1, 0, 0.5], parts: [{ a: 1 }, { a: 0 }, { a: 0.5 }] }
    const [got] =
      advantages.per === 'batch' ? advantages.estimate([group]) : [advantages.estimate([1, 0, 0.5])]
    // Pass@k is the best one's lead.
    if (name === 'pass-k') expect(got).toEqual([expect.closeTo(1, 5), 0, 0])
    else expect(Math.abs(got!.reduce((sum, one) => sum + one, 0))).toBeLessThan(1e-6)
    expect(got![0]).toBeGreaterThan(got![1]!)
  }
})

test('estimators that compare with no sibling teach groups of equal totals', () => {
  const elsewhere = advantageNames.filter((name) => {
    const advantages = namedAdvantages(name)
    return advantages.per !== 'greedy' && advantages.baseline === 'elsewhere'
  })
  expect(elsewhere).toEqual(['reinforce-plus-plus', 'gdpo'])
})

test('a sampler of 16 bits is corrected for, unless the recipe says how', () => {
  const { loss } = Object(recipeOf({ training: {} }).training)
  const on = (coarse: boolean, correction: boolean, given = loss) =>
    lossOn(given, {
      capabilities: { losses: [], normalisers: [], entropy: true, exports: [], coarse, correction },
    })
  const truncated = { level: 'token', mode: 'truncate', min: 0, max: 2 }
  expect(on(true, true)).toEqual({ ...loss, correction: truncated })
  expect(on(false, true)).toBe(loss)
  expect(on(true, false)).toBe(loss)
  const own = { ...loss, correction: { ...truncated, max: 5 } }
  expect(on(true, true, own)).toBe(own)
})

test('the optimiser has the settings of a recipe and the rate of a step', () => {
  const { training } = recipeOf({
    training: { steps: 10, adam: { learningRate: 0.2, maxGradNorm: 3, decay: 'linear' } },
  })
  const at = adamSchedule(training)
  expect(at(1)).toEqual({
    ...{ learningRate: 0.2, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 },
    ...{ weightDecay: 0, maxGradNorm: 3 },
  })
  expect(at(6).learningRate).toBeCloseTo(0.1, 12)
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
    const { task, curriculum: course } = await openTask(recipe)
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

  test('plays shorter consultations first, of the same patients', async () => {
    const short = recipeOf({
      cases: { clinic: ['headache'], curriculum: [{ maxTurns: 1, steps: 2 }], heldOut: 4 },
    })
    const { curriculum: course, task } = await openTask(short)
    const turnsAt = async (step: number) => {
      await using env = course.makeEnv(step)
      const options = { case: course.caseAt(0, step) }
      return (await env.reset({ seed: 0, options })).observation.turnsLeft
    }
    expect([await turnsAt(2), await turnsAt(3)]).toEqual([1, task.maxTurns])
    expect(course.caseAt(0, 1).id).toBe(course.caseAt(0, 3).id)
  })
})
