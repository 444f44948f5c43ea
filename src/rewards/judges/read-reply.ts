/**
 * Strict readers of a judge's reply. A reply in the prescribed form is read with little decoration around it: quotes,
 * emphasis, a label, the scale ("Score: 0.4 out of 1.0"), digits of any script. Any other reply is unreadable.
 */
import { toAsciiDigits } from '../../text/digits.js'
import { stripHiddenReasoning } from '../../text/hidden-reasoning.js'
import type { ConductCounts, JudgeAnswers, JudgeRequest, JudgeTask } from './judge.js'

const edges = /^[\s"'[]+|[\s"'\].。]+$/g
const label =
  /^(?:(?:the |my )?(?:final |overall )?(?:score|grade|rating|similarity|verdict|judge?ment|result|answer)(?: is)?|(?:最终|我的)?(?:得分|分数|评分|打分|相似度|判断|结论|结果|答案)(?:是|为)?)\s*[:=]?\s+|^(?:score|grade|rating|similarity|verdict|judge?ment|result|answer|得分|分数|评分|打分|相似度|判断|结论|结果|答案)(?:是|为)?\s*[:=]?\s*/i
const tagged = /^<answer>([^<>]*)<\/answer>$/i

/** The bare text of a short reply: without reasoning, answer tags, emphasis, quotes and full stop, in ASCII forms. */
function bareReply(reply: string): string {
  const visible = stripHiddenReasoning(reply)
  const plain = toAsciiDigits((tagged.exec(visible)?.[1] ?? visible).normalize('NFKC'))
  return plain.replace(/[*`]/g, '').replace(edges, '')
}

const withoutLabel = (bare: string): string => bare.replace(label, '').replace(edges, '')

const verdicts: Readonly<Record<string, boolean>> = {
  correct: true,
  正确: true,
  wrong: false,
  错误: false,
}

/** Reads `Correct` (true) or `Wrong` (false); undefined for any other reply, as "Incorrect" or both words. */
export const readVerdict = (reply: string): boolean | undefined => {
  const word = withoutLabel(bareReply(reply)).toLowerCase()
  return Object.hasOwn(verdicts, word) ? verdicts[word] : undefined
}

/** Reads a bare integer from 0 to `most`; undefined for any other reply. */
export function readInteger(reply: string, most: number): number | undefined {
  const digits = bareReply(reply)
  return /^\d{1,9}$/.test(digits) && Number(digits) <= most ? Number(digits) : undefined
}

/** Reads a number on a scale from 0 to `most`, which the reply may name, as in "4 out of 5", "4/5" or "4分（满分5分）". */
function readOnScale(reply: string, number: string, most: number): number | undefined {
  const scale = `${most}(?:\\.0{1,9})?`
  const form = new RegExp(
    `^(${number})\\s*分?(?:\\s*(?:/|out of|of)\\s*${scale}|\\s*[(,]?\\s*满分\\s*[:为]?\\s*${scale}\\s*分?\\s*\\)?)?$`,
    'i',
  )
  const digits = form.exec(withoutLabel(bareReply(reply)))?.[1]
  return digits !== undefined && Number(digits) <= most ? Number(digits) : undefined
}

/** Reads an integer on the scale of 0 to 5; undefined for any other reply, as "3.5" or "8/10". */
export const readSimilarity = (reply: string): number | undefined => readOnScale(reply, '\\d', 5)

/** Reads a decimal number from 0 to 1; undefined for any other reply, as "8/10", "70%" or "1.2". */
export const readDecimal = (reply: string): number | undefined =>
  readOnScale(reply, '\\d(?:\\.\\d{1,9})?|\\.\\d{1,9}', 1)

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0

/** The faults behind a rate of TakesTwo's prompt, 1 less .2 for each; undefined for a number that is no such rate. */
function faultsOf(rate: unknown): number | undefined {
  if (typeof rate !== 'number' || !(rate >= 0 && rate <= 1)) return undefined
  const faults = Math.round((1 - rate) * 5)
  return Math.abs(1 - rate - faults / 5) < 1e-6 ? faults : undefined
}

/**
 * Reads a JSON object of just `extra`, `missing` and `opposite`, or of TakesTwo's three rates, fenced or not; undefined
 * for any other reply.
 */
export function readCounts(reply: string): ConductCounts | undefined {
  const text = stripHiddenReasoning(reply)
  const fence = /^```(?:json)?/.exec(text)?.[0]
  const body = fence && text.endsWith('```') ? text.slice(fence.length, -3).trim() : text
  try {
    const given: unknown = JSON.parse(body)
    if (typeof given !== 'object' || given === null || Object.keys(given).length !== 3)
      return undefined
    // An object's own entries; each is checked before it is used.
    const entries = given as Readonly<Record<string, unknown>>
    const rates = 'information_control_rate' in entries
    const extra = rates ? faultsOf(entries.information_control_rate) : entries.extra
    const missing = rates ? faultsOf(entries.response_completeness_rate) : entries.missing
    const opposite = rates ? faultsOf(entries.factual_conflict_rate) : entries.opposite
    return isCount(extra) && isCount(missing) && isCount(opposite)
      ? { extra, missing, opposite }
      : undefined
  } catch {
    return undefined
  }
}

/** The request of a task. */
export type RequestOf<T extends JudgeTask> = Extract<JudgeRequest, { readonly task: T }>

/** What a task's reply is to be, how it is read, and how an answer is written as a reply that reads back the same. */
export interface ReplyForm<T extends JudgeTask> {
  readonly expected: (request: RequestOf<T>) => string
  readonly read: (reply: string, request: RequestOf<T>) => JudgeAnswers[T] | undefined
  readonly write: (answer: JudgeAnswers[T]) => string
}

const shorterLength = ({ items, list }: RequestOf<'count-matched'>): number =>
  Math.min(items.length, list.length)

const replyForms: { readonly [T in JudgeTask]: ReplyForm<T> } = {
  'same-diagnosis': {
    expected: () => '`Correct` or `Wrong`',
    read: readVerdict,
    write: (right) => (right ? 'Correct' : 'Wrong'),
  },
  'count-matched': {
    expected: (request) => `an integer from 0 to ${shorterLength(request)}`,
    read: (reply, request) => readInteger(reply, shorterLength(request)),
    write: String,
  },
  similarity: { expected: () => 'an integer from 0 to 5', read: readSimilarity, write: String },
  consultation: {
    expected: () => 'a decimal number from 0 to 1',
    read: readDecimal,
    write: (grade) => String(Number(grade.toFixed(9))),
  },
  'patient-conduct': {
    expected: () => 'a JSON object of the integers `extra`, `missing` and `opposite`',
    read: readCounts,
    write: (counts) => JSON.stringify(counts),
  },
}

/** The form of a task's replies. */
export const replyFormOf = <T extends JudgeTask>(task: T): ReplyForm<T> =>
  // The table's type ties each task to its own form.
  replyForms[task] as unknown as ReplyForm<T>
