/** The one verb: an agent plays an env to the end, and what happened is an episode. */
import type { Agent } from './agent.js'
import type { Env } from './env.js'
import { ended } from './env.js'
import type { Episode, EpisodeTurn } from './episode.js'
import { boundary } from './error.js'

export interface RolloutOptions {
  /** Seeds the env: case, patient, noise. Siblings share it. @default 0 */
  readonly seed?: number
  /** Seeds the agent's own draws. Siblings differ in it. @default seed */
  readonly agentSeed?: number
  /** Passed to `env.reset`. */
  readonly options?: object
  readonly agentName?: string
  readonly id?: string
  readonly signal?: AbortSignal | undefined
}

/**
 * Plays one episode.
 * @throws Fault when the patient, an examination or the agent failed: there is no episode then
 */
export async function rollout(
  env: Env,
  agent: Agent,
  { seed = 0, agentSeed = seed, options, agentName = 'agent', id, signal }: RolloutOptions = {},
): Promise<Episode> {
  const written: Pick<EpisodeTurn, 'text' | 'sample'>[] = []
  let { observation } = await env.reset(options === undefined ? { seed } : { seed, options })
  for (;;) {
    signal?.throwIfAborted()
    const seen = observation
    const move = await boundary('component-failed', agentName, () =>
      agent(seen, { seed: agentSeed, signal }),
    )
    const { text, sample } = move
    written.push({ ...(text === undefined ? {} : { text }), ...(sample ? { sample } : {}) })
    const step = await env.step(move.action, signal ? { signal } : {})
    observation = step.observation
    if (!ended(step)) continue
    const { episode } = step.info
    if (!episode) throw new TypeError('Expected the last step to carry `info.episode`, got none')
    return {
      ...episode,
      id: id ?? `${episode.caseId}/${seed}/${agentSeed}`,
      agent: agentName,
      turns: episode.turns.map((turn, t) => ({ ...turn, ...written[t] })),
    }
  }
}
