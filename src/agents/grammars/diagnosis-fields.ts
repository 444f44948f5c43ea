/** Confidence, differential and triage lines of the labelled grammar: parsing and formatting. */
import { stripHiddenReasoning } from '../../text/hidden-reasoning.js'
import type { Action, DifferentialEntry, Language } from '../../turn.js'
import { type DiagnosisField, labels, prompts } from './labelled-words.js'

/** The optional fields of a diagnosis that a doctor may state. */
export type StatedFields = Pick<Extract<Action, { readonly kind: 'diagnose' }>, DiagnosisField>

/** Names of the optional fields, in the order in which they are written. */
export const diagnosisFields: readonly DiagnosisField[] = ['confidence', 'differential', 'triage']

const numeral = String.raw`(?:\d{1,30}(?:\.\d{1,30})?|\.\d{1,30})(?:e[+-]?\d{1,3})?`
const statedProbability = new RegExp(
  `^(?:about|around|approximately|大?约|[~≈])?\\s*(${numeral})\\s*(%|％|percent|per cent)?(?:\\s*[(（].*)?[.。]?$`,
  'i',
)
/** An entry's name and bracketed number. A bare integer is a part of the name: "glycogenosis (2)". */
const bracketedProbability = new RegExp(
  `^(.*?)\\s*[(（]\\s*(?:p\\s*[=＝]\\s*)?(${numeral})\\s*([%％]?)\\s*[)）]$`,
  'i',
)
const trailingProbability = new RegExp(
  `^(.*[^\\s:：,，-])[\\s:：,，-]+(${numeral})\\s*([%％])$`,
  'i',
)
const triageLevel =
  /^(?:(?:level|category|class|esi|mts|ctas|级别)\s*)?([1-5])\s*(?:级|类)?(?:\s*[(（].*)?[.。]?$/i
const emptyList = /^(?:none|nothing|n\/a|无|没有|暂无)[.。]?$/i

const separators = /[;；、]/
const listMarks = /^(?:(?:\d{1,2}[.)、．](?!\d)|[-*•](?=\s))\s*)+/
const bare = (text: string): string =>
  text.replace(/\*\*/g, '').trim().replace(listMarks, '').trim()

/** Probability 0 to 1, undefined out of range. A number without a percent sign is not a percentage. */
function probability(number: string, percent: string | undefined): number | undefined {
  const p = percent ? Number(number) / 100 : Number(number)
  return p >= 0 && p <= 1 ? p : undefined
}

function readConfidence(text: string): number | undefined {
  const [, number, percent] = statedProbability.exec(text) ?? []
  return number === undefined ? undefined : probability(number, percent)
}

function readEntry(text: string): DifferentialEntry | undefined {
  const inBrackets = bracketedProbability.exec(text)
  const isNumber = inBrackets?.[3] || /[.e]/i.test(inBrackets?.[2] ?? '')
  const [, name = text, number, percent] =
    (isNumber ? inBrackets : trailingProbability.exec(text)) ?? []
  if (name === '') return undefined
  if (number === undefined) return { diagnosis: name }
  const p = probability(number, percent)
  return p === undefined ? undefined : { diagnosis: name, p }
}

function readDifferential(lines: readonly string[]): readonly DifferentialEntry[] | undefined {
  const texts = lines
    .flatMap((line) => bare(line).split(separators))
    .map(bare)
    .filter(Boolean)
  if (texts.length === 1 && emptyList.test(texts[0] ?? '')) return []
  const entries = texts.map(readEntry)
  const valid = entries.filter((entry) => entry !== undefined)
  return valid.length === entries.length && valid.length > 0 ? valid : undefined
}

/**
 * Parses the lines of one field, with blanks already collapsed. Lines under a confidence or a triage level are an
 * explanation and are ignored.
 * @returns undefined where the field is malformed
 */
export function parseDiagnosisField(
  ask: DiagnosisField,
  lines: readonly string[],
): StatedFields | undefined {
  const first = bare(lines[0] ?? '')
  if (ask === 'differential') {
    const differential = readDifferential(lines)
    return differential && { differential }
  }
  if (ask === 'confidence') {
    const confidence = readConfidence(first)
    return confidence === undefined ? undefined : { confidence }
  }
  const triage = triageLevel.exec(first)?.[1]
  return triage === undefined ? undefined : { triage: Number(triage) }
}

/** Formats a probability as a percentage where that parses back to the same number, else as a decimal. */
export function formatProbability(p: number): string {
  const percent = Number((p * 100).toPrecision(15))
  return percent / 100 === p ? `${percent}%` : String(p)
}

const entryText = (text: string): string =>
  bare(
    stripHiddenReasoning(text)
      .replace(/[;；、]/g, ',')
      .replace(/\s+/g, ' ')
      .trim(),
  )

function writeDifferential(differential: readonly DifferentialEntry[], language: Language): string {
  const [open, close, between] = language === 'zh' ? ['（', '）', '；'] : [' (', ')', '; ']
  const entries = differential.flatMap(({ diagnosis, p }) => {
    const name = entryText(diagnosis)
    if (name === '') return []
    return [p === undefined ? name : `${name}${open}${formatProbability(p)}${close}`]
  })
  return entries.length > 0 ? entries.join(between) : prompts[language].nothingElse
}

/** Formats the stated fields as lines with their labels. */
export function formatDiagnosisFields(
  { confidence, differential, triage }: StatedFields,
  language: Language,
): readonly string[] {
  const label = labels[language]
  const colon = language === 'zh' ? '：' : ': '
  const lines: string[] = []
  if (confidence !== undefined)
    lines.push(`${label.confidence}${colon}${formatProbability(confidence)}`)
  if (differential)
    lines.push(`${label.differential}${colon}${writeDifferential(differential, language)}`)
  if (triage !== undefined) lines.push(`${label.triage}${colon}${triage}`)
  return lines
}
