/**
 * Endings: other diagnoses drawn where a consultation concluded. Siblings branch at its last turn and share all before it,
 * so that one consultation teaches what many answers to it are worth (Monte Carlo values at a branch, as in VinePO,
 * Kazemnejad et al. 2024).
 */
import type { Agent, Move } from '../../agent.js'
import { graderView } from '../../case.js'
import type { Observation } from '../../env.js'
import type { Draw, Episode } from '../../episode.js'
import { encodeDraw } from '../../episode.js'
import { Fault } from '../../error.js'
import { scoreEpisode } from '../../reward.js'
import { fork, groupSeeds } from '../../seed.js'
import {
  type GroupMember,
  type PlayOptions,
  playMember,
  type RolloutJob,
} from './group-rollouts.js'

/** An agent that remembers the last observation it was shown. */
function watched(agent: Agent): {
  readonly agent: Agent
  readonly last: () => Observation | undefined
} {
  let seen: Observation | undefined
  return {
    agent: (observation, context) => {
      seen = observation
      return agent(observation, context)
    },
    last: () => seen,
  }
}

const endingMark = '/ending-'

/** Whether an episode is an ending of another, which has the turns before it. */
export const isEnding = ({ id }: Episode): boolean => id.includes(endingMark)

/** The episode with another last move, of which alone the draw is kept. */
function withEnding(episode: Episode, { action, sample, text }: Move, id: string): Episode {
  const turns = episode.turns.map(({ draws: _, ...turn }) => turn)
  const last = turns.at(-1)
  if (!last || !sample)
    throw new TypeError(`Expected a drawn move to end ${episode.id} with, got none`)
  const draws: Draw[] = [encodeDraw([], 'doctor', sample, episode.agent)]
  const ending = { ...last, action, ...(text === undefined ? {} : { text }), draws }
  return { ...episode, id, turns: [...turns.slice(0, -1), ending] }
}

/** The episode without the draw of its last move, which its endings learn from. */
const withoutLastDraw = (episode: Episode): Episode => ({
  ...episode,
  turns: episode.turns.map((turn, t) => {
    if (t < episode.turns.length - 1) return turn
    const { draws: _, ...rest } = turn
    return rest
  }),
})

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

/** Draws the endings of a consultation: the diagnoses among `count` moves, at the observation it concluded at. */
async function drawEndings(
  { episode }: GroupMember,
  agent: Agent,
  observation: Observation,
  { seed, count, signal }: { seed: number; count: number; signal: AbortSignal | undefined },
): Promise<Episode[]> {
  const endings: Episode[] = []
  for (let n = 0; n < count; n++) {
    const move = await agent(observation, { seed: fork(seed, 'ending', n), signal })
    if (move.action.kind === 'diagnose')
      endings.push(withEnding(episode, move, `${episode.id}${endingMark}${n}`))
  }
  return endings
}

/** Draws and scores the endings of a member that concluded. */
async function playEndings(
  member: GroupMember,
  { agent, observation, seed, count, step }: Branching & { readonly observation: Observation },
  { reward, accuracy, signal }: Pick<PlayOptions, 'reward' | 'accuracy' | 'signal'>,
): Promise<GroupMember[]> {
  const { truth, place } = member
  const endings = await drawEndings(member, agent, observation, { seed, count, signal })
  const branches: GroupMember[] = []
  for (const episode of endings) {
    const rewards = { reward, accuracy }
    const scores = await scoreEpisode(episode, graderView(truth), rewards, { signal, step })
    branches.push({ place, truth, episode, score: scores.reward, right: scores.accuracy.total })
  }
  return branches
}

/** How a member is branched. */
interface Branching {
  readonly agent: Agent
  /** Seed of the member's agent: its endings are keyed by it. */
  readonly seed: number
  readonly count: number
  readonly step: number
}

/**
 * Branches a member at its conclusion: the consultation up to it, with the mean total of its endings, and one member per
 * ending, of which only the last move learns. Every ending is closed without an answer, so that the env need not play
 * the consultation again. A consultation that reached no diagnosis, or has no total, stays as it is.
 */
async function branchEndings(
  member: GroupMember,
  branching: Branching & { readonly observation: Observation | undefined },
  options: Pick<PlayOptions, 'reward' | 'accuracy' | 'signal'>,
): Promise<GroupMember[]> {
  const { episode, score } = member
  const { observation } = branching
  if (!observation || episode.stop !== 'diagnosed' || score.total === null) return [member]
  const branches = await playEndings(member, { ...branching, observation }, options)
  const totals = branches.flatMap((branch) => branch.score.total ?? [])
  if (totals.length === 0) return [member]
  const right = branches.flatMap((branch) => branch.right ?? [])
  const trunk: GroupMember = {
    ...member,
    episode: withoutLastDraw(episode),
    score: { total: mean(totals), parts: score.parts },
    right: right.length > 0 ? mean(right) : null,
  }
  return [trunk, ...branches]
}

/** Plays and scores one member and branches it at its conclusion; returns the fault if its world failed. */
export async function playBranches(
  options: PlayOptions,
  { agent, name }: { readonly agent: Agent; readonly name: string },
  job: RolloutJob,
  count: number,
): Promise<readonly (GroupMember | Fault)[]> {
  const { agent: watchedAgent, last } = watched(agent)
  const member = await playMember(options, { agent: watchedAgent, name }, job)
  if (Fault.is(member) || count === 0) return [member]
  const { step, place } = job
  const { agentSeed } = groupSeeds(options.seed ?? 0, step, place, job.member)
  const branch = { agent, observation: last(), seed: agentSeed, count, step }
  return branchEndings(member, branch, options)
}
