/** Batches of the small world: what the embedded backend's tests train on. */
import type { Backend } from '../../../src/backend.js'
import type { CriticTargets, TokenSegment, TrainBatch } from '../../../src/batch.js'
import { makeNormaliser } from '../../../src/batch.js'
import type { Episode } from '../../../src/episode.js'
import { episodeSegments } from '../../../src/trainers/batches/segments.js'
import { consult, right } from './play.js'

/** Patients 0 to `count` - 1, played by the policy of this moment. */
export const played = (
  backend: Backend,
  count: number,
  { seed = 0, temperature = 1 }: { readonly seed?: number; readonly temperature?: number } = {},
): Promise<Episode[]> => {
  const agent = backend.sampler({ temperature })
  return Promise.all(Array.from({ length: count }, (_, n) => consult(agent, n, seed * 1000 + n)))
}

export const segmentsOf = (
  episodes: readonly Episode[],
  advantage: (episode: Episode, n: number) => number = (episode) => right(episode) - 0.4,
): TokenSegment[] =>
  episodes.flatMap((episode, n) => episodeSegments(episode, advantage(episode, n), 'g').segments)

/** A batch for the backend's version, with or without something for its critic. */
export const batchOf = (
  { policyVersion }: Backend,
  segments: readonly TokenSegment[],
  critic?: CriticTargets,
): TrainBatch => ({
  step: 1,
  policyVersion,
  segments,
  normaliser: makeNormaliser('token-mean', segments),
  loss: { kind: 'ppo-clip', low: 0.2, high: 0.28, entropy: 0.01 },
  adam: { learningRate: 0.1, maxGradNorm: 0.5 },
  ...(critic ? { critic } : {}),
})

/** For every drawn token the same return, whether the episode came out right. */
export const targetsOf = (
  segments: readonly TokenSegment[],
  episodes: readonly Episode[],
  over: Partial<CriticTargets> = {},
): CriticTargets => {
  const outcome = new Map(episodes.map((episode) => [episode.id, right(episode)]))
  return {
    returns: segments.map(({ mask, rolloutId }) =>
      Float32Array.from(mask, (drawn) => drawn * (outcome.get(rolloutId) ?? Number.NaN)),
    ),
    oldValues: segments.map(({ mask }) => new Float32Array(mask.length)),
    coefficient: 1,
    adam: { learningRate: 0.05 },
    ...over,
  }
}

/** Some on-policy steps, so that there are weights to speak of. */
export async function train(backend: Backend, steps: number): Promise<void> {
  for (let step = 0; step < steps; step++)
    await backend.step(batchOf(backend, segmentsOf(await played(backend, 6, { seed: step }))))
}
