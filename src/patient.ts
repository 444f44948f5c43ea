/** The patient: a function that answers one utterance, given the patient's view of the case and the dialogue. */
import type { PatientView } from './case.js'
import type { Sample } from './episode.js'
import type { Language, RevealedFinding, TurnFacts, Understanding } from './turn.js'

/** An earlier utterance with the patient's reply. */
export interface Exchange {
  readonly utterance: string
  readonly reply: Reply
}

/** The patient's words, with the understanding and the revealed findings behind them (for rewards only). */
export interface Reply extends Pick<TurnFacts, 'unread' | 'wording' | 'flags'> {
  readonly text: string
  readonly understood: Understanding
  /** Number of questions in the utterance. */
  readonly questions: number
  /** Ids of the findings the utterance asked about. */
  readonly asked: readonly string[]
  /** Findings the reply revealed. */
  readonly told: readonly RevealedFinding[]
  /** The tokens of the reply, where a policy drew it. */
  readonly sample?: Sample
}

/** Context of an utterance for a patient. */
export interface PatientContext {
  readonly view: PatientView
  /** Earlier exchanges, oldest first; a patient keeps no other memory. */
  readonly dialogue: readonly Exchange[]
  /** Keys wording and noise; the same for all siblings of a group. */
  readonly seed: number
  readonly language: Language
  readonly signal?: AbortSignal | undefined
}

/**
 * Answers one utterance. A pure function of its arguments unless a model is behind it.
 * @throws Fault when the model or another outside part fails; a failure never becomes an answer
 */
export type Patient = (utterance: string, context: PatientContext) => Reply | PromiseLike<Reply>
