/** Index of a case's gold diagnoses by the names and codes a doctor may use. */
import type { Gold } from '../../case.js'
import { primaryDiagnosis } from '../../case.js'
import { memoizeByIdentity } from '../../platform/memoize.js'
import type { Mention, NameIndex } from './disease-names.js'
import { indexNames, lookUpName } from './disease-names.js'
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

interface GoldIndex {
  readonly names: NameIndex<CreditedDiagnosis>
  /** The primary diagnosis first. */
  readonly diagnoses: readonly [CreditedDiagnosis, ...CreditedDiagnosis[]]
}

type AuthoredDiagnosis = Omit<ReturnType<typeof primaryDiagnosis>, 'role'>

/** The index of a gold standard by name and code; memoised per gold standard. */
export const goldIndex = memoizeByIdentity((gold: Gold): GoldIndex => {
  const names: (readonly [string, CreditedDiagnosis])[] = []
  const put = (listed: AuthoredDiagnosis, credit: number, exact: boolean): CreditedDiagnosis => {
    const { id, name, aliases, severity } = listed
    const diagnosis = { id, exact, credit, severity, codes: icd10Codes(listed.codes) }
    for (const text of [name.zh, name.en, ...aliases, id])
      if (text !== undefined) names.push([text, diagnosis])
    return diagnosis
  }
  const first = put(primaryDiagnosis(gold), 1, true)
  const others = gold.acceptable.map((listed) => put(listed, listed.credit, false))
  return { names: indexNames(names), diagnoses: [first, ...others] }
})

/** Finds the gold diagnosis that a mention names or codes; the primary one where several match. */
export function findInGold(gold: Gold, mention: Mention): CreditedDiagnosis | undefined {
  const { names, diagnoses } = goldIndex(gold)
  const { code } = mention
  if (code === undefined) return lookUpName(names, mention)
  return diagnoses.find(({ codes }) => codes.some((coded) => matchesCode(code, coded)))
}
