/** The lines beside a diagnosis: how sure the doctor is, what else it may be, how urgent it is; read and written. */
import { visible } from '../../text/hidden-reasoning.js'
import type { Action, Considered, Language } from '../../turn.js'
import type { Ask } from './labelled-words.js'
import { labels, prompts } from './labelled-words.js'

type Diagnose = Extract<Action, { readonly kind: 'diagnose' }>

/** What a doctor may state beside the diagnosis. */
export type Beside = Pick<Diagnose, Ask>

/** The lines there can be, in the order they are written in. */
export const asks: readonly Ask[] = ['confidence', 'differential', 'triage']

const figure = String.raw`(?:\d{1,30}(?:\.\d{1,30})?|\.\d{1,30})(?:e[+-]?\d{1,3})?`
const stated = new RegExp(
  `^(?:about|around|approximately|大?约|[~≈])?\\s*(${figure})\\s*(%|％|percent|per cent)?(?:\\s*[(（].*)?[.。]?$`,
  'i',
)
/** A bare whole number in brackets is a part of the name: "glycogenosis (2)". */
const bracketed = new RegExp(
  `^(.*?)\\s*[(（]\\s*(?:p\\s*[=＝]\\s*)?(${figure})\\s*([%％]?)\\s*[)）]$`,
  'i',
)
const trailing = new RegExp(`^(.*[^\\s:：,，-])[\\s:：,，-]+(${figure})\\s*([%％])$`, 'i')
const level =
  /^(?:(?:level|category|class|esi|mts|ctas|级别)\s*)?([1-5])\s*(?:级|类)?(?:\s*[(（].*)?[.。]?$/i
const nothing = /^(?:none|nothing|n\/a|无|没有|暂无)[.。]?$/i

const separators = /[;；、]/
const listMarks = /^(?:(?:\d{1,2}[.)、．](?!\d)|[-*•](?=\s))\s*)+/
const bare = (text: string): string =>
  text.replace(/\*\*/g, '').trim().replace(listMarks, '').trim()

/** 0 to 1; undefined for what is no probability. A number without a percent sign is never read as one. */
function probability(number: string, percent: string | undefined): number | undefined {
  const p = percent ? Number(number) / 100 : Number(number)
  return p >= 0 && p <= 1 ? p : undefined
}

function readConfidence(text: string): number | undefined {
  const [, number, percent] = stated.exec(text) ?? []
  return number === undefined ? undefined : probability(number, percent)
}

function readEntry(text: string): Considered | undefined {
  const inBrackets = bracketed.exec(text)
  const isNumber = inBrackets?.[3] || /[.e]/i.test(inBrackets?.[2] ?? '')
  const [, name = text, number, percent] = (isNumber ? inBrackets : trailing.exec(text)) ?? []
  if (name === '') return undefined
  if (number === undefined) return { diagnosis: name }
  const p = probability(number, percent)
  return p === undefined ? undefined : { diagnosis: name, p }
}

function readDifferential(lines: readonly string[]): readonly Considered[] | undefined {
  const texts = lines
    .flatMap((line) => bare(line).split(separators))
    .map(bare)
    .filter(Boolean)
  if (texts.length === 1 && nothing.test(texts[0] ?? '')) return []
  const entries = texts.map(readEntry)
  const whole = entries.filter((entry) => entry !== undefined)
  return whole.length === entries.length && whole.length > 0 ? whole : undefined
}

/**
 * Reads one of the lines, already squeezed; what stands under a confidence or a level explains it and is left out.
 * @returns undefined for a line that is malformed
 */
export function readBeside(ask: Ask, lines: readonly string[]): Beside | undefined {
  const first = bare(lines[0] ?? '')
  if (ask === 'differential') {
    const differential = readDifferential(lines)
    return differential && { differential }
  }
  if (ask === 'confidence') {
    const confidence = readConfidence(first)
    return confidence === undefined ? undefined : { confidence }
  }
  const triage = level.exec(first)?.[1]
  return triage === undefined ? undefined : { triage: Number(triage) }
}

/** As a percentage where that is read back as the same number, else as it stands. */
export function writeProbability(p: number): string {
  const percent = Number((p * 100).toPrecision(15))
  return percent / 100 === p ? `${percent}%` : String(p)
}

const entryText = (text: string): string =>
  bare(
    visible(text)
      .replace(/[;；、]/g, ',')
      .replace(/\s+/g, ' ')
      .trim(),
  )

function writeDifferential(differential: readonly Considered[], language: Language): string {
  const [open, close, between] = language === 'zh' ? ['（', '）', '；'] : [' (', ')', '; ']
  const entries = differential.flatMap(({ diagnosis, p }) => {
    const name = entryText(diagnosis)
    if (name === '') return []
    return [p === undefined ? name : `${name}${open}${writeProbability(p)}${close}`]
  })
  return entries.length > 0 ? entries.join(between) : prompts[language].nothingElse
}

/** The lines of what was stated, with their labels. */
export function writeBeside(
  { confidence, differential, triage }: Beside,
  language: Language,
): readonly string[] {
  const label = labels[language]
  const colon = language === 'zh' ? '：' : ': '
  const lines: string[] = []
  if (confidence !== undefined)
    lines.push(`${label.confidence}${colon}${writeProbability(confidence)}`)
  if (differential)
    lines.push(`${label.differential}${colon}${writeDifferential(differential, language)}`)
  if (triage !== undefined) lines.push(`${label.triage}${colon}${triage}`)
  return lines
}
