/** What an answer is made from: the utterance, the knowledge base, and what the patient knows and has said. */
import type { Knowledge } from '../../../knowledge/knowledge.js'
import type { PatientContext, Reply } from '../../../patient.js'
import type { AbsentPolicy } from './recall.js'

/** An answer before the persona's manner and the speaker are applied. */
export interface AnswerDraft extends Pick<Reply, 'text' | 'understood' | 'told'> {
  /** Asks for the other questions one at a time, after all else. */
  readonly plea?: string
}

/** An utterance, and everything its answer depends on. */
export interface AnswerInput {
  readonly knowledge: Knowledge
  readonly utterance: string
  readonly absentPolicy: AbsentPolicy
  readonly context: PatientContext
  /** The habit or allergy that the question takes for granted. */
  readonly granted?: string
  /** What the reply says so far. */
  readonly saying?: string
  /** Whether this is one of several answers in a reply. */
  readonly several?: boolean
}
