/** The diagnoses of a case by the names and codes a doctor may use, and the doctor's ranked list of them. */
import { type Gold, primaryDiagnosis } from '../../case.js'
import { memoizeByIdentity } from '../../platform/memoize.js'
import type { Action, DifferentialEntry } from '../../turn.js'
import type { Mention, NameIndex } from './disease-names.js'
import { indexNames, lookUpName, readMention } from './disease-names.js'
import { type Formulary, findInFormulary } from './formulary.js'
import { icd10Codes, matchesCode } from './icd10.js'

/** A diagnosis of the gold standard and the credit for naming it. */
export interface CreditedDiagnosis {
  readonly id: string
  /** Whether it is the primary diagnosis, and not merely acceptable. */
  readonly exact: boolean
  /** 0 to 1; 1 for the primary diagnosis. */
  readonly credit: number
  readonly severity: number | undefined
  /** ICD-10, normalised. */
  readonly codes: readonly string[]
}

/** The index of a gold standard by name and code, the primary diagnosis first; memoised per gold standard. */
export const goldIndex = memoizeByIdentity((gold: Gold) => {
  const names: (readonly [string, CreditedDiagnosis])[] = []
  const put = (
    listed: Omit<Gold['dx'][number], 'role'>,
    credit: number,
    exact: boolean,
  ): CreditedDiagnosis => {
    const { id, name, aliases, severity } = listed
    const diagnosis = { id, exact, credit, severity, codes: icd10Codes(listed.codes) }
    for (const text of [name.zh, name.en, ...aliases, id])
      if (text !== undefined) names.push([text, diagnosis])
    return diagnosis
  }
  const first = put(primaryDiagnosis(gold), 1, true)
  const others = gold.acceptable.map((listed) => put(listed, listed.credit, false))
  return { names: indexNames(names), diagnoses: [first, ...others] as const }
})

/** Finds the gold diagnosis that a mention names or codes; the primary one where several match. */
export function findInGold(gold: Gold, mention: Mention): CreditedDiagnosis | undefined {
  const { names, diagnoses } = goldIndex(gold)
  const { code } = mention
  if (code === undefined) return lookUpName(names, mention)
  return diagnoses.find(({ codes }) => codes.some((coded) => matchesCode(code, coded)))
}

/** A disease by its id, independent of the name used. */
export interface Concept {
  readonly id: string
  /** 1 is life-threatening, 5 is minor; absent where unknown. */
  readonly severity?: number | undefined
}

/** One place of a doctor's list. */
export interface ListedDiagnosis {
  /** Absent where the text does not name exactly one known disease. */
  readonly concept?: Concept | undefined
  /** Probability as stated; absent where none was stated, or it lies outside [0, 1]. */
  readonly p?: number | undefined
}

/** The action that commits to a diagnosis. */
export type DiagnoseAction = Extract<Action, { readonly kind: 'diagnose' }>

/** Maximum number of places read, the diagnosis included; further places are ignored. */
export const maxListLength = 10

/** Maximum number of differential entries looked at, for a list of nothing but repeats. */
const maxEntriesRead = 50

/** The names of a case's other diseases: comorbid diagnoses by name, and its differential by id. */
const otherNames = memoizeByIdentity((gold: Gold): NameIndex<Concept> => {
  const comorbid = gold.dx.flatMap(({ id, name, aliases, severity }) =>
    [name.zh, name.en, ...aliases, id].map((text) => [text ?? '', { id, severity }] as const),
  )
  const considered = (gold.differential ?? []).map(({ id }) => [id, { id }] as const)
  return indexNames<Concept>([...comorbid, ...considered])
})

/** The formulary's disease of a mention. A written code must be that disease's own, or of its whole category. */
function formularyConcept(formulary: Formulary, mention: Mention): Concept | undefined {
  const { code } = mention
  const entry = findInFormulary(formulary, mention)
  if (!entry || code === undefined) return entry
  return icd10Codes(entry.codes).some((coded) => matchesCode(code, coded)) ? entry : undefined
}

/**
 * Resolves a text to the one disease it names, compared whole: by the case's diagnoses, then the formulary, then the
 * comorbid and differential diseases of the case. Undefined for a list, a denial, prose and an unknown name.
 */
export function resolveConcept(
  gold: Gold,
  formulary: Formulary,
  text: string,
): Concept | undefined {
  const mention = readMention(text)
  if (!mention) return undefined
  return (
    findInGold(gold, mention) ??
    formularyConcept(formulary, mention) ??
    lookUpName(otherNames(gold), mention)
  )
}

/** The id of the primary diagnosis. */
export const primaryDiagnosisId = (gold: Gold): string => goldIndex(gold).diagnoses[0].id

/** The severity of a disease that a case or the formulary lists. */
export function diseaseSeverity(gold: Gold, formulary: Formulary, id: string): number | undefined {
  const listed = [...gold.dx, ...gold.acceptable].find((dx) => dx.id === id)
  return listed?.severity ?? formulary.find((entry) => entry.id === id)?.severity
}

const probability = (p: number | undefined): number | undefined =>
  p !== undefined && p >= 0 && p <= 1 ? p : undefined

/**
 * The diagnosis and the differential as one list in the doctor's order. Of two names of one disease the first is kept;
 * an entry that names no known disease keeps its place.
 * @param most maximum number of places @default 10
 */
export function diagnosisList(
  { diagnosis, confidence, differential = [] }: DiagnoseAction,
  gold: Gold,
  formulary: Formulary,
  most: number = maxListLength,
): readonly ListedDiagnosis[] {
  const named: readonly DifferentialEntry[] = [
    { diagnosis },
    ...differential.slice(0, maxEntriesRead),
  ]
  const seen = new Set<string>()
  const list: ListedDiagnosis[] = []
  for (const [place, { diagnosis: text, p }] of named.entries()) {
    if (list.length === most) break
    const concept = resolveConcept(gold, formulary, text)
    if (concept && seen.has(concept.id)) continue
    if (concept) seen.add(concept.id)
    list.push({ concept, p: probability(place === 0 ? confidence : p) })
  }
  return list
}
