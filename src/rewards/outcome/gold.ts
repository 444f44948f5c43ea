/** Index of a case's gold diagnoses by the names and codes a doctor may use. */
import type { Gold } from '../../case.js'
import { primary } from '../../case.js'
import { memoizeByIdentity } from '../../platform/memoize.js'
import { icd10Codes, sameCode } from './icd10.js'
import type { Mention, Names } from './naming.js'
import { lookUp, namesOf } from './naming.js'

/** A diagnosis of the gold standard and the credit for naming it. */
export interface GoldDiagnosis {
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
  readonly names: Names<GoldDiagnosis>
  /** The primary diagnosis first. */
  readonly diagnoses: readonly [GoldDiagnosis, ...GoldDiagnosis[]]
}

type AuthoredDiagnosis = Omit<ReturnType<typeof primary>, 'role'>

/** The index of a gold standard by name and code; memoised per gold standard. */
export const goldOf = memoizeByIdentity((gold: Gold): GoldIndex => {
  const names: (readonly [string, GoldDiagnosis])[] = []
  const put = (listed: AuthoredDiagnosis, credit: number, exact: boolean): GoldDiagnosis => {
    const { id, name, aliases, severity } = listed
    const diagnosis = { id, exact, credit, severity, codes: icd10Codes(listed.codes) }
    for (const text of [name.zh, name.en, ...aliases, id])
      if (text !== undefined) names.push([text, diagnosis])
    return diagnosis
  }
  const first = put(primary(gold), 1, true)
  const others = gold.acceptable.map((listed) => put(listed, listed.credit, false))
  return { names: namesOf(names), diagnoses: [first, ...others] }
})

/** Finds the gold diagnosis that a mention names or codes; the primary one where several match. */
export function inGold(gold: Gold, mention: Mention): GoldDiagnosis | undefined {
  const { names, diagnoses } = goldOf(gold)
  const { code } = mention
  if (code === undefined) return lookUp(names, mention)
  return diagnoses.find(({ codes }) => codes.some((coded) => sameCode(code, coded)))
}
