/** The words of a knowledge base: every phrase it has for a finding, a disease or an examination. */
import type { Knowledge } from '../../../knowledge/knowledge.js'
import type { PhraseTree } from '../../../text/phrase-search.js'
import { normal, phraseTree } from '../../../text/phrase-search.js'
import type { Language } from '../../../turn.js'
import { family } from './acts.js'
import { ancestorsOf } from './focus.js'
import { homophones } from './homophones.js'
import type { Likeness, Likest } from './likeness.js'
import { likeness } from './likeness.js'
import { speller } from './spelling.js'
import type { Understood } from './understand.js'

const simple = /^[ !"#$%&()*,\-/0-9:;?A-Z[\]_a-z{|}~'`]*$/

/** The normal form of a phrase; most are plain ASCII and need not be read letter by letter. */
const normalText = (phrase: string): string =>
  simple.test(phrase)
    ? phrase
        .toLowerCase()
        .replace(/['`]/g, '')
        .replace(/[^a-z0-9]+/g, ' ')
        .trim()
    : normal(phrase).text

/** What a phrase means. */
export type Entry =
  | { readonly kind: 'finding'; readonly id: string; readonly jargon: boolean }
  | { readonly kind: 'disease' }
  | { readonly kind: 'exam' }

/** A knowledge base, indexed for reading utterances. */
export interface Lexicon {
  readonly knowledge: Knowledge
  /** A text with its misspelt words mended. */
  spelt(text: string): string
  /** A Chinese text with a phrase put in that it sounds like. */
  sounded(text: string): string
  /** What the whole of a text in normal form asks for, in words of the knowledge base. */
  whole(text: string): string | undefined
  /** The phrases a text can hold. */
  tree(text: string): PhraseTree<Entry>
  /** What a text in normal form is likest to, of all that findings are asked for and told with, and asides. */
  alike(text: string): Likest
  /** Findings that have to do with other people, by their words. */
  readonly shared: ReadonlySet<string>
  /** The ancestors of a finding that has some. */
  readonly ancestors: ReadonlyMap<string, ReadonlySet<string>>
  /** Utterances read lately. */
  readonly memo: Map<string, Understood>
}

const disease: Entry = { kind: 'disease' }
const exam: Entry = { kind: 'exam' }

const plain = (id: string): Entry => ({ kind: 'finding', id, jargon: false })

/** Every other phrase with what it means; where two mean different things, the first counts. */
function* phrases({ findings, diseases, exams }: Knowledge): Generator<readonly [string, Entry]> {
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

const ancestries = (knowledge: Knowledge): ReadonlyMap<string, ReadonlySet<string>> =>
  new Map(
    knowledge.findings
      .filter(({ parent }) => parent)
      .map(({ id }) => [id, new Set(ancestorsOf(knowledge, id))] as const),
  )

const han = /\p{Script=Han}/u
const latin = /\p{Script=Latin}/u

/**
 * Made when first needed, once for texts with Han characters and once for those without, which need only the
 * phrases in Latin script: half the work, and the same outcome.
 */
function byScript<T>(make: (fits: (phrase: string) => boolean) => T): (text: string) => T {
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

/** Everything said when a finding is asked for or told, or none is, in one language, in normal form. */
function sayings(
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

/** How often each word comes. */
function counted(words: readonly string[]): ReadonlyMap<string, number> {
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
      const key = firstAndLast(simple.test(question) ? question : normalText(question))
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

const sharedOf = ({ findings }: Knowledge): ReadonlySet<string> =>
  new Set(
    findings
      .filter(
        ({ kind, ask }) =>
          kind === 'family' ||
          [...ask.zh, ...ask.en].some((text) => family.test(text.toLowerCase())),
      )
      .map(({ id }) => id),
  )

const lexicons = new WeakMap<Knowledge, Lexicon>()

/** The lexicon of a knowledge base, built once. */
export function lexiconOf(knowledge: Knowledge): Lexicon {
  const made = lexicons.get(knowledge)
  if (made) return made
  const asked = byScript((fits) => questionLookup(knowledge, fits))
  const indices = new Map<Language, Likeness>()
  const said: { [language in Language]?: ReturnType<typeof sayings> } = {}
  const sayingsIn = (language: Language) => {
    said[language] ??= sayings(knowledge, language)
    return said[language]
  }
  let shared: ReadonlySet<string> | undefined
  let mend: ((text: string) => string) | undefined
  let sound: ((text: string) => string) | undefined
  const lexicon: Lexicon = {
    knowledge,
    spelt(text) {
      if (!latin.test(text)) return text
      mend ??= speller(counted(sayingsIn('en').flatMap(([saying]) => saying.split(' '))))
      return mend(text)
    },
    sounded(text) {
      if (!han.test(text)) return text
      sound ??= homophones(
        knowledge.findings.flatMap(({ name, aliases }) => [name.zh, ...aliases.zh]),
      )
      return sound(text)
    },
    whole: (text) => asked(text)(text),
    get shared() {
      shared ??= sharedOf(knowledge)
      return shared
    },
    tree: byScript((fits) => phraseTree([...phrases(knowledge)].filter(([text]) => fits(text)))),
    alike(text) {
      const language = han.test(text) ? 'zh' : 'en'
      const index =
        indices.get(language) ?? likeness(sayingsIn(language), language === 'zh' ? 'han' : 'latin')
      indices.set(language, index)
      return index.likest(text)
    },
    ancestors: ancestries(knowledge),
    memo: new Map(),
  }
  lexicons.set(knowledge, lexicon)
  return lexicon
}
