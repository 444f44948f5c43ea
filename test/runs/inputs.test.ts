import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { readStoredRecipe } from '../../src/runs/directory.js'
import type { RecipeInput } from '../../src/runs/recipe.js'
import { train } from '../../src/runs/train.js'
import { writeCases } from '../../src/storage/case-files.js'
import { task } from '../../src/tasks/task.js'
import { bedside } from '../cli/terminal.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bedside-inputs-'))
})
afterAll(() => rm(folder, { recursive: true }))

const { train: drawCases, heldOut } = await task({ clinic: ['upper-airway'], heldOut: 4 })
const casesFrom = (first: number) => [...drawCases(first + 40).slice(first), ...heldOut]
const sha256 = async (path: string) =>
  createHash('sha256')
    .update(await readFile(path))
    .digest('hex')
const small: NonNullable<RecipeInput['training']> = {
  ...{ steps: 3, groupsPerStep: 2, groupSize: 2, evaluateCases: 2, checkpointEvery: 1 },
}

test('a run goes on only with the files it was begun with, or with others that are accepted', async () => {
  const [file, reward] = [join(folder, 'cases.jsonl'), join(folder, 'reward.mjs')]
  await writeCases(file, casesFrom(0))
  await writeFile(reward, 'export const reward = () => 0.5\n')
  const recipe = { cases: { file }, reward, training: small }
  const out = join(folder, 'run')
  await train(recipe, { out, onStep: () => 'stop' })
  const config = async () => parse(await readFile(join(out, 'config.yaml'), 'utf8'))
  const before = [
    { file, sha256: await sha256(file) },
    { file: reward, sha256: await sha256(reward) },
  ]
  expect((await config()).inputs).toEqual(before)

  await writeCases(file, casesFrom(1000))
  await writeFile(reward, 'export const reward = () => 0.75\n')
  const now = [await sha256(file), await sha256(reward)]
  await expect(train(recipe, { out })).rejects.toMatchObject({ code: 'bad-input' })
  const refused = await bedside(['train', '--resume', out, '--trust'])
  expect(refused.code).toBe(2)
  for (const [i, { file: path, sha256: hash }] of before.entries())
    expect(refused.stderr).toContain(`${path}: expected sha256 ${hash}, got ${now[i]}`)
  expect(refused.stderr).toMatch(/another --out.*--accept-changes/)

  const accepted = await bedside(['train', '--resume', out, '--trust', '--accept-changes'])
  expect([accepted.code, accepted.stderr]).toEqual([0, expect.any(String)])
  expect((await config()).inputs.map((one: { sha256: string }) => one.sha256)).toEqual(now)
  await train(await readStoredRecipe(out), { out })
})

test('a stored recipe that is trained into another directory begins with the files of today', async () => {
  const reward = join(folder, 'today.mjs')
  await writeFile(reward, 'export const reward = () => 0.5\n')
  const cases = { clinic: ['upper-airway'], heldOut: 4 }
  const out = join(folder, 'yesterday')
  const recipe = { cases, reward, training: { ...small, steps: 1 } }
  await train(recipe, { out })
  await writeFile(reward, 'export const reward = () => 0.75\n')
  await train(await readStoredRecipe(out), { out: join(folder, 'today') })
  expect((await readStoredRecipe(join(folder, 'today'))).inputs?.[0]?.sha256).toBe(
    await sha256(reward),
  )
})

test('demonstrations are held to their hash too, in a folder as in a file', async () => {
  const cases = { clinic: ['upper-airway'], heldOut: 4 }
  const played = join(folder, 'played')
  await train({ cases, training: { ...small, steps: 1 } }, { out: played })
  const demonstrations = join(played, 'episodes')
  const out = join(folder, 'sft')
  const recipe: RecipeInput = {
    cases,
    training: { algorithm: 'sft', steps: 2, evaluateCases: 2, sft: { demonstrations } },
  }
  await train(recipe, { out, onStep: () => 'stop' })
  const stored = parse(await readFile(join(out, 'config.yaml'), 'utf8'))
  expect(stored.inputs.map((one: { file: string }) => one.file)).toEqual([demonstrations])
  await writeFile(join(demonstrations, 'more.jsonl'), '')
  await expect(train(recipe, { out })).rejects.toThrow(`${demonstrations}: expected sha256`)
  // A run that stored no hashes is of an earlier version, and goes on.
  const { inputs: _, ...old } = stored
  await writeFile(join(out, 'config.yaml'), stringify(old))
  await rm(join(demonstrations, 'more.jsonl'))
  await train(recipe, { out })
})
