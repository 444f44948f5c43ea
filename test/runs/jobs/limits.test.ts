/** What is measured before a job: how many patients its trainer may validate on. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { generateCase } from '../../../src/cases/generator/generate.js'
import { loadKnowledge } from '../../../src/knowledge/load.js'
import { jobRecipe } from '../../../src/runs/jobs/job-recipe.js'
import { jobVariables } from '../../../src/runs/jobs/plan.js'
import { jobLimits } from '../../../src/runs/jobs/train-job.js'
import { resolveRecipe } from '../../../src/runs/recipe.js'
import { openTask } from '../../../src/runs/task-of-recipe.js'
import { writeCases } from '../../../src/storage/case-files.js'

test('a trainer validates on no more patients than the file holds out beside the selection', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bedside-limits-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const model = join(folder, 'model')
  cpSync(fileURLToPath(new URL('../../fixtures/tokenizers/chatml', import.meta.url)), model, {
    recursive: true,
  })
  writeFileSync(join(model, 'config.json'), '{"max_position_embeddings": 8192}')
  const knowledge = loadKnowledge()
  const file = join(folder, 'cases.jsonl')
  await writeCases(
    file,
    Array.from({ length: 20 }, (_, n) =>
      generateCase(knowledge, { tier: 'easy', split: 'train', seed: 0, n }),
    ),
  )
  const recipe = resolveRecipe({
    ...{ backend: 'slime', policy: { model, maxTokens: 16 } },
    cases: { file, heldOutShare: 0.5, heldOut: 300 },
    training: { normaliser: 'token-mean', evaluateCases: 300 },
  })
  const job = jobRecipe(recipe, resolve)
  const { task } = await openTask(recipe)
  expect(task.heldOut.length).toBeLessThan(10)
  await expect(jobLimits({ ...job, model: join(folder, 'none') }, task, folder)).rejects.toThrow(
    'hf download',
  )
  const limits = await jobLimits(job, task, join(folder, 'run'))
  expect(limits.validated).toBe(task.heldOut.length)
  const places = { url: 'http://127.0.0.1:8000', tokenFile: 'token', metrics: 'metrics' }
  const { BEDSIDE_EVAL = '' } = jobVariables(job, limits, places)
  expect(JSON.parse(BEDSIDE_EVAL)).toEqual({
    heldout: { split: 'heldout', cases: task.heldOut.length },
  })
})
