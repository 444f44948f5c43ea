/** Names of generated cases: an id says all that a case was made from. */

import type { TierName } from '../../knowledge/tiers.js'
import { tierNames } from '../../knowledge/tiers.js'
import type { Change } from './draw.js'

export type Split = 'train' | 'heldout'

export interface CaseOptions {
  /** @default 'easy' */
  readonly tier?: TierName
  /** Which half of all case seeds to draw from. @default 'train' */
  readonly split?: Split
  /** Names the sequence of cases. @default 0 */
  readonly seed?: number
}

/** What a generated case's id names. */
export interface CaseName extends Required<CaseOptions> {
  readonly n: number
  /** The groups of the part of the knowledge base it was made from; absent where that was the whole. */
  readonly clinic?: readonly string[]
  /** What is otherwise than drawn, in a twin. */
  readonly change?: Change
}

const none = 'none'

function changeText({ disease, companion, age, sex, findings = {} }: Change): string {
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

/** What one part of an id says; undefined where it says nothing. */
function parsePart(key: string, value: string): Change | undefined {
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

function parseChange(text: string): Change | undefined {
  let change: Change = {}
  for (const part of text.split(',')) {
    const [key = '', value = ''] = part.split('=')
    const said = parsePart(key, value)
    if (!said) return undefined
    const findings = said.findings ? { findings: { ...change.findings, ...said.findings } } : {}
    change = { ...change, ...said, ...findings }
  }
  return change
}

/**
 * `easy-heldout-0-7`; `easy-heldout-0-7@bowel+headache` in a clinic; `easy-heldout-0-7~disease=migraine,age=30`
 * for a twin.
 */
export const caseId = ({ tier, split, seed, n, clinic, change }: CaseName): string =>
  `${tier}-${split}-${seed}-${n}${clinic ? `@${clinic.join('+')}` : ''}${change ? changeText(change) : ''}`

const pattern = new RegExp(
  `^(${tierNames.join('|')})-(train|heldout)-(\\d{1,10})-(\\d{1,10})(?:@([a-z0-9+-]+))?` +
    '(?:~([a-z0-9-]+=[A-Za-z0-9.-]+(?:,[a-z0-9-]+=[A-Za-z0-9.-]+)*))?$',
)

/** Which case an id names, or undefined for an id that was not generated. */
export function parseCaseId(id: string): CaseName | undefined {
  const match = pattern.exec(id)
  if (!match) return undefined
  const [, tier, split, seed, n, clinic, changed] = match
  const change = changed === undefined ? undefined : parseChange(changed)
  if (changed !== undefined && !change) return undefined
  return {
    // The pattern admits these words only.
    tier: tier as TierName,
    split: split as Split,
    seed: Number(seed),
    n: Number(n),
    ...(clinic === undefined ? {} : { clinic: clinic.split('+') }),
    ...(change ? { change } : {}),
  }
}
