/** Surface form of a finding: one of its authored sentences, chosen by the seed, with its number filled in. */
import type { Finding } from '../case.js'
import type { FindingDefinition } from '../knowledge/knowledge.js'
import { pick, uniform } from '../seed.js'
import type { Language } from '../turn.js'

/** How to choose the sentence. */
export interface WordingOptions {
  readonly seed: number
  readonly language: Language
  /** The finding as the case records it. */
  readonly recorded: Finding | undefined
}

/** Stands for a number where the finding has no range. */
const some: { readonly [language in Language]: string } = { en: 'some', zh: '几' }

/** The recorded number, or one drawn from the range of `state` where that is not the recorded state. */
function formatValue(finding: FindingDefinition, state: string, options: WordingOptions): string {
  const { seed, language, recorded } = options
  if (recorded?.state === state && recorded.value !== undefined) return String(recorded.value)
  const range = finding.measure?.ranges[state]
  if (!range) return some[language]
  const [low, high] = range
  const value = low + (high - low) * uniform(seed, 'value', finding.id)
  return Number.isInteger(low) && Number.isInteger(high) ? value.toFixed(0) : value.toFixed(1)
}

/** A sentence with its number filled in, where it has one. */
export const fillValue = (
  text: string,
  finding: FindingDefinition,
  state: string,
  options: WordingOptions,
): string =>
  text.includes('{value}') ? text.replaceAll('{value}', formatValue(finding, state, options)) : text

/** The sentence for a state of a finding; `undefined` where its author wrote none. */
export function wording(
  finding: FindingDefinition,
  state: string,
  options: WordingOptions,
): string | undefined {
  const said = finding.say[state]?.[options.language]
  if (!said) return undefined
  return fillValue(pick(said, options.seed, 'words', finding.id), finding, state, options)
}
