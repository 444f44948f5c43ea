/** The formulary: every disease a doctor may name, with its names, codes and severity. */
import type { Code } from '../../case.js'
import type { Knowledge } from '../../knowledge/knowledge.js'
import { icd10Codes, sameCode } from './icd10.js'
import type { Mention, Names } from './naming.js'
import { lookUp, namesOf } from './naming.js'

export interface FormularyEntry {
  readonly id: string
  /** In any language. */
  readonly names: readonly string[]
  readonly codes: readonly Code[]
  /** 1 is life-threatening, 5 is minor. */
  readonly severity?: number | undefined
}

export type Formulary = readonly FormularyEntry[]

const formularies = new WeakMap<Knowledge, Formulary>()

/** The diseases of a knowledge base; the same list for the same knowledge base. */
export function formularyOf(knowledge: Knowledge): Formulary {
  let formulary = formularies.get(knowledge)
  if (!formulary) {
    formulary = knowledge.diseases.map(({ id, name, aliases, codes, severity }) => ({
      id,
      names: [name.zh, name.en, ...aliases.zh, ...aliases.en],
      codes,
      severity,
    }))
    formularies.set(knowledge, formulary)
  }
  return formulary
}

const indexed = new WeakMap<Formulary, Names<FormularyEntry>>()

function indexOf(formulary: Formulary): Names<FormularyEntry> {
  let names = indexed.get(formulary)
  if (!names) {
    names = namesOf(
      formulary.flatMap((entry) =>
        [entry.id, ...entry.names].map((name) => [name, entry] as const),
      ),
    )
    indexed.set(formulary, names)
  }
  return names
}

/** The disease that was named or coded; for a code, the first of its category where none has it exactly. */
export function inFormulary(formulary: Formulary, mention: Mention): FormularyEntry | undefined {
  const { code } = mention
  if (code === undefined) return lookUp(indexOf(formulary), mention)
  const coded = (fits: (code: string) => boolean) =>
    formulary.find(({ codes }) => icd10Codes(codes).some(fits))
  return (
    coded((other) => sameCode(code, other)) ?? coded((other) => sameCode(other, code.slice(0, 3)))
  )
}
