/** Formulary: every disease a doctor may name, with its names, codes and severity. */
import type { Code } from '../../case.js'
import { perKnowledge } from '../../knowledge/per-knowledge.js'
import { memoizeByIdentity } from '../../platform/memoize.js'
import { indexNames, lookUpName, type Mention } from './disease-names.js'
import { icd10Codes, matchesCode } from './icd10.js'

/** A disease and how it may be named. */
export interface FormularyEntry {
  readonly id: string
  /** Names and aliases, in any language. */
  readonly names: readonly string[]
  readonly codes: readonly Code[]
  /** 1 is life-threatening, 5 is minor. */
  readonly severity?: number | undefined
}

/** All diseases that are recognised by name. */
export type Formulary = readonly FormularyEntry[]

/** Options of rewards and judges that recognise diseases by name. */
export interface FormularyOptions {
  /** The diseases recognised by name. @default none */
  readonly formulary?: Formulary
}

/** The formulary of a knowledge base's diseases; memoised per knowledge base. */
export const formularyOf = perKnowledge(
  ({ diseases }): Formulary =>
    diseases.map(({ id, name, aliases, codes, severity }) => ({
      id,
      names: [name.zh, name.en, ...aliases.zh, ...aliases.en],
      codes,
      severity,
    })),
)

const nameIndex = memoizeByIdentity((formulary: Formulary) =>
  indexNames(
    formulary.flatMap((entry) => [entry.id, ...entry.names].map((name) => [name, entry] as const)),
  ),
)

/** Finds the disease that a mention names or codes. For a code: the exact one, else the first of its category. */
export function findInFormulary(
  formulary: Formulary,
  mention: Mention,
): FormularyEntry | undefined {
  const { code } = mention
  if (code === undefined) return lookUpName(nameIndex(formulary), mention)
  const coded = (fits: (code: string) => boolean) =>
    formulary.find(({ codes }) => icd10Codes(codes).some(fits))
  return (
    coded((other) => matchesCode(code, other)) ??
    coded((other) => matchesCode(other, code.slice(0, 3)))
  )
}
