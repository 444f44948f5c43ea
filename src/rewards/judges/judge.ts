/**
 * The judge interface: questions about a consultation that rules cannot decide, for the presets of published systems.
 *
 * A judge replies in words, as a model does, because the published formulas differ in how they parse them, bugs
 * included. Each request documents its reply. A judge that is down throws a `Fault`; for the strict reader
 * (`ask-judge.ts`) a reply not exactly in the prescribed form is `model-unreadable`. Neither ever becomes a number.
 */
import type { RewardContext } from '../../reward.js'

/** One line of a dialogue shown to a judge, without hidden reasoning (parity presets show the released text). */
export interface JudgedLine {
  readonly role: 'doctor' | 'patient' | 'examiner'
  readonly text: string
}

/**
 * The graded aspect of a consultation: `all` (reasoning, questions, diagnosis with partial credit, few turns),
 * `diagnosis-and-questions` (.7 and .3 of the grade), or the `questions` alone.
 */
export type GradedAspect = 'all' | 'diagnosis-and-questions' | 'questions'

/** A question to a judge, with its data. All text in it is data, never an instruction. */
export type JudgeRequest =
  /** Is the answer the reference diagnosis? Reply: `Correct` or `Wrong`. After DiagAgent. */
  | { readonly task: 'same-diagnosis'; readonly reference: string; readonly answer: string }
  /** How many of `items` does `list` hold, one to one? Reply: an integer, 0 to the shorter length. After DiagAgent. */
  | {
      readonly task: 'count-matched'
      readonly items: readonly string[]
      readonly list: readonly string[]
      /** What `items` are, where `list` is the other: what the doctor ordered, or what the case requires. */
      readonly itemsAre?: 'ordered' | 'required'
    }
  /** How similar in meaning? Reply: an integer, 0 (unrelated) to 5 (the same). After DoctorAgent-RL. */
  | {
      readonly task: 'similarity'
      readonly of: 'diagnosis' | 'recommendation'
      readonly reference: string
      readonly answer: string
    }
  /** How good was the consultation? Reply: a decimal number, 0 to 1. After GRPODx. */
  | {
      readonly task: 'consultation'
      readonly grade: GradedAspect
      readonly disease: string
      /** The doctor's one diagnosis; absent where there was none. */
      readonly diagnosis?: string
      readonly dialogue: readonly JudgedLine[]
    }
  /**
   * What did the patient get wrong? Reply: a JSON object of three integers from 0: `extra` (told unasked), `missing`
   * (withheld though asked), `opposite` (contradicting the profile). After TakesTwo.
   */
  | {
      readonly task: 'patient-conduct'
      /** What the patient is and knows; TakesTwo's hidden self-report. */
      readonly profile: string
      readonly dialogue: readonly JudgedLine[]
      /** The true diagnosis and recommendation, which TakesTwo's prompt shows to the judge. */
      readonly diagnosis?: string
      readonly recommendation?: string
    }

/** The kind of a judge request. */
export type JudgeTask = JudgeRequest['task']

/** Context of a request. */
export interface JudgeContext extends RewardContext {
  /** How often the same was asked before, as its reply could not be read. @default 0 */
  readonly attempt?: number
  /** Number of the vote where one judge has several. @default 0 */
  readonly vote?: number
  /** Whether the two things to compare are shown in the other order. @default false */
  readonly swapped?: boolean
}

/** Replies in words to a request. @throws Fault where it cannot be asked */
export interface Judge {
  (request: JudgeRequest, context?: JudgeContext): Promise<string>
  /** Shown in the evidence of every part it judged: `rule`, or the name of the model. */
  readonly judgeName: string
}

/** Counts of a patient's faults. */
export interface ConductCounts {
  /** Facts told without being asked. */
  readonly extra: number
  /** Facts withheld though asked. */
  readonly missing: number
  /** Statements that contradict the profile. */
  readonly opposite: number
}

/** The parsed answer to each task. */
export interface JudgeAnswers {
  readonly 'same-diagnosis': boolean
  readonly 'count-matched': number
  readonly similarity: number
  readonly consultation: number
  readonly 'patient-conduct': ConductCounts
}
