/**
 * The labelled grammar: `Question: …`, `Order: …`, or `Diagnosis: …` with `Recommendation: …` and the optional
 * fields `Confidence: …`, `Differential: …` and `Triage: …`.
 *
 * A label counts only at the start of a line, so that a question may quote one ("was a diagnosis: made?").
 * The patient's words stand in user messages only; only the doctor's replies are parsed.
 */
import type { Grammar } from '../../agent.js'
import type { Message } from '../../chat.js'
import type { Observation } from '../../env.js'
import { stripHiddenReasoning } from '../../text/hidden-reasoning.js'
import type { Action, Language } from '../../turn.js'
import { intakeText } from '../intake.js'
import type { StatedFields } from './diagnosis-fields.js'
import {
  diagnosisFields as allFields,
  formatDiagnosisFields,
  parseDiagnosisField,
} from './diagnosis-fields.js'
import { type DiagnosisField, labels, otherLabels, parseErrors, prompts } from './labelled-words.js'
import { heardText, maxFieldLength, unreadable, writtenLanguage } from './written-actions.js'

type Label = keyof typeof labels.en

const labelByName = new Map<string, Label>([
  ...[labels.en, labels.zh].flatMap((names) =>
    // The keys of `labels` are the labels.
    (Object.keys(names) as Label[]).map((label) => [names[label].toLowerCase(), label] as const),
  ),
  ...Object.entries(otherLabels).map(([name, label]) => [name.toLowerCase(), label] as const),
])

/** Matches a label at the start of a line: marks before it (list, heading, bold), its name, the rest. */
const labelLine = new RegExp(
  `^([\\s>#*_-]{0,12})(${[...labelByName.keys()].join('|')})[ \\t]{0,4}([*_]{0,3})[ \\t]{0,4}[:：](.*)$`,
  'i',
)

const newline = /\r\n|[\n\r\u2028\u2029]/
const bold = /\*\*|__/

interface Section {
  readonly label: Label
  readonly lines: string[]
}

/** The labelled sections of a reply, in order. Text before the first label belongs to none. */
function sections(text: string): Section[] {
  const found: Section[] = []
  for (const line of text.split(newline)) {
    const [, before = '', name = '', closed = '', rest = ''] = labelLine.exec(line) ?? []
    const label = labelByName.get(name.toLowerCase())
    if (!label) found.at(-1)?.lines.push(line)
    // Bold that began before the label ends at the next mark, right after the colon or later.
    else if (bold.test(before) && !bold.test(closed))
      found.push({ label, lines: [rest.replace(bold, '')] })
    else found.push({ label, lines: [rest] })
  }
  return found
}

const squeeze = (text: string): string => text.replace(/\s+/g, ' ').trim()
const lines = (text: readonly string[]): string[] => text.map(squeeze).filter(Boolean)
const unwrap = (text: string): string => /^\*\*([^*]+)\*\*$/.exec(text)?.[1]?.trim() ?? text

/** Fields of a diagnosis besides its name. */
interface Extras {
  readonly recommendation: string
  readonly beside: StatedFields
}

/** Builds the action of the action section. */
function buildAction({ label, lines: raw }: Section, { recommendation, beside }: Extras): Action {
  const written = lines(raw)
  if (label === 'question') return { kind: 'ask', text: unwrap(written.join(' ')) }
  // Orders and diagnoses are names; where a model explains them on further lines, only the first counts.
  const name = unwrap(written[0] ?? '')
  if (label === 'order') return { kind: 'order', exam: name }
  return {
    kind: 'diagnose',
    diagnosis: name,
    ...(recommendation === '' ? {} : { recommendation }),
    ...beside,
  }
}

const isExtra = (label: Label): label is DiagnosisField => allFields.some((ask) => ask === label)

type ParseErrors = (typeof parseErrors)['en' | 'zh']

/** Parses the optional fields; gives an error text where one is malformed. */
function parseOptionalFields(found: readonly Section[], say: ParseErrors): StatedFields | string {
  let beside: StatedFields = {}
  for (const { label, lines: raw } of found) {
    if (!isExtra(label)) continue
    if (label in beside) return say.twice
    const length = raw.reduce((sum, line) => sum + line.length, 0)
    if (length > maxFieldLength) return say.long(length, maxFieldLength)
    const read = parseDiagnosisField(label, lines(raw))
    if (!read) return say[label]
    beside = { ...beside, ...read }
  }
  return beside
}

/** Finds the one action section; else an error text: none, a second one, or fields without a diagnosis. */
function findAction(found: readonly Section[], say: ParseErrors): Section | string {
  const advice = found.filter(({ label }) => label === 'recommendation').length
  const stated = found.some(({ label }) => isExtra(label))
  const [section, second] = found.filter(
    ({ label }) => label !== 'recommendation' && !isExtra(label),
  )
  if (second || advice > 1) return say.several
  if (section && (section.label === 'diagnosis' || (advice === 0 && !stated))) return section
  if (advice > 0) return say.alone
  return stated ? say.beside : say.none
}

