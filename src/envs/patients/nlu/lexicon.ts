/** Lexicon of a knowledge base: every phrase it has for a finding, a disease or an examination, indexed. */
import type { Knowledge } from '../../../knowledge/knowledge.js'
import { perKnowledge } from '../../../knowledge/per-knowledge.js'
import { memoizeText } from '../../../platform/memoize.js'
import { inRanges, type SlicedWork, type SlowValue, slowValue } from '../../../platform/slices.js'
import { foldHan, growPhraseTree, type PhraseTree } from '../../../text/phrase-search.js'
import type { Language } from '../../../turn.js'
import { family } from './acts.js'
import { makeHomophoneCorrector } from './chinese/homophones.js'
import { makeSpellingCorrector } from './english/spelling.js'
import { findAncestors } from './focus.js'
import { labelledPhrases, normalText } from './labelled-phrases.js'
import { compilePatterns } from './patterns.js'
import { buildSimilarityIndex, type Phrases, type SimilarityMatch } from './similarity.js'
import { readUpdates, scriptOf, updatesFile } from './updates-file.js'

/** The meaning of a phrase; `jargon` is true for a technical term. */
export type LexiconEntry =
  | { readonly kind: 'finding'; readonly id: string; readonly jargon: boolean }
  | { readonly kind: 'disease' }
  | { readonly kind: 'exam' }
  | { readonly kind: 'aside'; readonly id: string }

/** The indexes of a knowledge base that utterances are interpreted with; built when first needed. */
export interface Lexicon {
  readonly knowledge: Knowledge
  /** Corrects the misspelt words of a text in Latin script. */
  correctSpelling(text: string): string
  /** Corrects the homophones of a Chinese text, one after the other; the last text has the most corrections. */
  correctHomophones(text: string): readonly string[]
  /** The finding whose question, as its author wrote it, is the whole text in normal form. */
  exactQuestion(text: string): string | undefined
  /** Makes the engine compile the patterns that a text is read with. */
  compilePatterns(text: string): void
  /** The phrases to search for in a text. */
  tree(text: string): PhraseTree<LexiconEntry>
  /** The finding or aside most similar to a text in normal form, by its questions, names and statements. */
  findSimilar(text: string): SimilarityMatch
  /** Findings about relatives, by their kind or the words of their questions. */
  readonly familyFindings: ReadonlySet<string>
  /** Ancestors by finding; only of findings that have a parent. */
  readonly ancestors: ReadonlyMap<string, ReadonlySet<string>>
  /** Whether two values of similarity are no rivals: a finding and its detail, a broad topic and a finding of it. */
  isNear(one: string, other: string): boolean
}

const disease: LexiconEntry = { kind: 'disease' }
const exam: LexiconEntry = { kind: 'exam' }

const plain = (id: string): LexiconEntry => ({ kind: 'finding', id, jargon: false })

/** Every phrase but the authors' questions, with its meaning. Of two meanings of a phrase, the first counts. */
function* phrases({
  findings,
  diseases,
  exams,
  asides,
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
  for (const { id, aliases, after } of asides)
    for (const text of aliases && !after ? [...aliases.zh, ...aliases.en] : [])
      yield [text, { kind: 'aside', id }]
}

/** The phrases that fit. */
function* fittingPhrases(knowledge: Knowledge, fits: (phrase: string) => boolean) {
  for (const entry of phrases(knowledge)) if (fits(entry[0])) yield entry
}

const ancestorSets = (knowledge: Knowledge): ReadonlyMap<string, ReadonlySet<string>> =>
  new Map(
    knowledge.findings
      .filter(({ parent }) => parent)
      .map(({ id }) => [id, new Set(findAncestors(knowledge, id))] as const),
  )

const han = /\p{Script=Han}/u
const latin = /\p{Script=Latin}/u

/** A part of the lexicon for texts in both scripts, in Latin script only, and without Latin letters. */
interface ByScript<T> {
  readonly both: SlowValue<T>
  readonly latin: SlowValue<T>
  readonly han: SlowValue<T>
}

/** A text in one script needs only the phrases in that script: half the work, and the same result. */
const byScript = <T>(make: (fits: (phrase: string) => boolean) => SlicedWork<T>): ByScript<T> => ({
  both: slowValue(() => make(() => true)),
  latin: slowValue(() => make((phrase) => /^[a-z]/i.test(phrase) || latin.test(phrase))),
  han: slowValue(() => make((phrase) => !/^[a-z]/i.test(phrase) && !latin.test(phrase))),
})

const fitting = <T>(part: ByScript<T>, text: string): SlowValue<T> => {
  if (!han.test(text)) return part.latin
  return latin.test(text) ? part.both : part.han
}

/** Word frequencies. */
function* countWords(phrases: Phrases): SlicedWork<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  yield* inRanges(phrases.length, 256, (from, to) => {
    for (const [phrase] of phrases.slice(from, to))
      for (const word of phrase.split(' ')) counts.set(word, (counts.get(word) ?? 0) + 1)
  })
  return counts
}

