/** The evaluation report: every score beside its floor, its ceiling and its bound, in the shape of `--json`. */
import type { Agent, AnyAgent } from '../agent.js'
import type { Case, GraderView } from '../case.js'
import { graderView } from '../case.js'
import type { Env } from '../env.js'
import type { Episode } from '../episode.js'
import type { Estimate, ValueBounds } from './bootstrap.js'
import { ratioEstimate, unitBounds } from './bootstrap.js'
import type { Measures, PlayedCase } from './play-cases.js'
import { playCases } from './play-cases.js'
import type { Anchor, ReferenceAnchor, Summary } from './summary.js'
import { anchorOf, noAnchor, normalised, regret, summarise } from './summary.js'

/** What role used how much of a model. */
export interface RoleUsage {
  readonly calls: number
  readonly promptTokens: number
  readonly completionTokens: number
  readonly cost: number | null
}

/** Nats gained on the diagnosis after every turn; undefined where that cannot be told. */
export type Gained = (episode: Episode, truth: GraderView) => readonly number[] | undefined

/** What a knowledge base behind the cases can tell of them. */
export interface Yardstick {
  /** Makes the doctor that is given every finding of the case it plays. */
  readonly bound: () => AnyAgent
  readonly gained: Gained
}

/** What whoever knows everything there is to know would get right; no doctor can do better. */
export interface Bound {
  readonly accuracy: number | null
}

/** The random doctor and the strongest oracle on the same cases, seeds and budgets, and what bounds them. */
export interface Reference {
  readonly floor: ReferenceAnchor
  readonly ceiling: ReferenceAnchor
  /** @default none: there is no knowledge base behind the cases */
  readonly bound?: Bound
  /** What the ceiling had gained after every turn, by case id, and how that is reckoned. */
  readonly information?: {
    readonly ofCeiling: ReadonlyMap<string, readonly number[]>
    readonly gained: Gained
  }
}

export interface Labels {
  readonly agent: string
  readonly tier: string
  readonly lang: string
  readonly split: 'train' | 'heldout'
  readonly seed: number
}

export interface Evaluation extends Labels, Summary {
  readonly floor: ReferenceAnchor
  readonly ceiling: ReferenceAnchor
  readonly bound: Bound
  /** What is missing to the ceiling. */
  readonly regret: Anchor
  readonly normalised: Anchor
  /**
   * Mean information on the diagnosis that the agent gained over what the ceiling had gained after as many
   * turns; null where that cannot be told.
   */
  readonly questionEfficiency: Estimate
  readonly usage: Readonly<Record<string, RoleUsage>>
}

/** What the references need of a task. */
export interface ReferenceTask {
  readonly heldOut: readonly Case[]
  readonly makeEnv: () => Env
  readonly measures: Measures
  readonly floor: Agent
  readonly ceiling: { readonly name: string; readonly agent: Agent }
  readonly yardstick?: Yardstick
}

/** Plays the floor, the ceiling and, where there is one, the bound over a task's held-out cases, or over `cases`. */
export async function referencesOf(
  { heldOut, makeEnv, measures, floor, ceiling, yardstick }: ReferenceTask,
  {
    seed = 0,
    cases = heldOut,
    concurrency = 8,
    signal,
    onPlayed,
  }: {
    readonly seed?: number
    readonly cases?: readonly Case[]
    readonly concurrency?: number
    readonly signal?: AbortSignal | undefined
    /** Called after each case of each reference. */
    readonly onPlayed?: (played: PlayedCase) => void
  } = {},
): Promise<Reference> {
  const played = (agent: AnyAgent, agentName: string): Promise<PlayedCase[]> =>
    playCases({
      ...{ cases, makeEnv, agent, agentName, measures, seed, concurrency, signal },
      ...(onPlayed ? { onPlayed } : {}),
    })
  const anchor = (all: readonly PlayedCase[]): ReferenceAnchor =>
    anchorOf(summarise(all, seed, measures.reward.bounds))
  const lowest = await played(floor, 'random')
  const highest = await played(ceiling.agent, ceiling.name)
  const anchors = { floor: anchor(lowest), ceiling: anchor(highest) }
  if (!yardstick) return anchors
  const { gained } = yardstick
  const all = await played(yardstick.bound(), 'full information')
  return {
    ...anchors,
    bound: { accuracy: anchor(all).accuracy },
    information: { gained, ofCeiling: gainedBy(highest, gained) },
  }
}

/** What was gained in each consultation after every turn, by case id. */
function gainedBy(played: readonly PlayedCase[], gained: Gained): Map<string, readonly number[]> {
  const byCase = new Map<string, readonly number[]>()
  for (const { truth, episode } of played) {
    const gains = episode && gained(episode, graderView(truth))
    if (gains) byCase.set(truth.id, gains)
  }
  return byCase
}

/** What was gained after a number of turns; a consultation that was over sooner gained no more. */
const after = (gains: readonly number[], turns: number): number =>
  turns === 0 ? 0 : (gains[Math.min(turns, gains.length) - 1] ?? 0)

function efficiency(
  played: readonly PlayedCase[],
  information: Reference['information'],
  seed: number,
): Estimate {
  if (!information) return { mean: null, ci95: null }
  const byCase = gainedBy(played, information.gained)
  const pairs = played.flatMap(({ truth, episode }) => {
    const [own, best] = [byCase.get(truth.id), information.ofCeiling.get(truth.id)]
    if (!episode || !own || !best) return []
    const turns = episode.turns.filter(({ outcome }) => outcome.kind !== 'closed').length
    return [[after(own, turns), after(best, turns)] as const]
  })
  return ratioEstimate(pairs, seed)
}

/** Summarises what was played and sets it between its references; without them, their numbers are null. */
export function evaluationOf(
  played: readonly PlayedCase[],
  {
    references,
    usage = {},
    rewardBounds = unitBounds,
    ...labels
  }: Labels & {
    readonly references?: Reference
    readonly usage?: Readonly<Record<string, RoleUsage>>
    /** Of the reward among the measures. @default [0, 1] */
    readonly rewardBounds?: ValueBounds
  },
): Evaluation {
  const { floor = noAnchor, ceiling = noAnchor, bound = { accuracy: null } } = references ?? {}
  const summary = summarise(played, labels.seed, rewardBounds)
  const { accuracy, reward } = summary
  return {
    ...labels,
    ...summary,
    floor,
    ceiling,
    bound,
    regret: {
      accuracy: regret(accuracy.mean, ceiling.accuracy),
      reward: regret(reward.mean, ceiling.reward),
    },
    normalised: {
      accuracy: normalised(accuracy.mean, floor.accuracy, ceiling.accuracy),
      reward: normalised(reward.mean, floor.reward, ceiling.reward),
    },
    questionEfficiency: efficiency(played, references?.information, labels.seed),
    usage,
  }
}
