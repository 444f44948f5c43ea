/**
 * The edge of an env: what comes from outside is parsed here before it can change anything.
 *
 * A malformed action is the policy's fault and becomes an `invalid` action, which the doctor is told about. A malformed
 * reply or report is the world's fault and becomes a {@link Fault} that names the part. Parsed values are new, frozen
 * objects. By hand: a schema library takes longer to load than everything else up to the first step.
 */
import { Fault } from '../error.js'
import type { ExamReport } from '../exam.js'
import type { Reply } from '../patient.js'
import { deepFreeze } from '../platform/freeze.js'
import { preview } from '../platform/preview.js'
import {
  type Action,
  type DifferentialEntry,
  type RevealedFinding,
  skinWordings,
  speechFlags,
  turnFactNames,
  understandings,
} from '../turn.js'

/** What is wrong with a value: where, what was expected there, and what stood there. */
class Malformed extends Error {}

const malformed = (name: string, expected: string, got: unknown): Malformed =>
  new Malformed(`Expected \`${name}\` to be ${expected}, got \`${preview(got)}\``)

type Fields = Readonly<Record<string, unknown>>

function fieldsOf(name: string, value: unknown): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  throw malformed(name, 'an object', value)
}

/** Where an item stands in a list; it is a name only where something is wrong. */
type ItemPlace = readonly [name: string, index: number]

const nameOf = ([name, index]: ItemPlace): string => `${name}[${index}]`

function itemFields(item: unknown, at: ItemPlace): Fields {
  if (typeof item === 'object' && item !== null && !Array.isArray(item)) return item as Fields
  throw malformed(nameOf(at), 'an object', item)
}

function text(fields: Fields, name: string): string {
  const value = fields[name]
  if (typeof value === 'string') return value
  throw malformed(name, 'text', value)
}

function oneOf<T extends string>(fields: Fields, name: string, allowed: readonly T[]): T {
  const value = allowed.find((one) => one === fields[name])
  if (value !== undefined) return value
  throw malformed(name, `one of ${allowed.join(', ')}`, fields[name])
}

function list<T>(fields: Fields, name: string, parse: (item: unknown, at: ItemPlace) => T): T[] {
  const value = fields[name]
  if (!Array.isArray(value)) throw malformed(name, 'a list', value)
  const parsed: T[] = []
  // Not `map`, which leaves holes out.
  for (let i = 0; i < value.length; i++) parsed.push(parse(value[i], [name, i]))
  return parsed
}

const memberOf =
  <T extends string>(allowed: readonly T[]) =>
  (item: unknown, at: ItemPlace): T => {
    const value = allowed.find((one) => one === item)
    if (value !== undefined) return value
    throw malformed(nameOf(at), `one of ${allowed.join(', ')}`, item)
  }

const textItem = (item: unknown, at: ItemPlace): string => {
  if (typeof item === 'string') return item
  throw malformed(nameOf(at), 'text', item)
}

function numberFrom(fields: Fields, name: string, least: number, most: number): number {
  const value = fields[name]
  if (typeof value === 'number' && value >= least && value <= most) return value
  const bounds = most === Number.MAX_VALUE ? `of at least ${least}` : `from ${least} to ${most}`
  throw malformed(name, `a finite number ${bounds}`, value)
}

const amount = (fields: Fields, name: string): number =>
  numberFrom(fields, name, 0, Number.MAX_VALUE)

function integer(fields: Fields, name: string, least: number, most: number): number {
  const value = fields[name]
  if (Number.isInteger(value)) return numberFrom(fields, name, least, most)
  throw malformed(name, 'an integer', value)
}

/** A probability; one that rounding has carried above 1 is 1. */
function probability(fields: Fields, name: string): number {
  const value = fields[name]
  return typeof value === 'number' && value > 1 && value < 1 + 1e-9
    ? 1
    : numberFrom(fields, name, 0, 1)
}

const has = (fields: Fields, name: string): boolean => fields[name] !== undefined

function entry(item: unknown, at: ItemPlace): DifferentialEntry {
  const fields = itemFields(item, at)
  return {
    diagnosis: text(fields, 'diagnosis'),
    ...(has(fields, 'p') ? { p: probability(fields, 'p') } : {}),
  }
}

