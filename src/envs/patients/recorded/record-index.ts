/** The recorded passages of a case, indexed by their words and by what they are about. */
import type { Finding, PatientView, Text } from '../../../case.js'
import {
  type Concepts,
  contentWords,
  ownFrames,
  questionConcepts,
  statementConcepts,
} from './concepts.js'

/** Document frequency, in passages, of a word that no passage of the record has. */
const unseenFrequency = 0.7

/** Words or concepts. */
export type WordSet = ReadonlySet<string>
/** Inverse document frequency of a word. */
export type Weight = (word: string) => number

/** Something recorded: an exchange, a passage of a profile, or a sentence of the complaint (which is no finding). */
export interface Passage {
  readonly finding?: Finding
  readonly text: Text
  readonly question: WordSet
  /** Words and concepts of each question of the exchange. */
  readonly asked: readonly { readonly words: WordSet; readonly concepts: WordSet }[]
  readonly words: WordSet
  /** Concepts of what is said, with the topic. */
  readonly said: WordSet
  /** Those, and for an exchange those of what was asked. */
  readonly concepts: WordSet
}

/** The recorded passages of a case, indexed for retrieval. */
export interface DialogueRecord {
  readonly view: Pick<PatientView, 'findings' | 'complaint'>
  readonly passages: readonly Passage[]
  /** Inverse document frequency of a word. */
  readonly weight: Weight
}

/** The words of a text that tell it from others. */
export const wordSet = (text: string): WordSet => new Set(contentWords(text))

/** The sentences of a text. */
export const splitSentences = (text: string): string[] =>
  text.split(/(?<=[.?!;。？！；])\s*|\n/).filter((sentence) => sentence.trim() !== '')

const bothLanguages = (text: Text): string =>
  [text.zh, text.en].filter((part) => part !== undefined).join('\n')

/** All concepts of a question, in one set. */
export const conceptSet = ({ aspects, symptoms, frames }: Concepts): WordSet =>
  new Set([...aspects, ...symptoms, ...frames])

/** Whether a concept is a part of a history that answers only for itself. */
export const isOwnFrame = (concept: string): boolean =>
  concept.startsWith('@') && ownFrames.has(concept.slice(1))

/** Topics whose passages may be about any part of a history. */
const mixedTopics: ReadonlySet<string> = new Set([
  'other',
  'habits',
  'course',
  'smoking',
  'alcohol',
])

function indexExchange(finding: Finding, utterance: Text): Passage {
  const question = bothLanguages(finding.question ?? {})
  const words = bothLanguages(utterance)
  const sentences = splitSentences(question)
  const questions = sentences.filter((sentence) => /[?？]/.test(sentence))
  const asked = (questions.length > 0 ? questions : sentences)
    .map((sentence) => ({
      words: wordSet(sentence),
      concepts: conceptSet(questionConcepts(sentence)),
    }))
    .filter(({ words, concepts }) => words.size + concepts.size > 0)
  const { topic } = finding
  // The words of a passage of one topic do not make it one of another.
  const own = statementConcepts(words).filter(
    (concept) => topic === undefined || mixedTopics.has(topic) || !isOwnFrame(concept),
  )
  const said = new Set([...own, ...(topic === undefined ? [] : [`@${topic}`])])
  return {
    ...{ finding, text: utterance, question: wordSet(question), asked, words: wordSet(words) },
    said,
    concepts: new Set([...asked.flatMap(({ concepts }) => [...concepts]), ...said]),
  }
}

/** The sentences of the complaint: they answer what the doctor could have read. */
const indexComplaint = (complaint: Text): Passage[] =>
  (['zh', 'en'] as const).flatMap((language) =>
    splitSentences(complaint[language] ?? '')
      .filter((sentence) => !/[?？]\s*$/.test(sentence))
      .map((sentence) => {
        const concepts = new Set(statementConcepts(sentence))
        return {
          text: { [language]: sentence.trim() },
          ...{ question: new Set<string>(), asked: [], words: wordSet(sentence) },
          ...{ said: concepts, concepts },
        }
      }),
  )

function indexRecord(view: DialogueRecord['view']): DialogueRecord {
  const exchanges = [...view.findings.values()].flatMap((finding) =>
    finding.utterance ? [indexExchange(finding, finding.utterance)] : [],
  )
  const passages = [...exchanges, ...indexComplaint(view.complaint.text)]
  const holding = new Map<string, number>()
  for (const { question, words } of passages)
    for (const word of new Set([...question, ...words]))
      holding.set(word, (holding.get(word) ?? 0) + 1)
  return {
    view,
    passages,
    weight: (word) => Math.log(1 + passages.length / (holding.get(word) ?? unseenFrequency)),
  }
}

const records = new WeakMap<PatientView['complaint'], DialogueRecord>()

/** The indexed record of a case. Views of one case share their complaint and findings and therefore their record. */
export function dialogueRecord({ findings, complaint }: PatientView): DialogueRecord {
  const known = records.get(complaint)
  const before = known && [...known.view.findings.values()]
  if (known && before?.length === findings.size) {
    let at = 0
    let same = true
    for (const finding of findings.values()) same &&= finding === before[at++]
    if (same) return known
  }
  const record = indexRecord({ findings, complaint })
  records.set(complaint, record)
  return record
}
