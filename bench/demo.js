/** The demo for seeds 0, 1 and 2: held-out accuracy between the random doctor (0) and the oracle (1). */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readRecipe, train } from '../dist/index.js'

const file = new URL('../examples/demo/recipe.yaml', import.meta.url)
for (const seed of [0, 1, 2]) {
  const recipe = await readRecipe(fileURLToPath(file), [`seed=${seed}`])
  const out = mkdtempSync(join(tmpdir(), 'bedside-demo-'))
  const { report } = await train(recipe, { out })
  const { accuracy, floor, ceiling, normalised, episodes } = report.heldOut
  console.log(
    `seed ${seed}: accuracy ${accuracy.mean.toFixed(3)} [${accuracy.ci95.map((end) => end.toFixed(3)).join(', ')}], random ${floor.accuracy.toFixed(3)}, oracle ${ceiling.accuracy.toFixed(3)}, normalised ${normalised.accuracy.toFixed(3)} (target 0.8), n ${episodes}, ${report.timing.seconds.toFixed(1)} s`,
  )
}
