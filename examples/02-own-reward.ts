/** A reward of your own, run over episodes that were saved earlier: no patient, no model, no rollout. */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { graderView, rollout, task } from 'bedside'
import { episodeWriter, readSavedEpisodes } from 'bedside/evaluation'
import { diagnosisAccuracy, multiply } from 'bedside/rewards'

const file = join(tmpdir(), `episodes-${process.pid}.jsonl`)
const { heldOut, makeEnv, ceiling } = await task({ tier: 'easy', heldOut: 50 })
const writer = episodeWriter(file)
for (const truth of heldOut) {
  const episode = await rollout(makeEnv(), ceiling.agent, { options: { case: truth } })
  await writer.write({ episode, truth: graderView(truth) })
}
await writer.close()

// An additive bonus for brevity would pay a doctor who gives up at once.
const reward = multiply(
  diagnosisAccuracy(),
  (episode) => 1 - (0.5 * episode.turns.length) / episode.maxTurns,
)

let sum = 0
let count = 0
for await (const { episode, truth } of readSavedEpisodes(file)) {
  const { total } = await reward(episode, truth)
  if (total === null) continue
  sum += total
  count += 1
}
console.log(`mean reward ${(sum / count).toFixed(3)} over ${count} saved episodes`)
