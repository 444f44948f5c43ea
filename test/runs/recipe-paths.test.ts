import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { readRecipe, readStoredRecipe, recipeOfRun } from '../../src/runs/directory.js'
import type { RecipeInput } from '../../src/runs/recipe.js'
import { train } from '../../src/runs/train.js'

const started = process.cwd()
let folder: string
/** The shell's folder is neither the recipe's nor the run's. */
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'bedside-paths-')))
  for (const name of ['shell', 'recipes', 'elsewhere']) await mkdir(join(folder, name))
  process.chdir(join(folder, 'shell'))
})
afterEach(async () => {
  process.chdir(started)
  await rm(folder, { recursive: true })
})

const tiny: RecipeInput = {
  cases: { clinic: ['upper-airway'], heldOut: 4 },
  training: { steps: 2, groupsPerStep: 2, groupSize: 2, evaluateCases: 2, checkpointEvery: 1 },
}
/** Writes a reward that names itself, and a recipe beside it that names the reward. */
async function written(): Promise<string> {
  const reward = join(folder, 'recipes', 'mine.mjs')
  await writeFile(reward, 'export const reward = () => 0.25\n')
  const path = join(folder, 'recipes', 'recipe.yaml')
  await writeFile(path, stringify({ ...tiny, reward: './mine.mjs' }))
  return path
}

describe('paths', () => {
  test('in a recipe file are relative to it, those laid over it to the shell’s folder', async () => {
    const path = join('..', 'recipes', 'all.yaml')
    const agent = { algorithm: 'sft', sft: { agent: 'doctor.mjs' } }
    const text = {
      cases: { file: 'cases.jsonl' },
      env: { patient: 'patients/mine.mjs', exams: ['record', 'exams.mjs'] },
      ...{ reward: '/absolute/reward.mjs', backend: 'sidecar', init: '../runs/x', training: agent },
      policy: { model: 'models/tiny' },
    }
    await writeFile(path, stringify(text))
    const recipe = await readRecipe(path, ['cases.clinic=[a]', 'init=runs/mine'])
    expect(recipe).toMatchObject({
      cases: { file: '../recipes/cases.jsonl' },
      env: { patient: '../recipes/patients/mine.mjs', exams: ['record', '../recipes/exams.mjs'] },
      ...{ reward: '/absolute/reward.mjs', init: 'runs/mine' },
      policy: { model: '../recipes/models/tiny' },
      training: { sft: { agent: '../recipes/doctor.mjs' } },
    })
    expect(recipe.inputs).toBeUndefined()
  })

  test('in a stored run are relative to the run, wherever it is resumed from', async () => {
    const recipe = await readRecipe(await written())
    const out = join('..', 'runs', 'one')
    await train(recipe, { out, onStep: () => 'stop' })
    const config = parse(await readFile(join(out, 'config.yaml'), 'utf8'))
    expect(config.reward).toBe(join(folder, 'recipes', 'mine.mjs'))

    await train({ ...recipe, reward: '../recipes/mine.mjs' }, { out: '../runs/two' })
    const stored = parse(await readFile('../runs/two/config.yaml', 'utf8'))
    expect([stored.reward, stored.inputs[0].file]).toEqual(Array(2).fill('../../recipes/mine.mjs'))
    process.chdir(join(folder, 'elsewhere'))
    const run = join('..', 'runs', 'two')
    const again = await recipeOfRun(run, { trust: true })
    expect(again.reward).toBe('../recipes/mine.mjs')
    const { report } = await train(again, { out: run })
    expect(report.heldOut.reward.mean).toBe(0.25)
  })

  test('of a run that an earlier version stored are relative to the shell’s folder', async () => {
    const recipe = { ...(await readRecipe(await written())), reward: '../recipes/mine.mjs' }
    const out = join(folder, 'runs', 'old')
    await train(recipe, { out, onStep: () => 'stop' })
    const { inputs: _, ...earlier } = { ...recipe, inputs: [] }
    await writeFile(join(out, 'config.yaml'), stringify(earlier))
    expect((await readStoredRecipe(out)).reward).toBe('../recipes/mine.mjs')
    const { report } = await train(recipe, { out })
    expect(report.steps).toBe(2)
  })
})
