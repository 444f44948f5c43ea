/**
 * The labelled grammar: `Question: …`, `Order: …`, or `Diagnosis: …` with `Recommendation: …`.
 *
 * A label counts only at the start of a line, so that a question may quote one ("was a diagnosis: made?").
 * What the patient says stands in user messages alone; only replies of the doctor are ever parsed.
 */
import type { Grammar } from '../../agent.js'
import type { Message } from '../../chat.js'
import type { Observation } from '../../env.js'
import { visible } from '../../hidden.js'
import type { Action, Language, Turn } from '../../turn.js'
import { intakeText } from '../intake.js'
import { labels, prompts, whys } from './labelled-words.js'

/** The longest text of one field, in UTF-16 units. */
const longest = 2000

type Label = keyof typeof labels.en

const meaning = new Map<string, Label>(
  [labels.en, labels.zh].flatMap((names) =>
    // The keys of `labels` are the labels.
    (Object.keys(names) as Label[]).map((label) => [names[label].toLowerCase(), label] as const),
  ),
)

/** A label at the start of a line: what stands before it (list mark, heading, bold), its name, what follows. */
const labelLine = new RegExp(
  `^([\\s>#*_-]{0,12})(${[...meaning.keys()].join('|')})[ \\t]{0,4}([*_]{0,3})[ \\t]{0,4}[:：](.*)$`,
  'i',
)

const newline = /\r\n|[\n\r\u2028\u2029]/
const bold = /\*\*|__/

interface Section {
  readonly label: Label
  readonly lines: string[]
}

/** The labelled parts of a reply in order; what stands before the first label is no action's. */
function sections(text: string): Section[] {
  const found: Section[] = []
  for (const line of text.split(newline)) {
    const [, before = '', name = '', closed = '', rest = ''] = labelLine.exec(line) ?? []
    const label = meaning.get(name.toLowerCase())
    if (!label) found.at(-1)?.lines.push(line)
    // Bold that began before the label ends at the next mark, right behind the colon or further on.
    else if (bold.test(before) && !bold.test(closed))
      found.push({ label, lines: [rest.replace(bold, '')] })
    else found.push({ label, lines: [rest] })
  }
  return found
}

const squeeze = (text: string): string => text.replace(/\s+/g, ' ').trim()
const lines = (text: readonly string[]): string[] => text.map(squeeze).filter(Boolean)
const unwrap = (text: string): string => /^\*\*([^*]+)\*\*$/.exec(text)?.[1]?.trim() ?? text

/** The action of the one section that acts. */
function act({ label, lines: raw }: Section, recommendation: string): Action {
  const written = lines(raw)
  if (label === 'question') return { kind: 'ask', text: unwrap(written.join(' ')) }
  // An order and a diagnosis are names; a model that goes on to explain them means the first line.
  const name = unwrap(written[0] ?? '')
  if (label === 'order') return { kind: 'order', exam: name }
  return recommendation === ''
    ? { kind: 'diagnose', diagnosis: name }
    : { kind: 'diagnose', diagnosis: name, recommendation }
}

function parse(reply: string): Action {
  const text = visible(reply)
  const say = whys[/\p{Script=Han}/u.test(text) ? 'zh' : 'en']
  const invalid = (why: string): Action => ({ kind: 'invalid', text: text.slice(0, longest), why })
  const found = sections(text)
  const advice = found.filter(({ label }) => label === 'recommendation')
  const [section, second] = found.filter(({ label }) => label !== 'recommendation')
  if (second || advice.length > 1) return invalid(say.several)
  if (!section) return invalid(advice.length > 0 ? say.alone : say.none)
  if (advice.length > 0 && section.label !== 'diagnosis') return invalid(say.alone)
  const action = act(section, lines(advice[0]?.lines ?? []).join('\n'))
  const fields = Object.values(action)
    .slice(1)
    .filter((field) => typeof field === 'string')
  if (fields[0] === '') return invalid(say.empty)
  const most = Math.max(...fields.map((field) => field.length))
  return most > longest ? invalid(say.long(most, longest)) : action
}

/**
 * An action as the doctor writes it; `parse` reads the same action back. Hidden reasoning in a text is
 * dropped and blanks are squeezed; a recommendation keeps its lines, but for one that looks like a label.
 */
export function format(action: Action, language: Language): string {
  const label = labels[language]
  const colon = language === 'zh' ? '：' : ': '
  const field = (name: Label, text: string) => `${label[name]}${colon}${text}`
  const flat = (text: string) => squeeze(visible(text))
  switch (action.kind) {
    case 'ask':
      return field('question', flat(action.text))
    case 'order':
      return field('order', flat(action.exam))
    case 'diagnose': {
      const diagnosis = field('diagnosis', flat(action.diagnosis))
      const advice = lines(visible(action.recommendation ?? '').split(newline))
      const text = advice.reduce(
        (all, line) => (all === '' ? line : `${all}${labelLine.test(line) ? ' ' : '\n'}${line}`),
        '',
      )
      return text === '' ? diagnosis : `${diagnosis}\n${field('recommendation', text)}`
    }
    case 'give-up':
      return prompts[language].gaveUp
    case 'invalid':
      return visible(action.text) || prompts[language].unread
  }
}

/** What the doctor hears after a turn, and how many are left; nothing once the consultation is over. */
function heard({ outcome }: Turn, left: number, language: Language): Message[] {
  if (outcome.kind === 'closed') return []
  const say = prompts[language]
  const content = `${say.heard[outcome.kind]}${outcome.text}\n${say.left(left)}`
  return [{ role: 'user', content }]
}

/**
 * The system message and the dialogue so far. It only ever grows at the end, so that a model's next
 * prompt begins with all it has read; what an order cost is told by its report, the limits by the rules.
 */
function render(
  { intake, turns, turnsLeft, budget, language }: Observation,
  { rules, formulary }: Required<LabelledOptions>,
) {
  const say = prompts[language]
  const total = turns.length + turnsLeft
  const said = rules === 'brief' ? [say.brief] : [say.rules, say.limits(total, budget)]
  if (formulary.length > 0) said.push(say.formulary(formulary))
  const messages: Message[] = [
    { role: 'system', content: said.join('\n') },
    { role: 'user', content: `${intakeText(intake, language)}\n${say.left(total)}` },
  ]
  turns.forEach((turn, t) => {
    messages.push({ role: 'assistant', content: format(turn.action, language) })
    messages.push(...heard(turn, total - t - 1, language))
  })
  return messages
}

export interface LabelledOptions {
  /** Names of the diseases to choose from, shown to the doctor. @default none are shown */
  readonly formulary?: readonly string[]
  /** `brief` names the labels in one line, without rules and limits, for models of a short context. @default 'full' */
  readonly rules?: 'full' | 'brief'
}

/** The project's own format, in the observation's language; a reply may use either language's labels. */
export function labelled({ formulary = [], rules = 'full' }: LabelledOptions = {}): Grammar {
  if (rules !== 'full' && rules !== 'brief')
    throw new RangeError(`Expected \`rules\` to be 'full' or 'brief', got \`${rules}\``)
  return {
    name: 'labelled',
    render: (observation) => render(observation, { formulary, rules }),
    parse,
  }
}
