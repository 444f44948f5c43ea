/** How the knowledge base words its facts: the clauses that say that a finding is in a state. */
import type { FindingDefinition, Knowledge } from '../../../knowledge/knowledge.js'
import { perKnowledge } from '../../../knowledge/per-knowledge.js'
import type { FindingState, Language, RevealedFinding } from '../../../turn.js'
import { type Clause, readClauses, type Stance } from './clauses.js'

/** A clause that says a fact, as far as it has content. */
export interface Reference extends Pick<Clause, 'tokens' | 'stance'> {
  /** Made of a name of the finding, which may be part of a question; not an author's sentence. */
  readonly named?: true
}

/** The clauses of sentences that have content. */
export const referencesIn = (
  sentences: readonly string[],
  language: Language,
): readonly Reference[] =>
  sentences.flatMap((text) =>
    readClauses(text, language).filter(({ tokens, asks }) => tokens.size > 0 && !asks),
  )

/** How the clauses of a name stand where the finding is present, and where it is absent. */
const stancesOfName: {
  readonly [stance in Stance]?: Readonly<Record<'present' | 'absent', readonly Stance[]>>
} = {
  said: { present: ['said', 'troubled'], absent: ['denied', 'well'] },
  // "No energy", "loss of interest".
  denied: { present: ['denied'], absent: ['said', 'well'] },
}

/** Likeness from which a name is taken for what the authors say of the other state. */
const muchAlike = 0.7

/** The names of a finding as clauses: "a cough", and "no cough". */
function namedReferences(
  { name, aliases, jargon, say, type }: FindingDefinition,
  state: FindingState,
  language: Language,
): readonly Reference[] {
  if (type !== 'bool' || (state !== 'present' && state !== 'absent')) return []
  const present = referencesIn(say.present?.[language] ?? [], language)
  const absent = referencesIn(say.absent?.[language] ?? [], language)
  const authored = [...present, ...absent]
  const names = [name[language], ...(jargon?.[language] ?? [])]
  return [...names, ...aliases[language]].flatMap((text, n) => {
    const [clause, ...more] = readClauses(text, language)
    const stances = clause && stancesOfName[clause.stance]
    if (!clause || !stances || more.length > 0 || clause.tokens.size === 0) return []
    const { tokens } = clause
    const isName = n < names.length
    // An alias may be any part of a question: one that denies says little, and one word of it less.
    if (!isName && (clause.stance === 'denied' || !isWord(tokens, names, authored, language)))
      return []
    // "Up to date with your jabs" asks for the finding, and means that it is absent.
    const turned =
      stances.present.some((stance) => closeness({ tokens, stance }, absent) >= muchAlike) ||
      stances.absent.some((stance) => closeness({ tokens, stance }, present) >= muchAlike)
    const of = state === 'present' ? stances.present : stances.absent
    return turned ? [] : of.map((stance) => ({ tokens, stance, named: true as const }))
  })
}

/** Whether an alias is more than one word, or one that the finding is called by. */
function isWord(
  tokens: ReadonlySet<string>,
  names: readonly string[],
  authored: readonly Reference[],
  language: Language,
): boolean {
  if (tokens.size > 1) return true
  const [token = ''] = tokens
  return (
    names.some((text) => readClauses(text, language).some((one) => one.tokens.has(token))) ||
    authored.some((one) => one.tokens.size === 1 && one.tokens.has(token))
  )
}

interface Wordings {
  /** What its authors say for a state, and its names. */
  readonly of: (state: FindingState) => readonly Reference[]
  readonly states: readonly FindingState[]
}

function wordingsOf(finding: FindingDefinition, language: Language): Wordings {
  const made = new Map<FindingState, readonly Reference[]>()
  const states = Object.keys(finding.say)
  const authored = (state: FindingState): readonly Reference[] => {
    const said = referencesIn(finding.say[state]?.[language] ?? [], language)
    if (finding.type === 'bool') return said
    // "It began days ago" is as good as "I fell ill days ago".
    const plain = said.filter(({ stance }) => stance === 'troubled')
    return [...said, ...plain.map((one): Reference => ({ ...one, stance: 'said' }))]
  }
  return {
    states,
    of(state) {
      const known = made.get(state)
      if (known) return known
      const own = [...authored(state), ...namedReferences(finding, state, language)]
      made.set(state, own)
      return own
    },
  }
}

const tables = perKnowledge(() => new Map<string, Wordings>())

function wordings(knowledge: Knowledge, id: string, language: Language): Wordings | undefined {
  const finding = knowledge.finding.get(id)
  if (!finding) return undefined
  const table = tables(knowledge)
  const key = `${language} ${id}`
  const known = table.get(key) ?? wordingsOf(finding, language)
  table.set(key, known)
  return known
}

/** The clauses that may say a fact. */
export const referencesOf = (
  knowledge: Knowledge,
  { finding, state }: RevealedFinding,
  language: Language,
): readonly Reference[] => wordings(knowledge, finding, language)?.of(state) ?? []

/** The clauses that say that a finding is in any other state than this one. */
export function contraryReferences(
  knowledge: Knowledge,
  { finding, state }: RevealedFinding,
  language: Language,
): readonly Reference[] {
  const all = wordings(knowledge, finding, language)
  if (!all) return []
  return all.states.filter((other) => other !== state && other !== 'unknown').flatMap(all.of)
}

/** States of a finding that a patient may report. */
export const statesOf = (
  knowledge: Knowledge,
  id: string,
  language: Language,
): readonly FindingState[] => wordings(knowledge, id, language)?.states ?? []

const sharedTokens = (clause: Reference, reference: Reference): number => {
  if (clause.stance !== reference.stance) return 0
  let shared = 0
  for (const token of reference.tokens) if (clause.tokens.has(token)) shared++
  return shared
}

/** The most that a clause says of any of several references, in the same stance: 0 to 1. */
export const likeness = (clause: Reference, references: readonly Reference[]): number =>
  references.reduce((best, one) => Math.max(best, sharedTokens(clause, one) / one.tokens.size), 0)

/**
 * Whether a clause says one of `own` rather than one of `contrary`. What is said exactly as it may be is not taken for
 * the contrary because of a name, which may stand in a question either way.
 */
export function saysRather(
  clause: Reference,
  own: readonly Reference[],
  contrary: readonly Reference[],
): boolean {
  const near = closeness(clause, own)
  const against = near < 1 ? contrary : contrary.filter(({ named }) => !named)
  return near > closeness(clause, against)
}

/** How near a clause is to the nearest of several references: 0 to 1, where neither says more than the other. */
export const closeness = (clause: Reference, references: readonly Reference[]): number =>
  references.reduce(
    (best, one) =>
      Math.max(best, (2 * sharedTokens(clause, one)) / (one.tokens.size + clause.tokens.size)),
    0,
  )
