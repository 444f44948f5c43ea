/** Rollouts: `rollout` plays an env to the end with an agent; `play` plays and scores one case. */
import { type Agent, type AnyAgent, agentFor, type Move } from './agent.js'
import { type Case, graderView } from './case.js'
import { withAccount } from './chats/account.js'
import { type Env, ended } from './env.js'
import { type Draw, type Episode, type EpisodeTurn, encodeDraw } from './episode.js'
import { type Fault, isEpisodeFault, rethrowAsFault } from './error.js'
import { type RewardSet, type ScoresOf, scoreEpisode } from './reward.js'
import { assertSeed, type EpisodeSeeds } from './seed.js'

/** Options of {@link rollout}. */
export interface RolloutOptions {
  /** Env seed: case, patient, noise. Siblings share it. @default 0 */
  readonly seed?: number
  /** Seed of the agent's own draws. Siblings differ in it. @default seed */
  readonly agentSeed?: number
  /** Passed to `env.reset`. */
  readonly options?: object
  /** @default 'agent' */
  readonly agentName?: string
  /** The episode's id. @default `caseId/seed/agentSeed` */
  readonly id?: string
  readonly signal?: AbortSignal | undefined
}

/** The doctor's reply of a turn, as the episode keeps it. */
interface WrittenReply {
  readonly text?: string
  readonly draw?: Draw
}

function writtenReply(
  { text, sample }: Move,
  earlier: readonly WrittenReply[],
  name: string,
): WrittenReply {
  const draws = earlier.flatMap(({ draw }) => draw ?? [])
  return {
    ...(text === undefined ? {} : { text }),
    ...(sample ? { draw: encodeDraw(draws, 'doctor', sample, name) } : {}),
  }
}

/** The doctor spoke before anybody answered. */
const withReply = (turn: EpisodeTurn, { draw, ...reply }: WrittenReply = {}): EpisodeTurn => ({
  ...turn,
  ...reply,
  ...(draw ? { draws: [draw, ...(turn.draws ?? [])] } : {}),
})

/**
 * Plays one episode.
 * @throws Fault if the patient, an examination or the agent failed: there is no episode then; RangeError for a seed that
 *   is not an unsigned 32-bit integer
 */
export async function rollout(
  env: Env,
  agent: Agent,
  { seed = 0, agentSeed = seed, options, agentName = 'agent', id, signal }: RolloutOptions = {},
): Promise<Episode> {
  assertSeed('seed', seed)
  assertSeed('agentSeed', agentSeed)
  const written: WrittenReply[] = []
  let memory: unknown
  const start = { seed, signal, ...(options === undefined ? {} : { options }) }
  let { observation } = await env.reset(start)
  for (;;) {
    signal?.throwIfAborted()
    const seen = observation
    const move = await rethrowAsFault('component-failed', agentName, async () => {
      const given: unknown = await agent(seen, { seed: agentSeed, memory, signal })
      if (typeof given === 'object' && given !== null && 'action' in given) return given as Move
      throw new TypeError(`Expected a move (an object with an \`action\`), got \`${given}\``)
    })
    memory = move.memory
    written.push(writtenReply(move, written, agentName))
    const step = await env.step(move.action, { signal })
    observation = step.observation
    if (!ended(step)) continue
    const { episode } = step.info
    if (!episode) throw new TypeError('Expected the last step to carry `info.episode`, got none')
    return {
      ...episode,
      id: id ?? `${episode.caseId}/${seed}/${agentSeed}`,
      agent: agentName,
      turns: episode.turns.map((turn, t) => withReply(turn, written[t])),
    }
  }
}

/** Options of {@link play}. */
export interface PlayCaseOptions<Rewards extends RewardSet> {
  /** Makes the env of this episode; it is disposed of after scoring. */
  readonly makeEnv: () => Env
  readonly agent: AnyAgent
  readonly agentName: string
  readonly seeds: EpisodeSeeds
  /** Rewards by name, run one after another in this order; `{}` for the episode alone. */
  readonly rewards: Rewards
  /** The episode's id. @default `caseId/envSeed/agentSeed` */
  readonly id?: string
  /** The training step, for rewards that change as training goes on. */
  readonly step?: number
  readonly signal?: AbortSignal | undefined
}

/** An episode and its scores, by reward name. */
export interface ScoredEpisode<Rewards extends RewardSet> {
  readonly episode: Episode
  readonly scores: ScoresOf<Rewards>
}

/**
 * Plays one case in an env of its own and scores the episode with the grader's view of the case.
 * @returns the episode and its scores; or the Fault of this one world (patient, exams, agent or reward), which the
 *   caller leaves out and counts: `Fault.is` tells them apart
 * @throws errors that end more than one episode: an abort, a lost backend, a program error
 */
export async function play<Rewards extends RewardSet>(
  truth: Case,
  { makeEnv, agent, agentName, seeds, rewards, id, step, signal }: PlayCaseOptions<Rewards>,
): Promise<ScoredEpisode<Rewards> | Fault> {
  signal?.throwIfAborted()
  await using env = makeEnv()
  try {
    const { result, usage } = await withAccount(async () => {
      const episode = await rollout(env, agentFor(agent, truth), {
        seed: seeds.envSeed,
        agentSeed: seeds.agentSeed,
        options: { case: truth },
        agentName,
        ...(id === undefined ? {} : { id }),
        signal,
      })
      const scores = await scoreEpisode(episode, graderView(truth), rewards, { signal, step })
      return { episode, scores }
    })
    if (Object.keys(usage).length === 0) return result
    return { ...result, episode: { ...result.episode, usage } }
  } catch (error) {
    if (!isEpisodeFault(error) || signal?.aborted) throw error
    return error
  }
}
