/** The episode: what happened, frozen, without opinion. Any reward can be run over it later. */
import type { DoctorView } from './case.js'
import type { Action, Language, Stop, Turn, TurnFacts } from './turn.js'

/** The tokens a move was drawn as; carried to the trainer, never recomputed from text. */
export interface Sample {
  /** Every token the policy had read when it drew. */
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

export interface EpisodeTurn extends Turn {
  readonly facts: TurnFacts
  /** The reply as written, hidden reasoning included; for format rewards, never for a judge. */
  readonly text?: string
  /** The tokens the move was drawn as. */
  readonly sample?: Sample
}

export interface Episode {
  readonly id: string
  readonly caseId: string
  /** The env's seed: the same for all siblings of a group. */
  readonly seed: number
  readonly agent: string
  readonly language: Language
  readonly intake: DoctorView
  readonly turns: readonly EpisodeTurn[]
  readonly end: 'terminated' | 'truncated'
  readonly stop: Stop
  /** The most turns the doctor had. */
  readonly maxTurns: number
  readonly spent: { readonly money: number; readonly minutes: number }
  readonly budget: { readonly money: number; readonly minutes: number }
}

/** What an env knows of an episode that has just ended. */
export type EpisodeEnd = Omit<Episode, 'id' | 'agent' | 'end'>

/**
 * The episode an env returns with its last step. A stop by a limit (turns or budget) is a truncation, any other a
 * termination. An env does not know its agent or the episode's place in a run: `rollout` sets `agent` and `id`.
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
