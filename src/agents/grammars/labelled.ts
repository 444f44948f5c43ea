/**
 * The labelled grammar: `Question: …`, `Order: …`, or `Diagnosis: …` with `Recommendation: …`, and, beside the
 * diagnosis, `Confidence: …`, `Differential: …` and `Triage: …` where the doctor states them.
 *
 * A label counts only at the start of a line, so that a question may quote one ("was a diagnosis: made?").
 * What the patient says stands in user messages alone; only replies of the doctor are ever parsed.
 */
import type { Grammar } from '../../agent.js'
import type { Message } from '../../chat.js'
import type { Observation } from '../../env.js'
import { visible } from '../../text/hidden-reasoning.js'
import type { Action, Language, Turn } from '../../turn.js'
import { intakeText } from '../intake.js'
import type { Beside } from './labelled-beside.js'
import { asks as allAsks, readBeside, writeBeside } from './labelled-beside.js'
import type { Ask } from './labelled-words.js'
import { labels, otherLabels, prompts, whys } from './labelled-words.js'

/** The longest text of one field, in UTF-16 units. */
const longest = 2000

type Label = keyof typeof labels.en

const meaning = new Map<string, Label>([
  ...[labels.en, labels.zh].flatMap((names) =>
    // The keys of `labels` are the labels.
    (Object.keys(names) as Label[]).map((label) => [names[label].toLowerCase(), label] as const),
  ),
  ...Object.entries(otherLabels).map(([name, label]) => [name.toLowerCase(), label] as const),
])

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

/** What goes with a diagnosis, or why it cannot be read. */
interface Company {
  readonly recommendation: string
  readonly beside: Beside
}

/** The action of the one section that acts. */
function act({ label, lines: raw }: Section, { recommendation, beside }: Company): Action {
  const written = lines(raw)
  if (label === 'question') return { kind: 'ask', text: unwrap(written.join(' ')) }
  // An order and a diagnosis are names; a model that goes on to explain them means the first line.
  const name = unwrap(written[0] ?? '')
  if (label === 'order') return { kind: 'order', exam: name }
  return {
    kind: 'diagnose',
    diagnosis: name,
    ...(recommendation === '' ? {} : { recommendation }),
    ...beside,
  }
}

const isAsk = (label: Label): label is Ask => allAsks.some((ask) => ask === label)

type Whys = (typeof whys)['en' | 'zh']

/** What the lines beside a diagnosis state, or why they cannot be read. */
function besideOf(found: readonly Section[], say: Whys): Beside | string {
  let beside: Beside = {}
  for (const { label, lines: raw } of found) {
    if (!isAsk(label)) continue
    if (label in beside) return say.twice
    const length = raw.reduce((sum, line) => sum + line.length, 0)
    if (length > longest) return say.long(length, longest)
    const read = readBeside(label, lines(raw))
    if (!read) return say[label]
    beside = { ...beside, ...read }
  }
  return beside
}

/** The one section that acts, or why there is none: a second one, none, or company that only a diagnosis has. */
function actor(found: readonly Section[], say: Whys): Section | string {
  const advice = found.filter(({ label }) => label === 'recommendation').length
  const stated = found.some(({ label }) => isAsk(label))
  const [section, second] = found.filter(({ label }) => label !== 'recommendation' && !isAsk(label))
  if (second || advice > 1) return say.several
  if (section && (section.label === 'diagnosis' || (advice === 0 && !stated))) return section
  if (advice > 0) return say.alone
  return stated ? say.beside : say.none
}

function parse(reply: string): Action {
  const text = visible(reply)
  const say = whys[/\p{Script=Han}/u.test(text) ? 'zh' : 'en']
  const invalid = (why: string): Action => ({ kind: 'invalid', text: text.slice(0, longest), why })
  const found = sections(text)
  const section = actor(found, say)
  if (typeof section === 'string') return invalid(section)
  const beside = besideOf(found, say)
  if (typeof beside === 'string') return invalid(beside)
  const advice = found.find(({ label }) => label === 'recommendation')
  const action = act(section, { recommendation: lines(advice?.lines ?? []).join('\n'), beside })
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
      const named = field('diagnosis', flat(action.diagnosis))
      const advice = lines(visible(action.recommendation ?? '').split(newline))
      const text = advice.reduce(
        (all, line) => (all === '' ? line : `${all}${labelLine.test(line) ? ' ' : '\n'}${line}`),
        '',
      )
      const written = [named, ...writeBeside(action, language)]
      return [...written, ...(text === '' ? [] : [field('recommendation', text)])].join('\n')
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
  { rules, formulary, asks }: Required<LabelledOptions>,
) {
  const say = prompts[language]
  const total = turns.length + turnsLeft
  const asked = allAsks.filter((ask) => asks.includes(ask)).map((ask) => say.asks[ask])
  const beside = asked.length > 0 ? [say.beside, ...asked] : []
  const said =
    rules === 'brief' ? [say.brief, ...beside] : [say.rules, ...beside, say.limits(total, budget)]
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
  /**
   * What the doctor is asked to state beside the diagnosis; a reply may state any of it unasked. @default nothing
   */
  readonly asks?: readonly Ask[]
}

/** The project's own format, in the observation's language; a reply may use either language's labels. */
export function labelled({
  formulary = [],
  rules = 'full',
  asks = [],
}: LabelledOptions = {}): Grammar {
  if (rules !== 'full' && rules !== 'brief')
    throw new RangeError(`Expected \`rules\` to be 'full' or 'brief', got \`${rules}\``)
  for (const ask of asks)
    if (!allAsks.includes(ask))
      throw new RangeError(`Expected \`asks\` to be of ${allAsks.join(', ')}, got \`${ask}\``)
  return {
    name: 'labelled',
    render: (observation) => render(observation, { formulary, rules, asks }),
    parse,
  }
}
