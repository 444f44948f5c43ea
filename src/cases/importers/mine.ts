/** A vocabulary mined from recorded dialogues: what their doctors asked, and what they concluded. */
import type { Case } from '../../case.js'
import { primary } from '../../case.js'
import { Fault } from '../../error.js'
import type { ActionSpace } from '../../knowledge/action-space.js'
import { actionSpace } from '../../knowledge/action-space.js'
import { words } from '../../text/word-stems.js'
import type { Action, Language } from '../../turn.js'

export interface MineOptions {
  readonly language: Language
  /** @default 80 */
  readonly maxQuestions?: number
  /** @default 60 */
  readonly maxDiagnoses?: number
}

/** Least cosine to the leader of a cluster at which a question joins it. */
const sameQuestion = 0.6
/** Longer questions are about one patient, not about patients. */
const longest = 160

const courtesies =
  /^(?:(?:hello|hi|okay|ok|hmm+|mhm|alright|well|yes|right|i see|oh|and|so|then|also|or|but)\b[\s,.!…]*|(?:您好|你好|嗯+|哦|好的?|那么?|请问)[\s，,。！!]*)+/iu

/** The questions in a recorded utterance, one each, without the greeting before them. */
function questionsOf(text: string): string[] {
  return text
    .split(/(?<=[.?!;。？！；])\s*/)
    .filter((sentence) => /[?？]$/.test(sentence) && sentence.length <= longest)
    .map((sentence) => sentence.replace(courtesies, '').trim())
    .filter((sentence) => sentence.length > 1)
    .map((sentence) => sentence.charAt(0).toUpperCase() + sentence.slice(1))
}

/** The most frequent entry; of equals the first in code point order, so that file order decides nothing. */
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

const count = (counts: Map<string, number>, key: string): Map<string, number> =>
  counts.set(key, (counts.get(key) ?? 0) + 1)

/** Questions of the same words. */
interface Wording {
  readonly words: readonly string[]
  readonly texts: Map<string, number>
  total: number
}

function wordingsOf(cases: readonly Case[], language: Language): Wording[] {
  const wordings = new Map<string, Wording>()
  for (const { findings } of cases)
    for (const { question } of findings)
      for (const text of questionsOf(question?.[language] ?? '')) {
        const bag = [...new Set(words(text))].sort()
        if (bag.length === 0) continue
        const key = bag.join('\n')
        const wording = wordings.get(key) ?? { words: bag, texts: new Map(), total: 0 }
        wordings.set(key, wording)
        count(wording.texts, text)
        wording.total++
      }
  return [...wordings]
    .sort(([a, one], [b, two]) => two.total - one.total || (a < b ? -1 : 1))
    .map(([, wording]) => wording)
}

/** Rare words tell questions apart better than common ones. */
function weigher(wordings: readonly Wording[]): (word: string) => number {
  const holding = new Map<string, number>()
  for (const wording of wordings) for (const word of wording.words) count(holding, word)
  return (word) => Math.log(1 + wordings.length / (holding.get(word) ?? 1))
}

/** Greedy clusters around the most frequent wordings, most asked first; each by its leader's commonest text. */
function commonQuestions(wordings: readonly Wording[], most: number): string[] {
  const weight = weigher(wordings)
  const length = (list: readonly string[]) => Math.hypot(...list.map(weight))
  const clusters: { readonly leader: Wording; readonly length: number; total: number }[] = []
  const led = new Map<string, number[]>()
  for (const wording of wordings) {
    const own = length(wording.words)
    const dots = new Map<number, number>()
    for (const word of wording.words)
      for (const c of led.get(word) ?? []) dots.set(c, (dots.get(c) ?? 0) + weight(word) ** 2)
    let nearest = -1
    let likeness = sameQuestion
    for (const [c, dot] of dots) {
      const cosine = dot / (own * clusters[c]!.length)
      if (cosine >= likeness) {
        nearest = c
        likeness = cosine
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
  for (const { gold } of cases) {
    const name = primary(gold).name[language]
    if (name === undefined) continue
    count(names, name)
    const texts = advice.get(name) ?? new Map<string, number>()
    advice.set(name, texts)
    const recommendation = gold.recommendation?.[language]
    if (recommendation) count(texts, recommendation)
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
 * The vocabulary of recorded dialogues: the questions their doctors asked most, one of each kind, then their
 * diagnoses with the advice given most often for each, both most frequent first; no examinations. Give it
 * training cases only. The same cases in another order make the same vocabulary.
 * @throws Fault `bad-input` when no case has a diagnosis in `language`
 */
export function mineActionSpace(
  trainCases: readonly Case[],
  { language, maxQuestions = 80, maxDiagnoses = 60 }: MineOptions,
): ActionSpace {
  const questions = commonQuestions(wordingsOf(trainCases, language), maxQuestions)
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
