/**
 * Endings: other diagnoses drawn where a consultation concluded. Siblings branch at its last turn and share all before it,
 * so that one consultation teaches what many answers to it are worth (Monte Carlo values at a branch, as in VinePO,
 * Kazemnejad et al. 2024).
 */
import type { Agent, Move } from '../../agent.js'
import { type Case, graderView } from '../../case.js'
import type { Observation } from '../../env.js'
import type { Draw, Episode } from '../../episode.js'
import { encodeDraw } from '../../episode.js'
import { scoreEpisode } from '../../reward.js'
import { fork } from '../../seed.js'
import type { GroupMember, PlayOptions } from './group-rollouts.js'

/** An agent that remembers the last observation it was shown. */
export function watched(agent: Agent): { readonly agent: Agent; readonly last: () => Observation | undefined } {
  let seen: Observation | undefined
  return {
    agent: (observation, context) => {
      seen = observation
      return agent(observation, context)
    },
    last: () => seen,
  }
}

/** The episode with another last move, of which alone the draw is kept. */
function withEnding(episode: Episode, { action, sample, text }: Move, id: string): Episode {
  const turns = episode.turns.map(({ draws: _, ...turn }) => turn)
  const last = turns.at(-1)
  if (!last || !sample) throw new TypeError(`Expected a drawn move to end ${episode.id} with, got none`)
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
      endings.push(withEnding(episode, move, `${episode.id}/ending-${n}`))
  }
  return endings
}

/**
 * Branches a member at its conclusion: the consultation up to it, with the mean total of its endings, and one member per
 * ending, of which only the last move learns. Every ending is closed without an answer, so that the env need not play
 * the consultation again. A consultation that reached no diagnosis, or has no total, stays as it is.
 */
export async function branchEndings(
  member: GroupMember,
  { agent, observation, seed, count, step }: {
    readonly agent: Agent
    readonly observation: Observation | undefined
    /** Seed of the member's agent: its endings are keyed by it. */
    readonly seed: number
    readonly count: number
    readonly step: number
  },
  { reward, accuracy, signal }: Pick<PlayOptions, 'reward' | 'accuracy' | 'signal'>,
): Promise<GroupMember[]> {
  const { episode, score, truth, place } = member
  if (!observation || episode.stop !== 'diagnosed' || score.total === null) return [member]
  const endings = await drawEndings(member, agent, observation, { seed, count, signal })
  const branches: GroupMember[] = []
  for (const ending of endings) {
    const scores = await scoreEnding(ending, truth, { reward, accuracy, signal, step })
    branches.push({ place, truth, episode: ending, score: scores.reward, right: scores.accuracy.total })
  }
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

const scoreEnding = (
  episode: Episode,
  truth: Case,
  { reward, accuracy, signal, step }: Pick<PlayOptions, 'reward' | 'accuracy' | 'signal'> & {
    readonly step: number
  },
) => scoreEpisode(episode, graderView(truth), { reward, accuracy }, { signal, step })
