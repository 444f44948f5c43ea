/** The words of a knowledge base: every phrase it has for a finding, a disease or an examination. */
import type { Knowledge } from '../../knowledge.js'
import type { PhraseTree } from '../../phrases.js'
import { phraseTree } from '../../phrases.js'
import { ancestorsOf } from './focus.js'
import type { Likeness } from './likeness.js'
import { likeness } from './likeness.js'
import type { Understood } from './understand.js'

/** What a phrase means. */
export type Entry =
  | { readonly kind: 'finding'; readonly id: string; readonly jargon: boolean }
  | { readonly kind: 'disease' }
  | { readonly kind: 'exam' }

/** A knowledge base, indexed for reading utterances. */
export interface Lexicon {
  readonly knowledge: Knowledge
  /** The phrases a text can hold. */
  tree(text: string): PhraseTree<Entry>
  /** The phrases of findings that a text can be like. */
  alike(text: string): Likeness<string>
  /** The ancestors of a finding that has some. */
  readonly ancestors: ReadonlyMap<string, ReadonlySet<string>>
  /** Utterances read lately. */
  readonly memo: Map<string, Understood>
}

const disease: Entry = { kind: 'disease' }
const exam: Entry = { kind: 'exam' }

const plain = (id: string): Entry => ({ kind: 'finding', id, jargon: false })

/** Every phrase with what it means; where two mean different things, the first counts. */
function* phrases({ findings, diseases, exams }: Knowledge): Generator<readonly [string, Entry]> {
  for (const { id, ask } of findings)
    for (const text of [...ask.zh, ...ask.en]) yield [text, plain(id)]
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
    part ??= make((phrase) => latin.test(phrase))
    return part
  }
}

const lexicons = new WeakMap<Knowledge, Lexicon>()

/** The lexicon of a knowledge base, built once. */
export function lexiconOf(knowledge: Knowledge): Lexicon {
  let lexicon = lexicons.get(knowledge)
  if (!lexicon) {
    const known = [...phrases(knowledge)]
    const ofFindings = known.flatMap(([text, entry]) =>
      entry.kind === 'finding' ? [[text, entry.id] as const] : [],
    )
    lexicon = {
      knowledge,
      tree: byScript((fits) => phraseTree(known.filter(([text]) => fits(text)))),
      alike: byScript((fits) => likeness(ofFindings.filter(([text]) => fits(text)))),
      ancestors: ancestries(knowledge),
      memo: new Map(),
    }
    lexicons.set(knowledge, lexicon)
  }
  return lexicon
}
