/** A question in a dialogue: what it says without it, what it can go on about, and the words that show it does. */
import type { Knowledge } from '../../../../knowledge/knowledge.js'
import type { PatientContext } from '../../../../patient.js'
import { languageByScript } from '../finding-match.js'
import type { ParsedUtterance } from '../parsed-utterance.js'
import type { SimilarityMatch } from '../similarity.js'

/** How texts are read without a dialogue. */
export interface TextReader {
  readonly parse: (text: string) => ParsedUtterance
  /** The similarity of a text to every finding. */
  readonly alike: (text: string) => SimilarityMatch
  /** The findings that a text names by a phrase of the knowledge base. */
  readonly named: (text: string) => readonly string[]
  /** Whether a text names a topic that no finding answers. */
  readonly namesAside: (text: string) => boolean
  /** Whether a text is a question of the knowledge base as its author wrote it. */
  readonly isWritten: (text: string) => boolean
}

/** Letters of the longest follow-up that leaves out what it is about. */
const maxLength = { en: 70, zh: 20 } as const
/** Goes on about what was said before: by a pronoun, or a beginning or an end without a subject. */
export const continues =
  /\b(?:it|its|they|them|that|those|these|ones?|each|there)\b|^(?:and|or|but|so|what about|how about|even|when|which|who|how|what|where)\b|呢$|^(?:那|它|这|哪|几|多|什么|怎么|比如)|时候|这个|那个/

/** A pronoun that stands for what was said before. */
export const pronoun = /\b(?:it|them|they|that|this|there|those|these)\b/
/** The same, but for the "there" of "is there any": what is replaced by a noun. */
export const replaced =
  /\b(?:it|them|they)\b|\b(?:that|this|those|these)\b|(?<!\b(?:is|are|was|were) )\bthere\b/

/** Offers a choice: "thick or thin?", "清的还是浓的？". */
export const choice = / or |还是/

/** Addresses the patient, so that the question has a subject of its own. */
const subject = /\b(?:you|your|youre|yours)\b|你/

/** Asks for something else that there may be. */
const another = /\bany (?!worse|better|different|particular)|有没有/

/** Whether a short question goes on about what was said before, by its words or for want of a subject. */
export const goesOn = (text: string): boolean =>
  (!another.test(text) || pronoun.test(text)) &&
  (continues.test(text) || asksContent.test(text) || (isShort(text) && !subject.test(text)))

/** Asks for more than a yes or a no. */
export const asksContent =
  /^(?:(?:and|so|but|ok|okay) )?(?:what|when|which|how|where|whereabouts|who|why)\b|什么(?!都)|哪|怎么|怎样|几|多(?:少|久|长|大|远|高)/

/** Whether a reading says nothing. */
export const isVague = ({ kind }: ParsedUtterance): boolean =>
  kind === 'unclear' || kind === 'unmodelled' || kind === 'ambiguous'

/** Whether a reading says too little: nothing, or only what the words are similar to. */
export const isDoubtful = (reading: ParsedUtterance, named: boolean): boolean =>
  isVague(reading) ||
  (reading.kind === 'aside' && !named) ||
  (reading.kind === 'finding' && reading.topics.every(({ guessed }) => guessed))

/** Short readings that may be about another finding than they say: one question of a few words. */
export const isElliptic = ({ kind, topics, recap }: ParsedUtterance, text: string): boolean =>
  !recap &&
  topics.length <= 1 &&
  text.length <= maxLength[languageByScript(text)] &&
  ['unclear', 'unmodelled', 'ambiguous', 'aside', 'finding'].includes(kind)

/** Whether a question is short enough to leave out what it is about. */
export const isShort = (text: string): boolean =>
  languageByScript(text) === 'zh'
    ? text.length <= (choice.test(text) ? 14 : 8)
    : text.split(' ').length <= (choice.test(text) ? 10 : 8)

/** Whether a question is so short that a finding it names may be of any region: "Itchy?", "Is it sore?", "痒不痒". */
export const isBrief = (text: string): boolean =>
  languageByScript(text) === 'zh'
    ? text.length <= 6
    : text.split(' ').length <= (pronoun.test(text) ? 6 : 3)

/** One reading of a question, with what it is made from. */
export interface FollowUp {
  readonly knowledge: Knowledge
  readonly context: PatientContext
  readonly reader: TextReader
  /** In normal form. */
  readonly text: string
  /** What it says without the dialogue. */
  readonly alone: ParsedUtterance
  /** That says too little. */
  readonly doubtful: boolean
  /** What it can go on about, the likeliest first. */
  readonly followed: readonly string[]
}
