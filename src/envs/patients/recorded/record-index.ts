/** Which recorded exchange a question is likest to, by the words they share. */
import type { Finding, PatientView } from '../../../case.js'
import { words } from '../../../text/word-stems.js'

/** Weight of an answer that speaks of all that was asked, when the recorded question did not ask it. */
const answerWeight = 0.35
/** Weight of a word that no exchange of the record holds, in exchanges. */
const unheard = 0.7
const tie = 1e-9

type Bag = ReadonlySet<string>

interface Exchange {
  readonly finding: Finding
  readonly question: Bag
  readonly sentences: readonly Bag[]
  readonly answer: Bag
}

/** What a question comes to in one record. */
export interface Likest {
  readonly score: number
  /** Exchanges of that score, the one whose whole question is likest first. */
  readonly findings: readonly Finding[]
}

export interface DialogueRecord {
  readonly findings: readonly Finding[]
  readonly exchanges: readonly Exchange[]
  readonly weight: (word: string) => number
}

const bag = (text: string): Bag => new Set(words(text))
const sentencesOf = (text: string): string[] =>
  text.split(/(?<=[.?!;。？！；])\s*|\n/).filter((sentence) => sentence.trim() !== '')
const bags = (texts: readonly string[]): Bag[] => texts.map(bag).filter(({ size }) => size > 0)
const both = (text: { readonly zh?: string | undefined; readonly en?: string | undefined }) =>
  [text.zh, text.en].filter((part) => part !== undefined).join('\n')

function makeRecord(findings: readonly Finding[]): DialogueRecord {
  const exchanges = findings.flatMap((finding): Exchange[] => {
    if (!finding.utterance) return []
    const question = both(finding.question ?? {})
    return [
      {
        finding,
        question: bag(question),
        sentences: bags(sentencesOf(question)),
        answer: bag(both(finding.utterance)),
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
    weight: (word) => Math.log(1 + exchanges.length / (holding.get(word) ?? unheard)),
  }
}

const records = new WeakMap<Finding, DialogueRecord>()

/** The record of a view; views of one case share their findings, and so their record. */
export function recordOf({ findings }: PatientView): DialogueRecord {
  const list = [...findings.values()]
  const key = list[0]
  if (!key) return makeRecord([])
  const known = records.get(key)
  if (known?.findings.length === list.length && known.findings.every((f, i) => f === list[i]))
    return known
  const record = makeRecord(list)
  records.set(key, record)
  return record
}

/** Cosine of two bags of words. */
function cosine(a: Bag, b: Bag, weight: DialogueRecord['weight']): number {
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

/** How much of what `a` says `b` says too, by weight. */
function coverage(a: Bag, b: Bag, weight: DialogueRecord['weight']): number {
  let all = 0
  let shared = 0
  for (const word of a) {
    all += weight(word)
    if (b.has(word)) shared += weight(word)
  }
  return all > 0 ? shared / all : 0
}

/** The exchanges likest to an utterance; the best of it as a whole and of each question in it counts. */
export function likestOf(utterance: string, { exchanges, weight }: DialogueRecord): Likest {
  const whole = bag(utterance)
  const asked = bags(sentencesOf(utterance).filter((sentence) => /[?？]/.test(sentence)))
  const scored = exchanges.map(({ finding, question, sentences, answer }) => {
    const likeness = (query: Bag): number => {
      let best = cosine(query, question, weight)
      for (const sentence of sentences) best = Math.max(best, cosine(query, sentence, weight))
      return Math.min(1, best + answerWeight * coverage(query, answer, weight))
    }
    const score = asked.reduce((best, query) => Math.max(best, likeness(query)), likeness(whole))
    return { finding, score, exact: cosine(whole, question, weight) }
  })
  const score = scored.reduce((best, one) => Math.max(best, one.score), 0)
  const best = scored.filter((one) => one.score > score - tie).sort((a, b) => b.exact - a.exact)
  return { score, findings: best.map(({ finding }) => finding) }
}
