/** Every recipe that is shipped is one, and those of jobs become a trainer's whole command. */
import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { readRecipe } from '../../src/runs/directory.js'
import { isJobBackend } from '../../src/runs/jobs/cluster.js'
import { jobRecipe } from '../../src/runs/jobs/job-recipe.js'
import { jobCommand, standInCommand } from '../../src/runs/jobs/plan.js'

const recipes = readdirSync('examples', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => `examples/${name}`)
const limits = {
  out: '/runs/a',
  contextLength: 8192,
  promptLength: 1024,
  maxTurns: 10,
  validated: 64,
}

test.each(recipes)('%s', async (path) => {
  const recipe = await readRecipe(
    path,
    path.includes('gpu-check') ? ['policy.model=models/check'] : [],
  )
  if (!isJobBackend(recipe.backend)) return
  const job = jobRecipe(recipe, resolve)
  const command = jobCommand(job, limits).join(' ')
  expect(command).toContain(recipe.policy?.model)
  const { groupSize } = job.training
  expect(command).toContain(
    recipe.backend === 'slime' ? `--n-samples-per-prompt ${groupSize}` : `rollout.n=${groupSize}`,
  )
  expect(standInCommand(job, limits, 'python3').join(' ')).toContain(
    `bedside_trainers.${recipe.backend}.stand_in`,
  )
})

test('each of the five systems has a recipe for one GPU, for eight and for Unsloth', () => {
  for (const system of ['takes-two', 'doctoragent-rl', 'diagagent', 'grpodx', 'doctor-agent'])
    for (const size of ['1gpu', '8gpu', 'unsloth'])
      expect(recipes).toContain(`examples/${system}/doctor-${size}.yaml`)
})
