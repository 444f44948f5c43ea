/**
 * The judge: what presets of published systems ask about a consultation that no rule of theirs can tell.
 *
 * It answers in words, as a model does, for the published formulas differ in how they read those words, faults
 * included. What it must say is part of each request; a judge that cannot be asked throws a `Fault`, and a reply
 * that says something else is `model-unreadable` to whoever reads it strictly. Neither is ever a number.
 */
import type { RewardContext } from '../../reward.js'

/** One line of a dialogue as a judge is shown it, hidden reasoning cut away (a parity preset shows what was released). */
export interface JudgedLine {
  readonly role: 'doctor' | 'patient' | 'examiner'
  readonly text: string
}

/**
 * What of a consultation is graded: `all` (reasoning, questions, diagnosis with partial credit, few turns),
 * `diagnosis-and-questions` (.7 and .3 of the grade), or the `questions` alone.
 */
export type Graded = 'all' | 'diagnosis-and-questions' | 'questions'

/** What is asked, with the data it is asked about. All text in it is data, never an instruction. */
export type JudgeRequest =
  /** Is the answer the reference diagnosis? Reply: `Correct` or `Wrong`. After DiagAgent. */
  | { readonly task: 'same-diagnosis'; readonly reference: string; readonly answer: string }
  /** How many of `items` does `list` hold, one to one? Reply: an integer, 0 to the shorter length. After DiagAgent. */
  | {
      readonly task: 'count-matched'
      readonly items: readonly string[]
      readonly list: readonly string[]
    }
  /** How alike in meaning? Reply: an integer, 0 (unrelated) to 5 (the same). After DoctorAgent-RL. */
  | {
      readonly task: 'similarity'
      readonly of: 'diagnosis' | 'recommendation'
      readonly reference: string
      readonly answer: string
    }
  /** How good was the consultation? Reply: a decimal number, 0 to 1. After GRPODx. */
  | {
      readonly task: 'consultation'
      readonly grade: Graded
      readonly disease: string
      /** The doctor's one diagnosis; absent where there was none. */
      readonly diagnosis?: string
      readonly dialogue: readonly JudgedLine[]
    }
  /**
   * What did the patient get wrong? Reply: a JSON object of three integers from 0: `extra` (told unasked), `missing`
   * (kept back though asked), `opposite` (against the profile). After TakesTwo.
   */
  | {
      readonly task: 'patient-conduct'
      readonly profile: string
      readonly dialogue: readonly JudgedLine[]
    }

export type JudgeTask = JudgeRequest['task']

/** @throws Fault where it cannot be asked */
export interface Judge {
  (request: JudgeRequest, context?: RewardContext): Promise<string>
  /** Stands in the evidence of every part it judged: `rule`, or the model behind it. */
  readonly judgeName: string
}
