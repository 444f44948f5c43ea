/**
 * The tool-calling grammar: the doctor acts through the functions `ask_patient`, `order_exam` and `diagnose`.
 *
 * Servers that know tools give the calls apart from the text; `chatDoctor` writes them into it, in the tags of Hermes
 * and Qwen, which other servers leave there. Every text in the arguments loses its hidden reasoning.
 */
import type { Grammar } from '../../agent.js'
import type { Message, Tool } from '../../chat.js'
import { toolCallId } from '../../chats/written-reply.js'
import type { Observation } from '../../env.js'
import { stripHiddenReasoning } from '../../text/hidden-reasoning.js'
import type { Action, DifferentialEntry } from '../../turn.js'
import { intakeText } from '../intake.js'
import { formatAction } from './labelled.js'
import { prompts } from './labelled-words.js'
import { publishedErrors, toolWords as words } from './published-words.js'
import { heardText, maxFieldLength, unreadable, writtenLanguage } from './written-actions.js'

const text = (description: string) => ({ type: 'string', maxLength: maxFieldLength, description })
const share = (description: string) => ({ type: 'number', minimum: 0, maximum: 1, description })
const shape = (properties: object, required: readonly string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

/** Most alternatives of a differential diagnosis. */
const maxAlternatives = 20

const tools: readonly Tool[] = [
  {
    name: 'ask_patient',
    description: words.ask,
    parameters: shape({ question: text(words.question) }, ['question']),
  },
  {
    name: 'order_exam',
    description: words.order,
    parameters: shape({ exam: text(words.exam) }, ['exam']),
  },
  {
    name: 'diagnose',
    description: words.diagnose,
    parameters: shape(
      {
        diagnosis: text(words.diagnosis),
        recommendation: text(words.recommendation),
        confidence: share(words.confidence),
        differential: {
          type: 'array',
          maxItems: maxAlternatives,
          description: words.differential,
          items: shape({ diagnosis: text(words.alternative), p: share(words.p) }, ['diagnosis']),
        },
        triage: { type: 'integer', minimum: 1, maximum: 5, description: words.triage },
      },
      ['diagnosis'],
    ),
  },
]

/** A call that does not fit; its message is for the doctor. */
class WrongCall extends Error {}

type Arguments = Readonly<Record<string, unknown>>
type CallErrors = (typeof publishedErrors)['en' | 'zh']

const isObject = (value: unknown): value is Arguments =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Reads the arguments of one call; members that the function does not have are passed over. */
function argumentReader(given: Arguments, say: CallErrors) {
  const wrong = (name: string, expected: string) => new WrongCall(say.argument(name, expected))
  const optional = <T>(name: string, read: (value: unknown) => T): T | undefined =>
    given[name] === undefined || given[name] === null ? undefined : read(given[name])
  const words = (name: string, value: unknown): string => {
    const visible = typeof value === 'string' ? stripHiddenReasoning(value) : ''
    if (visible === '') throw wrong(name, 'a text')
    if (visible.length > maxFieldLength)
      throw new WrongCall(say.long(visible.length, maxFieldLength))
    return visible
  }
  const number = (name: string, value: unknown, least: number, most: number): number => {
    if (typeof value === 'number' && value >= least && value <= most) return value
    throw wrong(name, `${least} … ${most}`)
  }
  const alternatives = (value: unknown): readonly DifferentialEntry[] => {
    if (!Array.isArray(value) || value.length > maxAlternatives)
      throw wrong('differential', `a list of at most ${maxAlternatives}`)
    return value.map((entry: unknown) => {
      const { diagnosis, p } = isObject(entry) ? entry : { diagnosis: entry, p: undefined }
      const named = { diagnosis: words('differential', diagnosis) }
      return p === undefined || p === null
        ? named
        : { ...named, p: number('differential', p, 0, 1) }
    })
  }
  return { wrong, optional, words, number, alternatives }
}

function diagnosisOf(given: Arguments, say: CallErrors): Action {
  const { wrong, optional, words, number, alternatives } = argumentReader(given, say)
  const advice = optional('recommendation', (value) =>
    value === '' ? undefined : words('recommendation', value),
  )
  const confidence = optional('confidence', (value) => number('confidence', value, 0, 1))
  const differential = optional('differential', alternatives)
  const triage = optional('triage', (value) => number('triage', value, 1, 5))
  if (triage !== undefined && !Number.isInteger(triage)) throw wrong('triage', '1 … 5')
  return {
    kind: 'diagnose',
    diagnosis: words('diagnosis', given.diagnosis),
    ...(advice === undefined ? {} : { recommendation: advice }),
    ...(confidence === undefined ? {} : { confidence }),
    ...(differential === undefined ? {} : { differential }),
    ...(triage === undefined ? {} : { triage }),
  }
}

function actionOf(name: string, given: Arguments, say: CallErrors): Action {
  const { words } = argumentReader(given, say)
  switch (name) {
    case 'ask_patient':
      return { kind: 'ask', text: words('question', given.question) }
    case 'order_exam':
      return { kind: 'order', exam: words('exam', given.exam) }
    case 'diagnose':
      return diagnosisOf(given, say)
    default: {
      const known = tools.map((tool) => tool.name).join(', ')
      throw new WrongCall(say.unknownTool(name.slice(0, 60), known))
    }
  }
}

/** The one call of a reply. */
function callOf(visible: string, say: CallErrors): { name: string; given: Arguments } {
  const marks = visible.match(/<\/?tool_call>/g) ?? []
  if (marks.length === 0) throw new WrongCall(say.noCall)
  if (marks.length > 2) throw new WrongCall(say.severalCalls)
  const inside = /<tool_call>([\s\S]*?)<\/tool_call>/.exec(visible)?.[1]
  if (inside === undefined) throw new WrongCall(say.unreadableCall)
  let call: unknown
  try {
    call = JSON.parse(inside)
  } catch {
    throw new WrongCall(say.unreadableCall)
  }
  if (!isObject(call) || typeof call.name !== 'string' || !isObject(call.arguments))
    throw new WrongCall(say.unreadableCall)
  return { name: call.name, given: call.arguments }
}

function parse(reply: string): Action {
  const visible = stripHiddenReasoning(reply)
  const say = publishedErrors[writtenLanguage(visible)]
  try {
    const { name, given } = callOf(visible, say)
    return actionOf(name, given, say)
  } catch (error) {
    if (error instanceof WrongCall) return unreadable(visible, error.message)
    throw error
  }
}

/** The function and the arguments that stand for an action; undefined where none does. */
function calledFor(action: Action): readonly [string, object] | undefined {
  switch (action.kind) {
    case 'ask':
      return ['ask_patient', { question: action.text }]
    case 'order':
      return ['order_exam', { exam: action.exam }]
    case 'diagnose': {
      const { kind: _, ...fields } = action
      return ['diagnose', fields]
    }
    default:
      return undefined
  }
}

function render({ intake, turns, turnsLeft, language }: Observation): Message[] {
  const total = turns.length + turnsLeft
  const say = prompts[language]
  const messages: Message[] = [
    { role: 'system', content: words.rules[language] },
    { role: 'user', content: `${intakeText(intake, language)}\n${say.left(total)}` },
  ]
  turns.forEach(({ action, outcome }, t) => {
    const [name, given] = calledFor(action) ?? []
    const id = toolCallId(t)
    const heard = heardText(outcome, total - t - 1, language)
    if (name === undefined) {
      messages.push({ role: 'assistant', content: formatAction(action, language) })
      if (heard !== undefined) messages.push({ role: 'user', content: heard })
      return
    }
    const called = { name, arguments: JSON.stringify(given) }
    messages.push({
      role: 'assistant',
      content: '',
      tool_calls: [{ id, type: 'function', function: called }],
    })
    if (heard !== undefined) messages.push({ role: 'tool', content: heard, tool_call_id: id })
  })
  return messages
}

/** Makes the tool-calling grammar. A call of an unknown function, or with unfit arguments, is an `invalid` action. */
export const toolCalling = (): Grammar => ({ name: 'tools', tools, render, parse })
