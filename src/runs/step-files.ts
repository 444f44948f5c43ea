/** Episodes and token trajectories of a training step, in a run directory. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { graderView } from '../case.js'
import type { SavedEpisode } from '../storage/episode-files.js'
import { episodeTrajectories, type Trajectory } from '../trainers/trajectories/trajectory.js'
import { trajectoryWriter } from '../trainers/trajectories/writer.js'
import { checkpointName } from './directory.js'
import type { TrainingStep } from './loops.js'
import type { RunDirectory } from './open-directory.js'

/** An episode of a step, and the tokens that were learned from it. */
interface KeptEpisode {
  readonly saved: SavedEpisode
  readonly trajectories: readonly Trajectory[]
}

/** Episodes of a step that forms groups (GRPO). */
function* groupEpisodes({ step, groups = [], cases = [] }: TrainingStep): Generator<KeptEpisode> {
  for (const [g, { id, episodes, scores, advantages }] of groups.entries())
    for (const [i, episode] of episodes.entries()) {
      const [truth, score] = [cases[g], scores[i]]
      if (!truth || !score) continue
      const one = { groupId: id, advantage: advantages[i] ?? 0, step, score }
      yield {
        saved: { episode, truth: graderView(truth), score, group: id, step },
        trajectories: episodeTrajectories(episode, one),
      }
    }
}

/** Episodes of a step without groups, whose tokens have an advantage each (PPO). */
function* singleEpisodes(made: TrainingStep): Generator<KeptEpisode> {
  const { step, episodes = [], scores = [], cases = [], segments = [] } = made
  for (const [i, episode] of episodes.entries()) {
    const [truth, score] = [cases[i], scores[i]]
    // Demonstrations (SFT) have neither: they were not played by the policy.
    if (!truth || !score) continue
    const { caseId, agent, seed } = episode
    const own = segments.filter(({ rolloutId }) => rolloutId === episode.id)
    const count = own.length
    yield {
      saved: { episode, truth: graderView(truth), score, step },
      trajectories: own.map((segment, index) => ({
        ...{ segment, index, count, caseId, agent, seed, step, score },
      })),
    }
  }
}

/** Saves the episodes that the policy played in a step, and their token trajectories; writes nothing without any. */
export async function saveStep(directory: RunDirectory, made: TrainingStep): Promise<void> {
  const kept = [...(made.groups ? groupEpisodes(made) : singleEpisodes(made))]
  if (kept.length === 0) return
  const name = checkpointName(made.step)
  const folder = join(directory.path, 'trajectories')
  await directory.saveEpisodes(
    name,
    kept.map(({ saved }) => saved),
  )
  await mkdir(folder, { recursive: true })
  await using writer = trajectoryWriter(join(folder, `${name}.parquet`))
  for (const { trajectories } of kept) await writer.append(trajectories)
  await writer.close()
}
