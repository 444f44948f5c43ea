/** The patient: a function that answers one utterance, knowing only what this patient could know. */
import type { PatientView } from './case.js'
import type { Language, Told, Understanding } from './turn.js'

/** One exchange between doctor and patient so far. */
export interface Exchange {
  readonly utterance: string
  readonly reply: Reply
}

/** What the patient says, and beside it what the patient understood and told (for rewards only). */
export interface Reply {
  readonly text: string
  readonly understood: Understanding
  /** How many questions the utterance held. */
  readonly questions: number
  /** Ids of the findings it asked about. */
  readonly asked: readonly string[]
  readonly told: readonly Told[]
}

export interface PatientContext {
  readonly view: PatientView
  /** Earlier exchanges, oldest first; a patient keeps no other memory. */
  readonly dialogue: readonly Exchange[]
  /** Decides wording and noise; the same for all siblings of a group. */
  readonly seed: number
  readonly language: Language
  readonly signal?: AbortSignal | undefined
}

/**
 * Answers one utterance. A pure function of its arguments where no model is behind it.
 * @throws Fault when the world fails; an answer is never made up for a failure
 */
export type Patient = (utterance: string, context: PatientContext) => Reply | PromiseLike<Reply>
