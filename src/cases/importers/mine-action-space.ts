/** Mines an action space from recorded dialogues: the questions and diagnoses of their doctors. */
import { type Case, primaryDiagnosis, unrecordedDiagnosis } from '../../case.js'
import { Fault } from '../../error.js'
import { type ActionSpace, actionSpace } from '../../knowledge/action-space.js'
import { wordStems } from '../../text/word-stems.js'
import type { Action, Language } from '../../turn.js'

/** Language and size of a mined action space. */
export interface MineOptions {
  readonly language: Language
  /** @default 80 */
  readonly maxQuestions?: number
  /** @default 60 */
  readonly maxDiagnoses?: number
}

/** Least cosine similarity to the leader of a cluster at which a question joins it. */
const minSimilarity = 0.6
/** Longer questions are specific to one patient. */
const maxLength = 160

const courtesies =
  /^(?:(?:hello|hi|okay|ok|hmm+|mhm|alright|well|yes|right|i see|oh|and|so|then|also|or|but)\b[\s,.!…]*|(?:您好|你好|嗯+|哦|好的?|那么?|请问)[\s，,。！!]*)+/iu

function extractQuestions(text: string): string[] {
  return text
    .split(/(?<=[.?!;。？！；])\s*/)
    .filter((sentence) => /[?？]$/.test(sentence) && sentence.length <= maxLength)
    .map((sentence) => sentence.replace(courtesies, '').trim())
    .filter((sentence) => sentence.length > 1)
    .map((sentence) => sentence.charAt(0).toUpperCase() + sentence.slice(1))
}

/** The most frequent entry; of equals the first in UTF-16 order, so that file order does not matter. */
function mostFrequent(counts: ReadonlyMap<string, number>): string {
  let best = ''
  let most = 0
  for (const [text, count] of counts)
    if (count > most || (count === most && text < best)) {
      best = text
      most = count
    }
  return best
}

const increment = (counts: Map<string, number>, key: string): Map<string, number> =>
  counts.set(key, (counts.get(key) ?? 0) + 1)

interface Wording {
  readonly words: readonly string[]
  readonly texts: Map<string, number>
  total: number
}

function countWordings(cases: readonly Case[], language: Language): Wording[] {
  const wordings = new Map<string, Wording>()
  for (const { findings } of cases)
    for (const { question } of findings)
      for (const text of extractQuestions(question?.[language] ?? '')) {
        const bag = [...new Set(wordStems(text))].sort()
        if (bag.length === 0) continue
        const key = bag.join('\n')
        const wording = wordings.get(key) ?? { words: bag, texts: new Map(), total: 0 }
        wordings.set(key, wording)
        increment(wording.texts, text)
        wording.total++
      }
  return [...wordings]
    .sort(([a, one], [b, two]) => two.total - one.total || (a < b ? -1 : 1))
    .map(([, wording]) => wording)
}

/** Inverse document frequency of a word, log(1 + N / n): rare words distinguish questions better. */
function wordWeights(wordings: readonly Wording[]): (word: string) => number {
  const holding = new Map<string, number>()
  for (const wording of wordings) for (const word of wording.words) increment(holding, word)
  return (word) => Math.log(1 + wordings.length / (holding.get(word) ?? 1))
}

/** Clusters wordings greedily around the most frequent ones; most asked first, each by its leader's commonest text. */
function commonQuestions(wordings: readonly Wording[], most: number): string[] {
  const weight = wordWeights(wordings)
  const length = (list: readonly string[]) => Math.hypot(...list.map(weight))
  const clusters: { readonly leader: Wording; readonly length: number; total: number }[] = []
  const led = new Map<string, number[]>()
  for (const wording of wordings) {
    const own = length(wording.words)
    const dots = new Map<number, number>()
    for (const word of wording.words)
      for (const c of led.get(word) ?? []) dots.set(c, (dots.get(c) ?? 0) + weight(word) ** 2)
    let nearest = -1
    let similarity = minSimilarity
    for (const [c, dot] of dots) {
      const cosine = dot / (own * clusters[c]!.length)
      if (cosine >= similarity) {
        nearest = c
        similarity = cosine
      }
    }
    if (nearest >= 0) {
      clusters[nearest]!.total += wording.total
      continue
    }
    for (const word of wording.words) led.set(word, [...(led.get(word) ?? []), clusters.length])
    clusters.push({ leader: wording, length: own, total: wording.total })
  }
  return clusters
    .sort((a, b) => b.total - a.total)
    .slice(0, most)
    .map(({ leader }) => mostFrequent(leader.texts))
}

function commonDiagnoses(cases: readonly Case[], language: Language, most: number): Action[] {
  const names = new Map<string, number>()
  const advice = new Map<string, Map<string, number>>()
  const graded = cases.filter(({ gold }) => primaryDiagnosis(gold).id !== unrecordedDiagnosis)
  // Without any, a doctor still needs a way to end.
  for (const { gold } of graded.length > 0 ? graded : cases) {
    const name = primaryDiagnosis(gold).name[language]
    if (name === undefined) continue
    increment(names, name)
    const texts = advice.get(name) ?? new Map<string, number>()
    advice.set(name, texts)
    const recommendation = gold.recommendation?.[language]
    if (recommendation) increment(texts, recommendation)
  }
  return [...names]
    .sort(([a, one], [b, two]) => two - one || (a < b ? -1 : 1))
    .slice(0, most)
    .map(([diagnosis]) => {
      const recommendation = mostFrequent(advice.get(diagnosis) ?? new Map())
      return recommendation
        ? { kind: 'diagnose', diagnosis, recommendation }
        : { kind: 'diagnose', diagnosis }
    })
}

/**
 * Mines the action space of recorded dialogues: the most frequent questions, one per cluster, then the diagnoses with
 * the commonest recommendation for each, both most frequent first; no examinations. Pass training cases only. The
 * order of the cases does not matter.
 * @throws Fault `bad-input` when no case has a diagnosis in `language`
 */
export function mineActionSpace(
  trainCases: readonly Case[],
  { language, maxQuestions = 80, maxDiagnoses = 60 }: MineOptions,
): ActionSpace {
  const questions = commonQuestions(countWordings(trainCases, language), maxQuestions)
  const diagnoses = commonDiagnoses(trainCases, language, maxDiagnoses)
  if (diagnoses.length === 0)
    throw new Fault(
      'bad-input',
      `expected training cases with a diagnosis in ${language}, got ${trainCases.length} cases and none with one`,
    )
  return actionSpace(language, [
    ...questions.map((text): Action => ({ kind: 'ask', text })),
    ...diagnoses,
  ])
}
