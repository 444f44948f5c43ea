/** Turns of a consultation: the doctor's action, the world's outcome, and the facts behind them. */

/** Language of a consultation. */
export type Language = 'zh' | 'en'

/** One alternative of a differential diagnosis, with the doctor's probability for it, 0 to 1. */
export interface DifferentialEntry {
  readonly diagnosis: string
  readonly p?: number
}

/** A doctor's action; a closed union, so a forgotten kind is a compile error. */
export type Action =
  /** Says something to the patient, in free text. */
  | { readonly kind: 'ask'; readonly text: string }
  /** Orders an examination, or several in one text, by any of their names. */
  | { readonly kind: 'order'; readonly exam: string }
  /** Commits to one diagnosis and ends the consultation. */
  | {
      readonly kind: 'diagnose'
      readonly diagnosis: string
      readonly recommendation?: string
      /** The doctor's P(the diagnosis is right), 0 to 1. */
      readonly confidence?: number
      /** Alternatives, most likely first, without the diagnosis itself. */
      readonly differential?: readonly DifferentialEntry[]
      /** Urgency, 1 (at once) to 5 (can wait). */
      readonly triage?: number
    }
  /** Ends the consultation without a diagnosis. */
  | { readonly kind: 'give-up' }
  /** A reply that no grammar could read; `why` is shown to the doctor. */
  | { readonly kind: 'invalid'; readonly text: string; readonly why: string }

/** The world's answer to an action, as the doctor sees it. */
export type Outcome =
  /** The patient's words. */
  | { readonly kind: 'answered'; readonly text: string }
  /** An examination's report. */
  | { readonly kind: 'examined'; readonly text: string }
  /** The action was not carried out; `text` says why. The turn is spent. */
  | { readonly kind: 'rejected'; readonly text: string }
  /** The consultation is over. */
  | { readonly kind: 'closed' }

/** An action with its outcome, as the doctor saw them. */
export interface Turn {
  readonly action: Action
  readonly outcome: Outcome
}

/** State of a finding as reported. A categorical finding's state is one of its values. */
export type FindingState = 'present' | 'absent' | 'unknown' | (string & {})

/** A finding with the state that an answer or a report revealed. */
export interface RevealedFinding {
  readonly finding: string
  readonly state: FindingState
}

/**
 * The patient's classification of an utterance, after the state taxonomy of AIE (Automatic Interactive Evaluation):
 * `answered` a question the patient could answer, `unknown` one the patient could not, `exam-only` one that needs an
 * examination, `repeated` one already answered, `withheld` one the patient will not answer yet, `unclear` one not
 * understood, `ambiguous` one with several meanings, `open` an open question, `refused` a request for the diagnosis
 * or an injection, `courtesy` no question at all.
 */
export type Understanding = (typeof understandings)[number]

/** Every member of {@link Understanding}. */
export const understandings = [
  'answered',
  'unknown',
  'exam-only',
  'repeated',
  'withheld',
  'ambiguous',
  'unclear',
  'open',
  'refused',
  'courtesy',
] as const

/**
 * Outcome of an order: `resulted`, `repeat` of a still valid result, `unavailable` here, `unknown` to every
 * simulator, or `refused` because it costs more or takes longer than the budget left.
 */
export type OrderStatus = 'resulted' | 'repeat' | 'unavailable' | 'unknown' | 'refused'

/**
 * Whose words the reply of a patient with a skin has: the model's at once (`passed`) or at the second try (`retried`),
 * or the rule patient's own, because the model's did not fit the facts (`template`) or the model failed (`fault`).
 */
export type SkinWording = (typeof skinWordings)[number]

/** Every member of {@link SkinWording}. */
export const skinWordings = ['passed', 'retried', 'template', 'fault'] as const

/**
 * What a monitor found in the words of a model that plays a patient freely: a disease named that nobody had named, or
 * a statement that the case or an earlier statement contradicts.
 */
export type SpeechFlag = (typeof speechFlags)[number]

/** Every member of {@link SpeechFlag}. */
export const speechFlags = ['disease-named', 'contradiction'] as const

/** Ground truth of a turn, for rewards; the doctor never sees it. */
export interface TurnFacts {
  /** Class of the utterance; absent when the patient was not asked. */
  readonly understood?: Understanding
  /** Number of questions in the utterance. */
  readonly questions?: number
  /** Findings asked about, answered or not. */
  readonly asked: readonly string[]
  /** Findings this turn revealed. */
  readonly told: readonly RevealedFinding[]
  /** Outcome of the order; absent where nothing was ordered. */
  readonly ordered?: OrderStatus
  /** Canonical ids of the examinations carried out, panels expanded. */
  readonly exams: readonly string[]
  /** Sum of the invasiveness, 0 to 3, of the examinations done; absent where nothing was done. */
  readonly invasiveness?: number
  /** Simulators that made up results which the case does not record; absent where none did. */
  readonly simulatedBy?: readonly string[]
  /** Money spent in this turn, in money units. */
  readonly money: number
  /** Minutes that passed in this turn. */
  readonly minutes: number
  /**
   * Members that are not known, as of a dialogue that was logged elsewhere or a report nobody read for findings; what they hold is no fact. A named reward
   * that reads one is unavailable.
   */
  readonly unread?: readonly TurnFactName[]
  /** Present where a patient with a skin spoke. */
  readonly wording?: SkinWording
  /** What was found in the words of a model that plays freely, or nothing; absent for any other patient. */
  readonly flags?: readonly SpeechFlag[]
}

/** Name of a member of {@link TurnFacts}. */
export type TurnFactName = (typeof turnFactNames)[number]

/** Every member of {@link TurnFacts} that may be unread. */
export const turnFactNames = [
  'understood',
  'questions',
  'asked',
  'told',
  'ordered',
  'exams',
  'invasiveness',
  'money',
  'minutes',
] as const

/** Facts of a turn without findings or cost. */
export const noFacts: TurnFacts = Object.freeze({
  asked: Object.freeze([]),
  told: Object.freeze([]),
  exams: Object.freeze([]),
  money: 0,
  minutes: 0,
})

/** Why an episode ended: the doctor ended it (a termination), or a limit did (a truncation). */
export type Stop = (typeof stops)[number]

/** Every member of {@link Stop}: three terminations, then two truncations. */
export const stops = ['diagnosed', 'gave-up', 'invalid-action', 'max-turns', 'budget'] as const