/** Characters whose normal form is their own letter, in lower case, or nothing. */
const plainCharacters = /^[ !"#$%&()*,\-/0-9:;?A-Z[\]_a-z{|}~'`\u4e00-\u9fff，。？！、]*$/
const firstLetter = /[a-z0-9\u4e00-\u9fff]/i
const lastLetter = /[a-z0-9\u4e00-\u9fff](?=[^a-z0-9\u4e00-\u9fff]*$)/i

/** The first and the last letter or digit of a text's normal form. */
function firstAndLast(text: string): string {
  const normal = plainCharacters.test(text) ? text : normalText(text)
  const ends = [firstLetter, lastLetter].map((letter) => letter.exec(normal)?.[0] ?? '')
  return foldHan(ends.join('').toLowerCase())
}

/**
 * The finding that a question of the knowledge base asks for, by the question's normal form. There are thousands of
 * questions: they are sorted by their first and last letter, and a group is put into normal form when it is needed.
 */
function* questionLookup(
  { findings }: Knowledge,
  fits: (phrase: string) => boolean,
): SlicedWork<(text: string) => string | undefined> {
  const groups = new Map<string, (readonly [question: string, finding: string])[]>()
  const known = new Map<string, ReadonlyMap<string, string>>()
  for (const { id, ask } of findings) {
    yield
    for (const question of [...ask.zh, ...ask.en]) {
      if (!fits(question)) continue
      const key = firstAndLast(question)
      const group = groups.get(key)
      if (group) group.push([question, id])
      else groups.set(key, [[question, id]])
    }
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

/** Share of a finding's questions that name relatives, from which it is about them: 爷爷，您有糖尿病吗 is not. */
const familyShare = 0.1

function* familyFindings({ findings }: Knowledge): SlicedWork<ReadonlySet<string>> {
  const found = new Set<string>()
  for (const { id, kind, ask } of findings) {
    yield
    const asked = [...ask.zh, ...ask.en]
    const named = asked.filter((text) => family.test(text.toLowerCase())).length
    if (kind === 'family' || named >= familyShare * asked.length) found.add(id)
  }
  return found
}

/** Finds the most similar finding in one language; with what the build has learnt of the shipped knowledge base. */
function* similarityOf(
  labelled: SlowValue<Phrases>,
  language: Language,
): SlicedWork<(text: string) => SimilarityMatch> {
  const phrases = yield* labelled.rest()
  const known = yield* readUpdates(updatesFile(language), phrases)
  const { findNearest } = yield* buildSimilarityIndex(phrases, scriptOf[language], known)
  // A text is asked about several times in its turn, and again by other patients; a result holds a score a finding.
  return memoizeText(findNearest, { most: 1024, longest: 512 })
}

/** The parts of a lexicon. Each is made when it is first needed. */
function makeParts(knowledge: Knowledge) {
  const labelled = {
    en: slowValue(() => labelledPhrases(knowledge, 'en')),
    zh: slowValue(() => labelledPhrases(knowledge, 'zh')),
  }
  return {
    ancestors: ancestorSets(knowledge),
    questions: byScript((fits) => questionLookup(knowledge, fits)),
    tree: byScript((fits) => growPhraseTree(fittingPhrases(knowledge, fits))),
    family: slowValue(() => familyFindings(knowledge)),
    patterns: {
      en: slowValue(() => compilePatterns('en')),
      zh: slowValue(() => compilePatterns('zh')),
    },
    // An utterance of one sentence is looked up as a sentence and as a whole.
    similar: {
      en: slowValue(() => similarityOf(labelled.en, 'en')),
      zh: slowValue(() => similarityOf(labelled.zh, 'zh')),
    },
    spelling: slowValue(function* () {
      const english = yield* labelled.en.rest()
      return makeSpellingCorrector(yield* countWords(english))
    }),
    homophones: slowValue(function* () {
      const chinese = yield* labelled.zh.rest()
      return yield* makeHomophoneCorrector(chinese.map(([phrase]) => phrase))
    }),
  }
}

/** How a part of the lexicon is got; where it must be made first, what is likely to be needed after it is made with it. */
type Take = <T>(part: SlowValue<T>, ...next: readonly SlowValue<unknown>[]) => T

/** Whether `part` is a detail of the finding `whole`, or a finding of the broad topic `whole`. */
const isPart = (
  { aside }: Knowledge,
  ancestors: Lexicon['ancestors'],
  part: string,
  whole: string,
): boolean =>
  ancestors.get(part)?.has(whole) === true ||
  aside.get(whole.replace(/^aside /, ''))?.also?.includes(part) === true

const lexiconOf = (
  knowledge: Knowledge,
  parts: ReturnType<typeof makeParts>,
  take: Take,
): Lexicon => ({
  knowledge,
  ancestors: parts.ancestors,
  isNear: (one, other) =>
    one === other ||
    isPart(knowledge, parts.ancestors, one, other) ||
    isPart(knowledge, parts.ancestors, other, one),
  correctSpelling: (text) => (latin.test(text) ? take(parts.spelling)(text) : text),
  correctHomophones: (text) => (han.test(text) ? take(parts.homophones)(text) : []),
  exactQuestion: (text) => take(fitting(parts.questions, text))(text),
  compilePatterns(text) {
    take(han.test(text) ? parts.patterns.zh : parts.patterns.en)
  },
  get familyFindings() {
    return take(parts.family)
  },
  tree: (text) => take(fitting(parts.tree, text), parts.family),
  // What similarity leaves unclear is corrected next.
  findSimilar: (text) =>
    (han.test(text)
      ? take(parts.similar.zh, parts.homophones)
      : take(parts.similar.en, parts.spelling))(text),
})

/** Thrown by a lexicon whose part is not made yet. */
export class NotReady extends Error {
  override readonly name = 'NotReady'
  readonly #parts: readonly SlowValue<unknown>[]

  constructor(parts: readonly SlowValue<unknown>[]) {
    super('Expected a part of the lexicon to be made before its use')
    this.#parts = parts
  }

  /** Makes the part in slices, and those likely to be needed after it: each means another try for all who wait. */
  async prepare(): Promise<void> {
    for (const part of this.#parts) await part.prepare()
  }
}

/** The lexicon of a knowledge base, with two ways to get a part that is not made yet. */
export interface Lexicons {
  /** Makes it at once. */
  readonly atOnce: Lexicon
  /** Throws `NotReady`: make the part in slices, then try again. */
  readonly whenReady: Lexicon
}

/** The lexicon of a knowledge base; both ways share the parts. */
export const getLexicons = perKnowledge((knowledge): Lexicons => {
  const parts = makeParts(knowledge)
  return {
    atOnce: lexiconOf(knowledge, parts, (part) => part.get()),
    whenReady: lexiconOf(knowledge, parts, (part, ...next) => {
      if (!part.ready) throw new NotReady([part, ...next])
      return part.get()
    }),
  }
})
