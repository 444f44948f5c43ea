/** Ids of generated cases: an id encodes everything the case was generated from. */
import { type TierName, tierNames } from '../../knowledge/tiers.js'
import { maxSeed } from '../../seed.js'
import type { CaseChange } from './draw.js'

/** Which half of all case seeds a case belongs to. */
export type SplitName = 'train' | 'heldout'

/** Options of a sequence of generated cases. */
export interface CaseSourceOptions {
  /** @default 'easy' */
  readonly tier?: TierName
  /** Half of all case seeds to draw from. @default 'train' */
  readonly split?: SplitName
  /** Seed of the sequence of cases. @default 0 */
  readonly seed?: number
}

/** Everything that a generated case's id encodes. */
export interface CaseIdParts extends Required<CaseSourceOptions> {
  /** Number of the case in its sequence. */
  readonly n: number
  /** Disease groups of the clinic it was generated from; absent for the whole knowledge base. */
  readonly clinic?: readonly string[]
  /** Changes of a counterfactual twin. */
  readonly change?: CaseChange
}

const none = 'none'

function formatChange({ disease, companion, age, sex, findings = {} }: CaseChange): string {
  const parts = [
    ...(disease === undefined ? [] : [`disease=${disease}`]),
    ...(companion === undefined ? [] : [`companion=${companion ?? none}`]),
    ...(age === undefined ? [] : [`age=${age}`]),
    ...(sex === undefined ? [] : [`sex=${sex}`]),
    ...Object.entries(findings)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([id, state]) => `${id}=${state}`),
  ]
  return parts.length > 0 ? `~${parts.join(',')}` : ''
}

/** Parses one `key=value` of an id; undefined where the value is invalid. */
function parsePart(key: string, value: string): CaseChange | undefined {
  switch (key) {
    case 'disease':
      return { disease: value }
    case 'companion':
      return { companion: value === none ? null : value }
    case 'age':
      return /^\d{1,3}(?:\.\d{1,20})?$/.test(value) ? { age: Number(value) } : undefined
    case 'sex':
      return value === 'F' || value === 'M' ? { sex: value } : undefined
    default:
      return { findings: { [key]: value } }
  }
}

function parseChange(text: string): CaseChange | undefined {
  let change: CaseChange = {}
  for (const part of text.split(',')) {
    const [key = '', value = ''] = part.split('=')
    const parsed = parsePart(key, value)
    if (!parsed) return undefined
    const findings = parsed.findings ? { findings: { ...change.findings, ...parsed.findings } } : {}
    change = { ...change, ...parsed, ...findings }
  }
  return change
}

/**
 * Formats a case id: `easy-heldout-0-7`; `easy-heldout-0-7@bowel+headache` in a clinic;
 * `easy-heldout-0-7~disease=migraine,age=30` for a twin.
 */
export const caseId = ({ tier, split, seed, n, clinic, change }: CaseIdParts): string =>
  `${tier}-${split}-${seed}-${n}${clinic ? `@${clinic.join('+')}` : ''}${change ? formatChange(change) : ''}`

const pattern = new RegExp(
  `^(${tierNames.join('|')})-(train|heldout)-(\\d{1,10})-(\\d{1,10})(?:@([a-z0-9+-]+))?` +
    '(?:~([a-z0-9-]+=[A-Za-z0-9.-]+(?:,[a-z0-9-]+=[A-Za-z0-9.-]+)*))?$',
)

/** Parses a case id; undefined for an id that {@link caseId} cannot have written. */
export function parseCaseId(id: string): CaseIdParts | undefined {
  const match = pattern.exec(id)
  if (!match) return undefined
  const [, tier, split, seed, n, clinic, changed] = match
  const change = changed === undefined ? undefined : parseChange(changed)
  if (changed !== undefined && !change) return undefined
  if (Math.max(Number(seed), Number(n)) > maxSeed) return undefined
  return {
    // The pattern admits these words only.
    tier: tier as TierName,
    split: split as SplitName,
    seed: Number(seed),
    n: Number(n),
    ...(clinic === undefined ? {} : { clinic: clinic.split('+') }),
    ...(change ? { change } : {}),
  }
}
