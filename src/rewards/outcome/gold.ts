/** The gold standard of a case, indexed once by what a doctor may call it. */
import type { Gold } from '../../case.js'
import { primary } from '../../case.js'
import { icd10Codes, sameCode } from './icd10.js'
import type { Mention, Names } from './naming.js'
import { lookUp, namesOf } from './naming.js'

/** A diagnosis of the gold standard and what naming it is worth. */
export interface GoldDiagnosis {
  readonly id: string
  readonly exact: boolean
  /** 1 for the primary diagnosis. */
  readonly credit: number
  readonly severity: number | undefined
  /** ICD-10, normalised. */
  readonly codes: readonly string[]
}

interface GoldIndex {
  readonly names: Names<GoldDiagnosis>
  /** The primary one first. */
  readonly diagnoses: readonly [GoldDiagnosis, ...GoldDiagnosis[]]
}

type Diagnosis = ReturnType<typeof primary>
type Listed = Omit<Diagnosis, 'role'>

const indices = new WeakMap<Gold, GoldIndex>()

function make(gold: Gold): GoldIndex {
  const names: (readonly [string, GoldDiagnosis])[] = []
  const put = (listed: Listed, credit: number, exact: boolean): GoldDiagnosis => {
    const { id, name, aliases, severity } = listed
    const diagnosis = { id, exact, credit, severity, codes: icd10Codes(listed.codes) }
    for (const text of [name.zh, name.en, ...aliases, id])
      if (text !== undefined) names.push([text, diagnosis])
    return diagnosis
  }
  const first = put(primary(gold), 1, true)
  const others = gold.acceptable.map((listed) => put(listed, listed.credit, false))
  return { names: namesOf(names), diagnoses: [first, ...others] }
}

/** The index of a gold standard; made once for each. */
export function goldOf(gold: Gold): GoldIndex {
  let index = indices.get(gold)
  if (!index) {
    index = make(gold)
    indices.set(gold, index)
  }
  return index
}

/** The gold diagnosis that was named or coded; the primary one where several fit. */
export function inGold(gold: Gold, mention: Mention): GoldDiagnosis | undefined {
  const { names, diagnoses } = goldOf(gold)
  const { code } = mention
  if (code === undefined) return lookUp(names, mention)
  return diagnoses.find(({ codes }) => codes.some((coded) => sameCode(code, coded)))
}
