/** Episode: the record of one consultation. Facts only, no reward, so any reward can be computed later. */
import type { DoctorView } from './case.js'
import type { Action, Language, Stop, Turn, TurnFacts } from './turn.js'

/** Sampled tokens of a move; passed on to the trainer, never recomputed from text. */
export interface Sample {
  /** All tokens that the policy had read before it drew. */
  readonly prompt: readonly number[]
  /** The tokens it drew. */
  readonly tokens: readonly number[]
  /** log P of each drawn token under the policy at `temperature`, natural logarithm. */
  readonly logprobs: readonly number[]
  readonly policyVersion: number
  readonly temperature: number
  /** `scaled`: log-probs of the temperature-scaled distribution; `raw`: of temperature 1. */
  readonly logprobMode: 'scaled' | 'raw'
  readonly stopReason: 'stop' | 'length'
}

/** A turn with its facts and, if the agent has them, the reply text and the sampled tokens. */
export interface EpisodeTurn extends Turn {
  readonly facts: TurnFacts
  /** The reply as written, hidden reasoning included; for format rewards, never for a judge. */
  readonly text?: string
  readonly sample?: Sample
}

/** Record of one finished consultation. */
export interface Episode {
  readonly id: string
  readonly caseId: string
  /** Env seed, the same for all siblings of a group. */
  readonly seed: number
  readonly agent: string
  readonly language: Language
  readonly intake: DoctorView
  readonly turns: readonly EpisodeTurn[]
  readonly end: 'terminated' | 'truncated'
  readonly stop: Stop
  /** Turn limit. */
  readonly maxTurns: number
  readonly spent: { readonly money: number; readonly minutes: number }
  readonly budget: { readonly money: number; readonly minutes: number }
}

/** Members of a finished episode that its env knows. */
export type EpisodeEnd = Omit<Episode, 'id' | 'agent' | 'end'>

/**
 * Makes the episode of an env's last step. A stop by a limit (turns or budget) is a truncation, any other a termination.
 * An env does not know its agent or the episode's place in a run: `rollout` sets `agent` and `id`.
 */
export const finishedEpisode = ({
  caseId,
  seed,
  language,
  intake,
  turns,
  stop,
  maxTurns,
  spent,
  budget,
}: EpisodeEnd): Episode => ({
  id: `${caseId}/${seed}`,
  caseId,
  seed,
  agent: 'agent',
  language,
  intake,
  turns,
  end: stop === 'max-turns' || stop === 'budget' ? 'truncated' : 'terminated',
  stop,
  maxTurns,
  spent,
  budget,
})

/** The diagnosis the doctor committed to, if one was reached. */
export function diagnosisOf(
  episode: Episode,
): Extract<Action, { readonly kind: 'diagnose' }> | undefined {
  const last = episode.turns.at(-1)?.action
  return last?.kind === 'diagnose' ? last : undefined
}
