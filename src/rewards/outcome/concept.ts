/** Which disease each name of a doctor's list stands for, and the list as it counts: no disease twice, cut at a length. */
import type { Gold } from '../../case.js'
import type { Action, Considered } from '../../turn.js'
import type { Formulary } from './formulary.js'
import { inFormulary } from './formulary.js'
import { goldOf, inGold } from './gold.js'
import { icd10Codes, sameCode } from './icd10.js'
import type { Mention, Names } from './naming.js'
import { lookUp, mentionOf, namesOf } from './naming.js'

/** A disease by its id, however it was called. */
export interface Concept {
  readonly id: string
  /** 1 is life-threatening, 5 is minor; absent where nobody says. */
  readonly severity?: number | undefined
}

/** One place of a doctor's list. */
export interface Listed {
  /** Absent where the text names no one disease that is known. */
  readonly concept?: Concept | undefined
  /** P as stated; absent where none, or no probability, was. */
  readonly p?: number | undefined
}

export type Diagnose = Extract<Action, { readonly kind: 'diagnose' }>

/** The longest list that is read, the diagnosis itself included; the rest is not. */
export const mostListed = 10

/** A list of nothing but repeats is read no further than this. */
const mostRead = 50

const rest = new WeakMap<Gold, Names<Concept>>()

/** What a case names beside its primary and acceptable diagnoses: comorbid ones, and its differential by id. */
function otherNames(gold: Gold): Names<Concept> {
  let names = rest.get(gold)
  if (!names) {
    const comorbid = gold.dx.flatMap(({ id, name, aliases, severity }) =>
      [name.zh, name.en, ...aliases, id].map((text) => [text ?? '', { id, severity }] as const),
    )
    const considered = (gold.differential ?? []).map(({ id }) => [id, { id }] as const)
    names = namesOf([...comorbid, ...considered])
    rest.set(gold, names)
  }
  return names
}

/** A written code names a disease only where it is that disease's own, or of its whole category. */
function known(formulary: Formulary, mention: Mention): Concept | undefined {
  const { code } = mention
  const entry = inFormulary(formulary, mention)
  if (!entry || code === undefined) return entry
  return icd10Codes(entry.codes).some((coded) => sameCode(code, coded)) ? entry : undefined
}

/**
 * The disease a text names, compared whole: by the case's names, then by the formulary's, then by the ids of the
 * case's differential. Undefined for a list, a denial, prose, and what nobody knows.
 */
export function conceptOf(gold: Gold, formulary: Formulary, text: string): Concept | undefined {
  const mention = mentionOf(text)
  if (!mention) return undefined
  return inGold(gold, mention) ?? known(formulary, mention) ?? lookUp(otherNames(gold), mention)
}

/** The id of the primary diagnosis. */
export const targetOf = (gold: Gold): string => goldOf(gold).diagnoses[0].id

/** The severity of a disease that a case or the formulary lists. */
export function severityOf(gold: Gold, formulary: Formulary, id: string): number | undefined {
  const listed = [...gold.dx, ...gold.acceptable].find((dx) => dx.id === id)
  return listed?.severity ?? formulary.find((entry) => entry.id === id)?.severity
}

const probability = (p: number | undefined): number | undefined =>
  p !== undefined && p >= 0 && p <= 1 ? p : undefined

/**
 * The diagnosis and the differential as one list in the doctor's order. Of two names of one disease the first
 * stays; what names none keeps its place. At most `most` places @default 10
 */
export function listOf(
  { diagnosis, confidence, differential = [] }: Diagnose,
  gold: Gold,
  formulary: Formulary,
  most: number = mostListed,
): readonly Listed[] {
  const named: readonly Considered[] = [{ diagnosis }, ...differential.slice(0, mostRead)]
  const seen = new Set<string>()
  const list: Listed[] = []
  for (const [place, { diagnosis: text, p }] of named.entries()) {
    if (list.length === most) break
    const concept = conceptOf(gold, formulary, text)
    if (concept && seen.has(concept.id)) continue
    if (concept) seen.add(concept.id)
    list.push({ concept, p: probability(place === 0 ? confidence : p) })
  }
  return list
}
