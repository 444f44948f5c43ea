import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { questionCase } from '../../src/cases/importers/huatuo.js'
import { evaluateReferences } from '../../src/evaluation/evaluate.js'
import { playCases } from '../../src/evaluation/play-cases.js'
import { loadKnowledge } from '../../src/knowledge/load.js'
import { parseRecipe } from '../../src/runs/recipe.js'
import { taskOf } from '../../src/runs/task-of-recipe.js'
import { writeCases } from '../../src/storage/case-files.js'
import { task } from '../../src/tasks/task.js'
import { firstResampled } from '../../src/trainers/rollouts/group-rollouts.js'

let folder: string
let file: string
const cases = Array.from({ length: 60 }, (_, n) =>
  questionCase(`Patient ${n} is ill. What is it?`, `Disease ${n % 6}`),
)
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bedside-worlds-'))
  file = join(folder, 'questions.jsonl')
  await writeCases(file, cases)
})
afterAll(() => rm(folder, { recursive: true }))

const world = (reward = 'doctor-agent-grpo') =>
  task({ name: 'question', file, reward, seed: 1, heldOutShare: 0.4 })

describe('a world of questions', () => {
  test('has the answers of its training cases as its vocabulary, each once', async () => {
    const { actionSpace, heldOut, train, caseAt, tier, maxTurns } = await world()
    expect(actionSpace.actions).toHaveLength(6)
    expect(actionSpace.actions.every(({ kind }) => kind === 'diagnose')).toBe(true)
    expect(heldOut.length + train(100).length).toBe(60)
    expect(train(1)[0]).toBe(caseAt(0))
    expect([tier, maxTurns]).toEqual(['imported', 1])
  })

  test('gives its training cases in turn, and to dynamic sampling from the end', async () => {
    const { train, caseAt } = await world()
    const all = train(60)
    const numbers = Array.from({ length: all.length + 1 }, (_, n) => n)
    expect(numbers.map(caseAt)).toEqual([...all, all[0]])
    const last = all.toReversed()
    expect(numbers.map((n) => caseAt(firstResampled + n))).toEqual([...last, last[0]])
  })

  test('has a floor that draws an answer by its seed and a ceiling that gives the reference', async () => {
    const { heldOut, makeEnv, measures, floor, ceiling, agents } = await world()
    const references = await evaluateReferences({ heldOut, makeEnv, measures, floor, ceiling })
    expect(ceiling.name).toBe('reference')
    expect(references.ceiling).toMatchObject({ accuracy: 1, reward: 1 })
    expect(references.floor.accuracy).toBeLessThan(0.6)
    // A wrong answer in the whole form is worth .3.
    expect(references.floor.reward).toBeCloseTo(0.3 + 0.7 * (references.floor.accuracy ?? 0), 10)
    expect(references.bound).toBeUndefined()
    // Behind them are those that other tests registered.
    expect(Object.keys(agents).slice(0, 2)).toEqual(['random', 'reference'])
    const drawn = new Set<string>()
    const env = makeEnv()
    const { observation } = await env.reset({ options: { case: heldOut[0] } })
    for (let seed = 0; seed < 60; seed++)
      drawn.add(JSON.stringify((await floor(observation, { seed })).action))
    expect(drawn.size).toBe(6)
    expect(await floor(observation, { seed: 7 })).toEqual(await floor(observation, { seed: 7 }))
  })

  test('is right where the rule says so, aliases of the knowledge base among it', async () => {
    const [disease] = loadKnowledge().diseases.filter(({ aliases }) => aliases.en.length > 0)
    const path = join(folder, 'aliases.jsonl')
    await writeCases(path, [
      questionCase('Who is ill?', disease!.name.en),
      ...cases.map((truth) => ({ ...truth, id: `${truth.id}-again` })),
    ])
    const { makeEnv, measures, heldOut } = await task({
      ...{ name: 'question', file: path, reward: 'verified-answer', whole: true },
    })
    const diagnosis = `The answer is ${disease!.aliases.en[0]}.`
    const [played] = await playCases({
      ...{ cases: heldOut.slice(0, 1), makeEnv, measures, agentName: 'mine' },
      agent: () => ({ action: { kind: 'diagnose', diagnosis } }),
    })
    expect(played?.scores?.accuracy.total).toBe(1)
    expect(played?.scores?.reward.total).toBe(1)
  })

  test('is what a recipe asks for by name', async () => {
    const recipe = parseRecipe(
      `{ env: { name: question }, cases: { file: ${JSON.stringify(file)}, heldOutShare: 0.4, heldOut: 5 } }`,
      'a recipe',
    )
    const { ceiling, heldOut } = await taskOf(recipe)
    expect([ceiling.name, heldOut.length]).toEqual(['reference', 5])
  })

  test('needs a file with cases for both splits', async () => {
    await expect(task({ name: 'question' })).rejects.toMatchObject({
      code: 'bad-input',
      message: expect.stringContaining('cases.file: expected a file of questions'),
    })
    const single = join(folder, 'single.jsonl')
    await writeFile(single, `${JSON.stringify(cases[0])}\n`)
    await expect(task({ name: 'question', file: single })).rejects.toMatchObject({
      code: 'bad-input',
      message: expect.stringContaining('expected enough cases'),
    })
  })
  test('names the seed that is beyond 32 bits', async () => {
    for (const key of ['seed', 'splitSeed'])
      await expect(task({ name: 'question', file, [key]: 2 ** 32 })).rejects.toThrow(
        new RangeError(
          `Expected \`${key}\` to be an integer from 0 to 4294967295, got \`4294967296\``,
        ),
      )
  })

  test('names the share of held-out cases as the caller does where it is none', async () => {
    await expect(task({ name: 'question', file, heldOutShare: 1 })).rejects.toThrow(
      new RangeError('Expected `heldOutShare` to be between 0 and 1, got `1`'),
    )
  })
})