function parse(reply: string): Action {
  const text = stripHiddenReasoning(reply)
  const say = parseErrors[writtenLanguage(text)]
  const invalid = (why: string): Action => unreadable(text, why)
  const found = sections(text)
  const section = findAction(found, say)
  if (typeof section === 'string') return invalid(section)
  const beside = parseOptionalFields(found, say)
  if (typeof beside === 'string') return invalid(beside)
  const advice = found.find(({ label }) => label === 'recommendation')
  const recommendation = lines(advice?.lines ?? []).join('\n')
  const action = buildAction(section, { recommendation, beside })
  const fields = Object.values(action)
    .slice(1)
    .filter((field) => typeof field === 'string')
  if (fields[0] === '') return invalid(say.empty)
  const most = Math.max(...fields.map((field) => field.length))
  return most > maxFieldLength ? invalid(say.long(most, maxFieldLength)) : action
}

/**
 * Formats an action as a doctor's reply, which `parse` turns back into the same action. Drops hidden reasoning and
 * collapses blanks; a recommendation keeps its lines, except that a line that looks like a label joins the one before.
 */
export function formatAction(action: Action, language: Language): string {
  const label = labels[language]
  const colon = language === 'zh' ? '：' : ': '
  const field = (name: Label, text: string) => `${label[name]}${colon}${text}`
  const flat = (text: string) => squeeze(stripHiddenReasoning(text))
  switch (action.kind) {
    case 'ask':
      return field('question', flat(action.text))
    case 'order':
      return field('order', flat(action.exam))
    case 'diagnose': {
      const named = field('diagnosis', flat(action.diagnosis))
      const advice = lines(stripHiddenReasoning(action.recommendation ?? '').split(newline))
      const text = advice.reduce(
        (all, line) => (all === '' ? line : `${all}${labelLine.test(line) ? ' ' : '\n'}${line}`),
        '',
      )
      const written = [named, ...formatDiagnosisFields(action, language)]
      return [...written, ...(text === '' ? [] : [field('recommendation', text)])].join('\n')
    }
    case 'give-up':
      return prompts[language].gaveUp
    case 'invalid':
      return stripHiddenReasoning(action.text) || prompts[language].unread
  }
}

/**
 * Renders the system message and the dialogue so far. The dialogue only grows at the end, so that a prompt is a
 * prefix of the next one. Costs of orders stand in their reports, limits in the rules.
 */
function render(
  { intake, turns, turnsLeft, budget, language }: Observation,
  { rules, formulary, asks }: Required<LabelledOptions>,
) {
  const say = prompts[language]
  const total = turns.length + turnsLeft
  const asked = allFields.filter((ask) => asks.includes(ask)).map((ask) => say.asks[ask])
  const beside = asked.length > 0 ? [say.beside, ...asked] : []
  const said =
    rules === 'brief' ? [say.brief, ...beside] : [say.rules, ...beside, say.limits(total, budget)]
  if (formulary.length > 0) said.push(say.formulary(formulary))
  const messages: Message[] = [
    { role: 'system', content: said.join('\n') },
    { role: 'user', content: `${intakeText(intake, language)}\n${say.left(total)}` },
  ]
  turns.forEach((turn, t) => {
    messages.push({ role: 'assistant', content: formatAction(turn.action, language) })
    const heard = heardText(turn.outcome, total - t - 1, language)
    if (heard !== undefined) messages.push({ role: 'user', content: heard })
  })
  return messages
}

/** Options of {@link labelled}. */
export interface LabelledOptions {
  /** Names of the diseases to choose from, listed in the prompt. @default none */
  readonly formulary?: readonly string[]
  /** `brief` names the labels in one line, without rules and limits, for short contexts. @default 'full' */
  readonly rules?: 'full' | 'brief'
  /** Optional fields that the prompt asks for; a reply may state the others too. @default none */
  readonly asks?: readonly DiagnosisField[]
}

/** Makes the project's own grammar, with prompts in the observation's language; replies may use the other's labels. */
export function labelled({
  formulary = [],
  rules = 'full',
  asks = [],
}: LabelledOptions = {}): Grammar {
  if (rules !== 'full' && rules !== 'brief')
    throw new RangeError(`Expected \`rules\` to be 'full' or 'brief', got \`${rules}\``)
  for (const ask of asks)
    if (!allFields.includes(ask))
      throw new RangeError(`Expected \`asks\` to be of ${allFields.join(', ')}, got \`${ask}\``)
  return {
    name: 'labelled',
    render: (observation) => render(observation, { formulary, rules, asks }),
    parse,
  }
}
