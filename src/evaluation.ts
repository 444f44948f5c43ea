/** The evaluation report: every score beside its floor and its ceiling, in the shape of `--json`. */
import type { Agent } from './agent.js'
import type { Case } from './case.js'
import type { Env } from './env.js'
import type { Anchor, Estimate, Measures, Played, Summary } from './evaluate.js'
import { anchorOf, normalised, play, summarise } from './evaluate.js'

/** What role used how much of a model. */
export interface RoleUsage {
  readonly calls: number
  readonly promptTokens: number
  readonly completionTokens: number
  readonly cost: number | null
}

/** The random doctor and the strongest oracle on the same cases, seeds and budgets. */
export interface Reference {
  readonly floor: Anchor
  readonly ceiling: Anchor
}

export interface Labels {
  readonly agent: string
  readonly tier: string
  readonly lang: string
  readonly split: 'train' | 'heldout'
  readonly seed: number
}

export interface Evaluation extends Labels, Summary {
  readonly floor: Anchor
  readonly ceiling: Anchor
  readonly normalised: Anchor
  readonly usage: Readonly<Record<string, RoleUsage>>
}

/** Where the references play. */
interface Grounds {
  readonly heldOut: readonly Case[]
  readonly makeEnv: () => Env
  readonly measures: Measures
  readonly floor: Agent
  readonly ceiling: { readonly name: string; readonly agent: Agent }
}

/** Plays the floor and the ceiling over a setting's held-out cases, or over `cases`. */
export async function referencesOf(
  { heldOut, makeEnv, measures, floor, ceiling }: Grounds,
  {
    seed = 0,
    cases = heldOut,
    signal,
    onPlayed,
  }: {
    readonly seed?: number
    readonly cases?: readonly Case[]
    readonly signal?: AbortSignal | undefined
    /** Called after each case of each reference. */
    readonly onPlayed?: (played: Played) => void
  } = {},
): Promise<Reference> {
  const anchor = async (agent: Agent, agentName: string): Promise<Anchor> => {
    const played = await play({
      cases,
      makeEnv,
      agent,
      agentName,
      measures,
      seed,
      signal,
      ...(onPlayed ? { onPlayed } : {}),
    })
    return anchorOf(summarise(played, seed))
  }
  return {
    floor: await anchor(floor, 'random'),
    ceiling: await anchor(ceiling.agent, ceiling.name),
  }
}

/** Summarises what was played and sets it between its references. */
export function evaluationOf(
  played: readonly Played[],
  {
    references: { floor, ceiling },
    usage = {},
    ...labels
  }: Labels & {
    readonly references: Reference
    readonly usage?: Readonly<Record<string, RoleUsage>>
  },
): Evaluation {
  const summary = summarise(played, labels.seed)
  const between = (of: Estimate, name: keyof Anchor) =>
    normalised(of.mean, floor[name], ceiling[name])
  return {
    ...labels,
    ...summary,
    floor,
    ceiling,
    normalised: {
      accuracy: between(summary.accuracy, 'accuracy'),
      reward: between(summary.reward, 'reward'),
    },
    usage,
  }
}
