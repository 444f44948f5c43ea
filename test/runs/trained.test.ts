/** What a job has trained, as an agent: its trainer's model folder, or why there is none. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { resolveRecipe } from '../../src/runs/recipe.js'
import { taskOf } from '../../src/runs/task-of-recipe.js'
import { openTrained } from '../../src/runs/trained.js'

const recipe = resolveRecipe({
  cases: { clinic: ['upper-airway'], heldOut: 2 },
  backend: 'verl',
  policy: { model: 'models/none', maxTokens: 8 },
  training: { normaliser: 'token-mean' },
})

test.each([
  [
    'left no weights',
    '{"model": null, "trainer": "/runs/a/checkpoints/trainer"}',
    /got none; .*\/runs\/a/,
  ],
  ['says a folder that is gone', '{"model": "/nowhere", "trainer": "/t"}', /got \/nowhere/],
  ['is no mark of a job', '{"weights": 1}', /model/],
  ['is no JSON', '{', /job\.json/],
])('a job whose checkpoint %s cannot be played, and it is said why', async (_, mark, says) => {
  const checkpoint = await mkdtemp(join(tmpdir(), 'bedside-trained-'))
  onTestFinished(() => rm(checkpoint, { recursive: true }))
  await writeFile(join(checkpoint, 'job.json'), mark)
  const task = await taskOf(recipe)
  await expect(openTrained({ run: checkpoint, checkpoint }, recipe, task)).rejects.toMatchObject({
    name: 'Fault',
    code: 'bad-checkpoint',
    message: expect.stringMatching(says),
  })
})