const actionKinds = ['ask', 'order', 'diagnose', 'give-up', 'invalid'] as const

function readAction(value: unknown): Action {
  const fields = fieldsOf('action', value)
  const kind = oneOf(fields, 'kind', actionKinds)
  switch (kind) {
    case 'ask':
      return { kind, text: text(fields, 'text') }
    case 'order':
      return { kind, exam: text(fields, 'exam') }
    case 'diagnose':
      return {
        kind,
        diagnosis: text(fields, 'diagnosis'),
        ...(has(fields, 'recommendation')
          ? { recommendation: text(fields, 'recommendation') }
          : {}),
        ...(has(fields, 'confidence') ? { confidence: probability(fields, 'confidence') } : {}),
        ...(has(fields, 'differential')
          ? { differential: list(fields, 'differential', entry) }
          : {}),
        ...(has(fields, 'triage') ? { triage: integer(fields, 'triage', 1, 5) } : {}),
      }
    case 'give-up':
      return { kind }
    case 'invalid':
      return { kind, text: text(fields, 'text'), why: text(fields, 'why') }
  }
}

/** Parses an action. Never throws: a malformed one becomes `invalid`, and `why` says what is wrong with it. */
export function parseAction(value: unknown): Action {
  try {
    return deepFreeze(readAction(value))
  } catch (error) {
    // An object may throw from a getter of its own.
    const why = error instanceof Malformed ? error.message : 'Expected an action that can be read'
    return Object.freeze({ kind: 'invalid', text: preview(value), why })
  }
}

const reportStatuses = ['resulted', 'repeat', 'unavailable'] as const

function revealed(item: unknown, at: ItemPlace): RevealedFinding {
  const fields = itemFields(item, at)
  return { finding: text(fields, 'finding'), state: text(fields, 'state') }
}

/**
 * Parses what `part` gave; what cannot be read is a fault of that part. Members that `parse` does not name are kept as
 * they are: they belong to the part.
 */
function parsePart<T extends object>(
  part: string,
  name: string,
  value: unknown,
  parse: (fields: Fields) => T,
): T {
  try {
    const fields = fieldsOf(name, value)
    return Object.freeze({ ...fields, ...deepFreeze(parse(fields)) })
  } catch (error) {
    if (!(error instanceof Malformed)) throw error
    throw new Fault('component-failed', `${part}: ${error.message}`)
  }
}

/** Parses a patient's reply. @throws Fault `component-failed`, naming what is wrong with it */
export const parseReply = (value: unknown): Reply =>
  parsePart('patient', 'reply', value, (fields) => ({
    text: text(fields, 'text'),
    understood: oneOf(fields, 'understood', understandings),
    questions: integer(fields, 'questions', 0, Number.MAX_VALUE),
    asked: list(fields, 'asked', textItem),
    told: list(fields, 'told', revealed),
    ...(has(fields, 'unread') ? { unread: list(fields, 'unread', memberOf(turnFactNames)) } : {}),
    ...(has(fields, 'wording') ? { wording: oneOf(fields, 'wording', skinWordings) } : {}),
    ...(has(fields, 'flags') ? { flags: list(fields, 'flags', memberOf(speechFlags)) } : {}),
  }))

/** Parses an examination report. @throws Fault `component-failed`, naming what is wrong with it */
export const parseReport = (value: unknown): ExamReport =>
  parsePart('exam simulator', 'report', value, (fields) => ({
    status: oneOf(fields, 'status', reportStatuses),
    exams: list(fields, 'exams', textItem),
    text: text(fields, 'text'),
    told: list(fields, 'told', revealed),
    money: amount(fields, 'money'),
    minutes: amount(fields, 'minutes'),
    ...(has(fields, 'invasiveness') ? { invasiveness: amount(fields, 'invasiveness') } : {}),
    ...(has(fields, 'unread') ? { unread: list(fields, 'unread', memberOf(turnFactNames)) } : {}),
    ...(has(fields, 'flags') ? { flags: list(fields, 'flags', memberOf(speechFlags)) } : {}),
    ...(has(fields, 'simulatedBy') ? { simulatedBy: text(fields, 'simulatedBy') } : {}),
  }))
