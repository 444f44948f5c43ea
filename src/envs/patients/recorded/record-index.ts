/** Retrieval of the recorded exchanges that are most similar to a question, by the words they share. */
import type { Finding, PatientView } from '../../../case.js'
import { wordStems } from '../../../text/word-stems.js'

/** Added to the score, times the share of the question's words that the recorded answer has. */
const answerWeight = 0.35
/** Document frequency, in exchanges, of a word that no exchange of the record has. */
const unseenFrequency = 0.7
const tie = 1e-9

type WordSet = ReadonlySet<string>

interface RecordedExchange {
  readonly finding: Finding
  readonly question: WordSet
  readonly sentences: readonly WordSet[]
  readonly answer: WordSet
}

/** The recorded exchanges that match a question best. */
export interface ExchangeMatch {
  /** Similarity from 0 to 1. */
  readonly score: number
  /** Findings of all exchanges with that score, the most similar whole question first. */
  readonly findings: readonly Finding[]
}

/** The recorded exchanges of a case, indexed for retrieval. */
export interface DialogueRecord {
  readonly findings: readonly Finding[]
  readonly exchanges: readonly RecordedExchange[]
  /** Inverse document frequency of a word. */
  readonly weight: (word: string) => number
}

const wordSet = (text: string): WordSet => new Set(wordStems(text))
const splitSentences = (text: string): string[] =>
  text.split(/(?<=[.?!;。？！；])\s*|\n/).filter((sentence) => sentence.trim() !== '')
const wordSets = (texts: readonly string[]): WordSet[] =>
  texts.map(wordSet).filter(({ size }) => size > 0)
const bothLanguages = (text: {
  readonly zh?: string | undefined
  readonly en?: string | undefined
}) => [text.zh, text.en].filter((part) => part !== undefined).join('\n')

function indexRecord(findings: readonly Finding[]): DialogueRecord {
  const exchanges = findings.flatMap((finding): RecordedExchange[] => {
    if (!finding.utterance) return []
    const question = bothLanguages(finding.question ?? {})
    return [
      {
        finding,
        question: wordSet(question),
        sentences: wordSets(splitSentences(question)),
        answer: wordSet(bothLanguages(finding.utterance)),
      },
    ]
  })
  const holding = new Map<string, number>()
  for (const { question, answer } of exchanges)
    for (const word of new Set([...question, ...answer]))
      holding.set(word, (holding.get(word) ?? 0) + 1)
  return {
    findings,
    exchanges,
    weight: (word) => Math.log(1 + exchanges.length / (holding.get(word) ?? unseenFrequency)),
  }
}

const records = new WeakMap<Finding, DialogueRecord>()

/** The indexed record of a case. Views of one case share their findings and therefore their record. */
export function dialogueRecord({ findings }: PatientView): DialogueRecord {
  const list = [...findings.values()]
  const key = list[0]
  if (!key) return indexRecord([])
  const known = records.get(key)
  if (known?.findings.length === list.length && known.findings.every((f, i) => f === list[i]))
    return known
  const record = indexRecord(list)
  records.set(key, record)
  return record
}

/** Cosine of two sets of words, weighted by idf. */
function cosine(a: WordSet, b: WordSet, weight: DialogueRecord['weight']): number {
  let dot = 0
  let squareA = 0
  let squareB = 0
  for (const word of a) {
    const square = weight(word) ** 2
    squareA += square
    if (b.has(word)) dot += square
  }
  if (dot === 0) return 0
  for (const word of b) squareB += weight(word) ** 2
  return dot / Math.sqrt(squareA * squareB)
}

/** Share of the words of `a` that `b` has too, weighted by idf. */
function coverage(a: WordSet, b: WordSet, weight: DialogueRecord['weight']): number {
  let all = 0
  let shared = 0
  for (const word of a) {
    all += weight(word)
    if (b.has(word)) shared += weight(word)
  }
  return all > 0 ? shared / all : 0
}

/** Finds the exchanges most similar to an utterance: the best of the whole and of each question in it counts. */
export function findExchanges(
  utterance: string,
  { exchanges, weight }: DialogueRecord,
): ExchangeMatch {
  const whole = wordSet(utterance)
  const asked = wordSets(splitSentences(utterance).filter((sentence) => /[?？]/.test(sentence)))
  const scored = exchanges.map(({ finding, question, sentences, answer }) => {
    const similarity = (query: WordSet): number => {
      let best = cosine(query, question, weight)
      for (const sentence of sentences) best = Math.max(best, cosine(query, sentence, weight))
      return Math.min(1, best + answerWeight * coverage(query, answer, weight))
    }
    const score = asked.reduce(
      (best, query) => Math.max(best, similarity(query)),
      similarity(whole),
    )
    return { finding, score, exact: cosine(whole, question, weight) }
  })
  const score = scored.reduce((best, one) => Math.max(best, one.score), 0)
  const best = scored.filter((one) => one.score > score - tie).sort((a, b) => b.exact - a.exact)
  return { score, findings: best.map(({ finding }) => finding) }
}
