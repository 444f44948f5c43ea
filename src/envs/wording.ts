/** A finding in words: one of its author's sentences, chosen by the seed, with its number filled in. */
import type { Finding } from '../case.js'
import type { FindingDefinition } from '../knowledge/knowledge.js'
import { pick, uniform } from '../seed.js'
import { statements } from '../text/third-person.js'
import type { Language } from '../turn.js'

interface Speaking {
  readonly seed: number
  readonly language: Language
  /** The finding as the case records it. */
  readonly recorded: Finding | undefined
  /** Takes the shortest sentence instead of one drawn. @default false */
  readonly shortest?: boolean
  /** Takes one that is no reply ("Yes, …"), where there is one. @default false */
  readonly unasked?: boolean
}

const shortestOf = (texts: readonly string[]): string =>
  texts.reduce((least, text) => (text.length < least.length ? text : least))

const some: { readonly [language in Language]: string } = { en: 'some', zh: '几' }

/** The recorded number, or where another state is told than recorded, one drawn from that state's range. */
function number(finding: FindingDefinition, state: string, speaking: Speaking): string {
  const { seed, language, recorded } = speaking
  if (recorded?.state === state && recorded.value !== undefined) return String(recorded.value)
  const range = finding.measure?.ranges[state]
  if (!range) return some[language]
  const [low, high] = range
  const value = low + (high - low) * uniform(seed, 'value', finding.id)
  return Number.isInteger(low) && Number.isInteger(high) ? value.toFixed(0) : value.toFixed(1)
}

/** The sentence for a state of a finding; none where its author wrote none. */
export function wording(
  finding: FindingDefinition,
  state: string,
  speaking: Speaking,
): string | undefined {
  const said = finding.say[state]?.[speaking.language]
  if (!said) return undefined
  const texts = speaking.unasked ? statements(said) : said
  const text = speaking.shortest
    ? shortestOf(texts)
    : pick(texts, speaking.seed, 'words', finding.id)
  return text.includes('{value}')
    ? text.replaceAll('{value}', number(finding, state, speaking))
    : text
}
