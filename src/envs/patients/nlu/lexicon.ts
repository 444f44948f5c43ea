/** Lexicon of a knowledge base: every phrase it has for a finding, a disease or an examination, indexed. */
import type { Knowledge } from '../../../knowledge/knowledge.js'
import { perKnowledge } from '../../../knowledge/per-knowledge.js'
import { normaliseText, type PhraseTree, phraseTree } from '../../../text/phrase-search.js'
import type { Language } from '../../../turn.js'
import { family } from './acts.js'
import { findAncestors } from './focus.js'
import { makeHomophoneCorrector } from './homophones.js'
import { buildSimilarityIndex, type SimilarityIndex, type SimilarityMatch } from './similarity.js'
import { makeSpellingCorrector } from './spelling.js'

const plainAscii = /^[ !"#$%&()*,\-/0-9:;?A-Z[\]_a-z{|}~'`]*$/

/** The normal form of a phrase, with a fast path for plain ASCII. */
const normalText = (phrase: string): string =>
  plainAscii.test(phrase)
    ? phrase
        .toLowerCase()
        .replace(/['`]/g, '')
        .replace(/[^a-z0-9]+/g, ' ')
        .trim()
    : normaliseText(phrase).text

/** The meaning of a phrase; `jargon` is true for a technical term. */
export type LexiconEntry =
  | { readonly kind: 'finding'; readonly id: string; readonly jargon: boolean }
  | { readonly kind: 'disease' }
  | { readonly kind: 'exam' }

/** The indexes of a knowledge base that utterances are interpreted with; built when first needed. */
export interface Lexicon {
  readonly knowledge: Knowledge
  /** Corrects the misspelt words of a text in Latin script. */
  correctSpelling(text: string): string
  /** Corrects the homophones of a Chinese text. */
  correctHomophones(text: string): string
  /** The finding whose question, as its author wrote it, is the whole text in normal form. */
  exactQuestion(text: string): string | undefined
  /** The phrases to search for in a text. */
  tree(text: string): PhraseTree<LexiconEntry>
  /** The finding or aside most similar to a text in normal form, by its questions, names and statements. */
  findSimilar(text: string): SimilarityMatch
  /** Findings about relatives, by their kind or the words of their questions. */
  readonly familyFindings: ReadonlySet<string>
  /** Ancestors by finding; only of findings that have a parent. */
  readonly ancestors: ReadonlyMap<string, ReadonlySet<string>>
}

const disease: LexiconEntry = { kind: 'disease' }
const exam: LexiconEntry = { kind: 'exam' }

const plain = (id: string): LexiconEntry => ({ kind: 'finding', id, jargon: false })

/** Every phrase but the authors' questions, with its meaning. Of two meanings of a phrase, the first counts. */
function* phrases({
  findings,
  diseases,
  exams,
}: Knowledge): Generator<readonly [string, LexiconEntry]> {
  for (const { id, name } of findings)
    for (const text of [name.zh, name.en]) yield [text, plain(id)]
  for (const { id, aliases } of findings)
    for (const text of [...aliases.zh, ...aliases.en]) yield [text, plain(id)]
  for (const { id, jargon } of findings)
    for (const text of jargon ? [...jargon.zh, ...jargon.en] : [])
      yield [text, { kind: 'finding', id, jargon: true }]
  for (const { name, aliases } of diseases)
    for (const text of [name.zh, name.en, ...aliases.zh, ...aliases.en]) yield [text, disease]
  for (const { name, aliases } of exams)
    for (const text of [name.zh, name.en, ...aliases.zh, ...aliases.en]) yield [text, exam]
}

const ancestorSets = (knowledge: Knowledge): ReadonlyMap<string, ReadonlySet<string>> =>
  new Map(
    knowledge.findings
      .filter(({ parent }) => parent)
      .map(({ id }) => [id, new Set(findAncestors(knowledge, id))] as const),
  )

const han = /\p{Script=Han}/u
const latin = /\p{Script=Latin}/u

/**
 * Makes an index lazily, once for texts with Han characters and once for texts without, which need only the
 * phrases in Latin script: half the work, and the same result.
 */
function lazyByScript<T>(make: (fits: (phrase: string) => boolean) => T): (text: string) => T {
  let whole: T | undefined
  let part: T | undefined
  return (text) => {
    if (han.test(text)) {
      whole ??= make(() => true)
      return whole
    }
    part ??= make((phrase) => /^[a-z]/i.test(phrase) || latin.test(phrase))
    return part
  }
}

/** All questions, names and statements of findings, and all asides, in one language, each with its id. */
function labelledPhrases(
  { findings, asides }: Knowledge,
  language: Language,
): (readonly [string, string])[] {
  const ofFindings = findings.flatMap(({ id, name, ask, aliases, jargon, say }) =>
    [
      ...ask[language],
      name[language],
      ...aliases[language],
      ...(jargon?.[language] ?? []),
      ...Object.values(say).flatMap((both) => both[language]),
    ].map((text) => [normalText(text), id] as const),
  )
  const ofNone = asides.flatMap(({ id, text }) =>
    text[language].map((one) => [normalText(one), `aside ${id}`] as const),
  )
  return [...ofFindings, ...ofNone]
}

/** Word frequencies. */
function countWords(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}

/** The first and the last letter or digit of a plain ASCII phrase; its normal form begins and ends with the same. */
function firstAndLast(phrase: string): string {
  let [from, to] = [0, phrase.length - 1]
  while (from < to && !/[a-z0-9]/i.test(phrase[from]!)) from++
  while (to > from && !/[a-z0-9]/i.test(phrase[to]!)) to--
  return `${phrase[from] ?? ''}${phrase[to] ?? ''}`.toLowerCase()
}

/**
 * The finding that a question of the knowledge base asks for, by the question's normal form. There are thousands of
 * questions: they are sorted by their first and last letter, and a group is put into normal form when it is needed.
 */
function questionLookup(
  { findings }: Knowledge,
  fits: (phrase: string) => boolean,
): (text: string) => string | undefined {
  const groups = new Map<string, (readonly [question: string, finding: string])[]>()
  const known = new Map<string, ReadonlyMap<string, string>>()
  for (const { id, ask } of findings)
    for (const question of [...ask.zh, ...ask.en]) {
      if (!fits(question)) continue
      const key = firstAndLast(plainAscii.test(question) ? question : normalText(question))
      const group = groups.get(key)
      if (group) group.push([question, id])
      else groups.set(key, [[question, id]])
    }
  return (text) => {
    const key = firstAndLast(text)
    let group = known.get(key)
    if (!group) {
      // Of two findings with the same question, the first counts.
      const entries = [...(groups.get(key) ?? [])].reverse()
      group = new Map(entries.map(([question, id]) => [normalText(question), id] as const))
      known.set(key, group)
    }
    return group.get(text)
  }
}

const familyFindings = ({ findings }: Knowledge): ReadonlySet<string> =>
  new Set(
    findings
      .filter(
        ({ kind, ask }) =>
          kind === 'family' ||
          [...ask.zh, ...ask.en].some((text) => family.test(text.toLowerCase())),
      )
      .map(({ id }) => id),
  )

/** Corrects the spelling of texts in Latin script by the words of the English phrases. */
function correctLatin(english: () => readonly (readonly [string, string])[]) {
  let correct: ((text: string) => string) | undefined
  return (text: string): string => {
    if (!latin.test(text)) return text
    correct ??= makeSpellingCorrector(
      countWords(english().flatMap(([phrase]) => phrase.split(' '))),
    )
    return correct(text)
  }
}

/** Corrects the homophones of texts in Han script by the Chinese names of findings. */
function correctHan({ findings }: Knowledge) {
  let correct: ((text: string) => string) | undefined
  return (text: string): string => {
    if (!han.test(text)) return text
    correct ??= makeHomophoneCorrector(
      findings.flatMap(({ name, aliases }) => [name.zh, ...aliases.zh]),
    )
    return correct(text)
  }
}

/** The lexicon of a knowledge base, built once. */
export const getLexicon = perKnowledge((knowledge): Lexicon => {
  const questions = lazyByScript((fits) => questionLookup(knowledge, fits))
  const indices = new Map<Language, SimilarityIndex>()
  const labelled: { [language in Language]?: ReturnType<typeof labelledPhrases> } = {}
  const labelledIn = (language: Language) => {
    labelled[language] ??= labelledPhrases(knowledge, language)
    return labelled[language]
  }
  let shared: ReadonlySet<string> | undefined
  return {
    knowledge,
    correctSpelling: correctLatin(() => labelledIn('en')),
    correctHomophones: correctHan(knowledge),
    exactQuestion: (text) => questions(text)(text),
    get familyFindings() {
      shared ??= familyFindings(knowledge)
      return shared
    },
    tree: lazyByScript((fits) =>
      phraseTree([...phrases(knowledge)].filter(([text]) => fits(text))),
    ),
    findSimilar(text) {
      const language = han.test(text) ? 'zh' : 'en'
      const index =
        indices.get(language) ??
        buildSimilarityIndex(labelledIn(language), language === 'zh' ? 'han' : 'latin')
      indices.set(language, index)
      return index.findNearest(text)
    },
    ancestors: ancestorSets(knowledge),
  }
})
