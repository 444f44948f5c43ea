/** The words of a knowledge base: every phrase it has for a finding, a disease or an examination. */
import type { Knowledge } from '../../knowledge.js'
import type { PhraseTree } from '../../phrases.js'
import { normal, phraseTree } from '../../phrases.js'
import { attributesOf } from './attributes.js'
import type { Likeness } from './likeness.js'
import { likeness } from './likeness.js'
import type { Understood } from './understand.js'

/** What a phrase means. */
export type Entry =
  | { readonly kind: 'finding'; readonly id: string }
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
  /** The descendants of a finding, with the attributes their phrases speak of. */
  readonly below: ReadonlyMap<
    string,
    readonly (readonly [id: string, attributes: ReadonlySet<string>])[]
  >
  /** Utterances read lately. */
  readonly memo: Map<string, Understood>
}

const disease: Entry = { kind: 'disease' }
const exam: Entry = { kind: 'exam' }

/** Every phrase with what it means; where two mean different things, the first counts. */
function* phrases({ findings, diseases, exams }: Knowledge): Generator<readonly [string, Entry]> {
  const entries = findings.map((f) => [f, { kind: 'finding', id: f.id } as const] as const)
  for (const [f, entry] of entries)
    for (const text of [...f.ask.zh, ...f.ask.en]) yield [text, entry]
  for (const [f, entry] of entries) for (const text of [f.name.zh, f.name.en]) yield [text, entry]
  for (const [f, entry] of entries)
    for (const text of [...f.aliases.zh, ...f.aliases.en]) yield [text, entry]
  for (const { name, aliases } of diseases)
    for (const text of [name.zh, name.en, ...aliases.zh, ...aliases.en]) yield [text, disease]
  for (const { name, aliases } of exams)
    for (const text of [name.zh, name.en, ...aliases.zh, ...aliases.en]) yield [text, exam]
}

function ancestorsOf({ findings, finding }: Knowledge): Map<string, ReadonlySet<string>> {
  const ancestors = new Map<string, ReadonlySet<string>>()
  for (const { id, parent } of findings) {
    const above = new Set<string>()
    for (let at = parent; at; at = finding.get(at.finding)?.parent) above.add(at.finding)
    if (above.size > 0) ancestors.set(id, above)
  }
  return ancestors
}

/** The descendants of every finding that has some. */
function belowOf(knowledge: Knowledge, ancestors: ReadonlyMap<string, ReadonlySet<string>>) {
  const below = new Map<string, (readonly [string, ReadonlySet<string>])[]>()
  for (const [id, above] of ancestors) {
    const f = knowledge.finding.get(id)
    if (!f) continue
    const texts = [...f.ask.zh, ...f.ask.en, ...f.aliases.zh, ...f.aliases.en]
    const attributes = attributesOf(texts.map((text) => normal(text).text))
    for (const ancestor of above)
      below.set(ancestor, [...(below.get(ancestor) ?? []), [id, attributes]])
  }
  return below
}

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
    const ancestors = ancestorsOf(knowledge)
    lexicon = {
      knowledge,
      tree: byScript((fits) => phraseTree(known.filter(([text]) => fits(text)))),
      alike: byScript((fits) => likeness(ofFindings.filter(([text]) => fits(text)))),
      ancestors,
      below: belowOf(knowledge, ancestors),
      memo: new Map(),
    }
    lexicons.set(knowledge, lexicon)
  }
  return lexicon
}
