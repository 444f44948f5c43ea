/** Asks a judge and parses its reply strictly: a reply not exactly in the prescribed form is not an answer. */
import { Fault } from '../../error.js'
import type { RewardContext } from '../../reward.js'
import { stripHiddenReasoning } from '../../text/hidden-reasoning.js'
import type { Judge, JudgeRequest, JudgeTask } from './judge.js'

/** Counts of a patient's faults. */
export interface ConductCounts {
  /** Facts told without being asked. */
  readonly extra: number
  /** Facts withheld though asked. */
  readonly missing: number
  /** Statements that contradict the profile. */
  readonly opposite: number
}

/** The parsed answer to each task. */
export interface JudgeAnswers {
  readonly 'same-diagnosis': boolean
  readonly 'count-matched': number
  readonly similarity: number
  readonly consultation: number
  readonly 'patient-conduct': ConductCounts
}

type RequestOf<T extends JudgeTask> = Extract<JudgeRequest, { readonly task: T }>

/** Strips the decoration around a one-word reply: quotes, brackets, emphasis, a full stop. */
const stripDecoration = (reply: string): string =>
  stripHiddenReasoning(reply).replace(/^[\s"'*`[]+|[\s"'*`\].]+$/g, '')

/** Reads `Correct` (true) or `Wrong` (false); undefined for any other reply, as "Incorrect" or both words. */
export function readVerdict(reply: string): boolean | undefined {
  const word = stripDecoration(reply).toLowerCase()
  return word === 'correct' ? true : word === 'wrong' ? false : undefined
}

/** Reads an integer from 0 to `most`; undefined for any other reply. */
export function readInteger(reply: string, most: number): number | undefined {
  const digits = stripDecoration(reply)
  return /^\d{1,9}$/.test(digits) && Number(digits) <= most ? Number(digits) : undefined
}

/** Reads a decimal number from 0 to 1; undefined for any other reply, as "8/10", "70%" or "1.2". */
export function readDecimal(reply: string): number | undefined {
  const digits = stripDecoration(reply)
  if (!/^(?:\d(?:\.\d{1,9})?|\.\d{1,9})$/.test(digits)) return undefined
  return Number(digits) <= 1 ? Number(digits) : undefined
}

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0

/** Reads a JSON object of just `extra`, `missing` and `opposite`, fenced or not; undefined for any other reply. */
export function readCounts(reply: string): ConductCounts | undefined {
  const fenced = /^```(?:json)?\s*([\s\S]*?)\s*```$/.exec(stripHiddenReasoning(reply))
  try {
    const given: unknown = JSON.parse(fenced?.[1] ?? stripHiddenReasoning(reply))
    if (typeof given !== 'object' || given === null || Object.keys(given).length !== 3)
      return undefined
    // An object's own entries; each is checked before it is used.
    const { extra, missing, opposite } = given as Readonly<Record<string, unknown>>
    return isCount(extra) && isCount(missing) && isCount(opposite)
      ? { extra, missing, opposite }
      : undefined
  } catch {
    return undefined
  }
}

interface ReplyForm<T extends JudgeTask> {
  readonly expected: (request: RequestOf<T>) => string
  readonly read: (reply: string, request: RequestOf<T>) => JudgeAnswers[T] | undefined
}

const shorterLength = ({ items, list }: RequestOf<'count-matched'>): number =>
  Math.min(items.length, list.length)

const replyForms: { readonly [T in JudgeTask]: ReplyForm<T> } = {
  'same-diagnosis': { expected: () => '`Correct` or `Wrong`', read: readVerdict },
  'count-matched': {
    expected: (request) => `an integer from 0 to ${shorterLength(request)}`,
    read: (reply, request) => readInteger(reply, shorterLength(request)),
  },
  similarity: {
    expected: () => 'an integer from 0 to 5',
    read: (reply) => readInteger(reply, 5),
  },
  consultation: { expected: () => 'a decimal number from 0 to 1', read: readDecimal },
  'patient-conduct': {
    expected: () => 'a JSON object of the integers `extra`, `missing` and `opposite`',
    read: readCounts,
  },
}

/**
 * Asks a judge and returns its parsed answer. An unreadable reply is asked for once more.
 * @throws Fault `model-unreadable` if the second reply is unreadable too; also any error of the judge
 */
export async function askJudge<T extends JudgeTask>(
  judge: Judge,
  request: RequestOf<T>,
  context?: RewardContext,
): Promise<JudgeAnswers[T]> {
  // The table's type ties each task to the form of its own replies.
  const { expected, read } = replyForms[request.task] as unknown as ReplyForm<T>
  let reply = ''
  for (let attempt = 0; attempt < 2; attempt++) {
    reply = await judge(request, context)
    const answer = read(reply, request)
    if (answer !== undefined) return answer
  }
  throw new Fault(
    'model-unreadable',
    `judge ${judge.judgeName}, ${request.task}: expected ${expected(request)}, got \`${reply.slice(0, 200)}\``,
  )
}
