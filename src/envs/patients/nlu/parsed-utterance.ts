/** What the patient makes of an utterance and its sentences. */
import type { AskedAttribute } from './attributes.js'
import type { Recap } from './closings/recap.js'
import type { SpeechAct } from './conversation.js'
import type { Topic } from './focus.js'

/** What a question whose topic is unknown expects: a denial, that all is in order, or some information. */
export type Expectation = 'no' | 'yes' | 'content'

/** One question of several in an utterance. */
export interface QuestionPart {
  /** In normal form. */
  readonly text: string
  readonly topics: readonly Topic[]
  readonly asides: readonly string[]
  /** Whether it named nothing, and has to be read by itself. */
  readonly open: boolean
}

/** An utterance as the patient understands it: its dialogue act and topics. */
export interface ParsedUtterance {
  /** The part of the utterance that asks without naming a complaint, in normal form. */
  readonly about?: string
  /** Number of questions in it. */
  readonly questions: number
  /** What it asks about, in the order of the utterance. */
  readonly topics: readonly Topic[]
  /** Attributes it asks for without naming a complaint. */
  readonly loose: readonly AskedAttribute[]
  /** Topics that no finding answers, by the ids of the knowledge base. */
  readonly asides: readonly string[]
  /** What it may have meant, where it was similar to a finding but not enough. */
  readonly near?: string
  /** The finding it goes on about, where what it asks of it is not known. */
  readonly of?: string
  /** The habit or allergy that it takes for granted: "Have you tried to give up the cigarettes?". */
  readonly granted?: string
  /** Where it is a recap; its topics are what it names. */
  readonly recap?: Recap
  /** Its questions one by one, where it has several. */
  readonly parts?: readonly QuestionPart[]
  /** What an utterance that asks for something unknown expects. */
  readonly expects?: Expectation
  /** What kind of conversation it is, where it asks about no finding. */
  readonly speech?: SpeechAct
  /** The dialogue act. */
  readonly kind:
    | 'finding'
    | 'attribute'
    | 'aside'
    | 'unmodelled'
    | 'open'
    | 'diagnosis-request'
    | 'injection'
    | 'exam-request'
    | 'advice'
    | 'courtesy'
    | 'ambiguous'
    | 'unclear'
}

/** What one sentence asks. */
export interface SentenceMeaning {
  readonly topics: readonly Topic[]
  readonly loose: readonly AskedAttribute[]
  /** What it asks that no finding answers. */
  readonly asides: readonly string[]
  /** A finding it was similar enough to, to ask what was meant. */
  readonly near?: string
  /** The habit or allergy that it takes for granted. */
  readonly granted?: string
  /** It asks what the patient has come with. */
  readonly opens?: boolean
}

/** The meaning of a sentence that asks nothing. */
export const nothing: SentenceMeaning = { topics: [], loose: [], asides: [] }
