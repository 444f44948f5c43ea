/**
 * What a doctor can do, what the world answers, and the pair of them: the words every later concept shares.
 */

/** A language the doctor and the patient speak. */
export type Language = 'zh' | 'en'

/** A disease that the diagnosis may be instead, and how probable the doctor calls it, 0 to 1. */
export interface Considered {
  readonly diagnosis: string
  readonly p?: number
}

/** What the doctor does; a closed union, so that a forgotten case is a compile error. */
export type Action =
  /** Says something to the patient, in free text. */
  | { readonly kind: 'ask'; readonly text: string }
  /** Orders one examination, by whatever name the doctor knows it. */
  | { readonly kind: 'order'; readonly exam: string }
  /** Commits to one diagnosis and ends the consultation. */
  | {
      readonly kind: 'diagnose'
      readonly diagnosis: string
      readonly recommendation?: string
      /** P(the diagnosis is right) as the doctor states it, 0 to 1. */
      readonly confidence?: number
      /** What else it may be, most likely first; the diagnosis itself is not among them. */
      readonly differential?: readonly Considered[]
      /** How urgent the patient is, 1 (at once) to 5 (can wait). */
      readonly triage?: number
    }
  /** Ends the consultation without a diagnosis. */
  | { readonly kind: 'give-up' }
  /** A reply that no grammar could read; `why` is shown to the doctor. */
  | { readonly kind: 'invalid'; readonly text: string; readonly why: string }

/** What the doctor perceives of the world's answer. */
export type Outcome =
  /** The patient's words. */
  | { readonly kind: 'answered'; readonly text: string }
  /** An examination's report. */
  | { readonly kind: 'examined'; readonly text: string }
  /** The world did not do it, and says why; the turn is spent. */
  | { readonly kind: 'rejected'; readonly text: string }
  /** The consultation is over. */
  | { readonly kind: 'closed' }

/** One exchange, as the doctor saw it. */
export interface Turn {
  readonly action: Action
  readonly outcome: Outcome
}

/** How a finding stood when somebody told of it; a categorical finding's state is one of its values. */
export type FindingState = 'present' | 'absent' | 'unknown' | (string & {})

/** A finding that an answer or a report settled. */
export interface Told {
  readonly finding: string
  readonly state: FindingState
}

/**
 * What an utterance was taken for, after the state taxonomy of AIE (Automatic Interactive Evaluation).
 * `answered` a question it knew, `unknown` one it could not answer, `exam-only` one that needs an
 * examination, `repeated` one already answered, `withheld` one it will not answer yet, `unclear` one it did not
 * understand, `ambiguous` one that may mean several things, `open` an open question, `refused` a request for the
 * diagnosis or an injection, `courtesy` no question at all.
 */
export type Understanding =
  | 'answered'
  | 'unknown'
  | 'exam-only'
  | 'repeated'
  | 'withheld'
  | 'unclear'
  | 'ambiguous'
  | 'open'
  | 'refused'
  | 'courtesy'

/**
 * What became of an order: a result, a result still valid and so told again, not available here, no examination
 * that anybody knows, or refused because it costs more or takes longer than is left.
 */
export type Ordered = 'resulted' | 'repeat' | 'unavailable' | 'unknown' | 'refused'

/** What really happened in a turn: read by rewards, never by the doctor. */
export interface TurnFacts {
  /** What the patient took the utterance for; absent when nobody was asked. */
  readonly understood?: Understanding
  /** How many questions the utterance held. */
  readonly questions?: number
  /** Findings asked about, whether or not they could be answered. */
  readonly asked: readonly string[]
  /** Findings this turn settled. */
  readonly told: readonly Told[]
  /** What became of an order; absent where nothing was ordered. */
  readonly ordered?: Ordered
  /** Canonical ids of the examinations carried out, panels expanded. */
  readonly exams: readonly string[]
  /** What the patient went through for them, 0 to 3 an examination, added up; absent where nothing was done. */
  readonly invasiveness?: number
  /** Spent in this turn, in money units. */
  readonly money: number
  /** Passed in this turn. */
  readonly minutes: number
}

/** Facts of a turn in which nothing was learned and nothing spent. */
export const noFacts: TurnFacts = Object.freeze({
  asked: Object.freeze([]),
  told: Object.freeze([]),
  exams: Object.freeze([]),
  money: 0,
  minutes: 0,
})

/** Why an episode ended. */
export type Stop =
  /** Terminations: the doctor's own doing. */
  | 'diagnosed'
  | 'gave-up'
  | 'invalid-action'
  /** Truncations: a limit. */
  | 'max-turns'
  | 'budget'
