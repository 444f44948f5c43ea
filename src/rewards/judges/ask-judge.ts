/** Asks a judge and reads its reply strictly: what is not exactly in the prescribed form is no answer. */
import { Fault } from '../../error.js'
import type { RewardContext } from '../../reward.js'
import { visible } from '../../text/hidden-reasoning.js'
import type { Judge, JudgeRequest, JudgeTask } from './judge.js'

/** What a patient got wrong, each counted from 0. */
export interface ConductCounts {
  /** Told unasked. */
  readonly extra: number
  /** Kept back though asked. */
  readonly missing: number
  /** Against the profile. */
  readonly opposite: number
}

/** What a readable reply to each task means. */
export interface JudgeAnswers {
  readonly 'same-diagnosis': boolean
  readonly 'count-matched': number
  readonly similarity: number
  readonly consultation: number
  readonly 'patient-conduct': ConductCounts
}

type RequestOf<T extends JudgeTask> = Extract<JudgeRequest, { readonly task: T }>

/** A reply without what a model puts around one word: quotes, brackets, emphasis, a full stop. */
const bareReply = (reply: string): string =>
  visible(reply).replace(/^[\s"'*`[]+|[\s"'*`\].]+$/g, '')

/** `Correct` or `Wrong` and nothing else: "Incorrect", or both, is neither. */
export function readVerdict(reply: string): boolean | undefined {
  const word = bareReply(reply).toLowerCase()
  return word === 'correct' ? true : word === 'wrong' ? false : undefined
}

/** A whole number from 0 to `most`, and nothing else. */
export function readInteger(reply: string, most: number): number | undefined {
  const digits = bareReply(reply)
  return /^\d{1,9}$/.test(digits) && Number(digits) <= most ? Number(digits) : undefined
}

/** A decimal number from 0 to 1, and nothing else: "8/10", "70%" and "1.2" are none. */
export function readDecimal(reply: string): number | undefined {
  const digits = bareReply(reply)
  if (!/^(?:\d(?:\.\d{1,9})?|\.\d{1,9})$/.test(digits)) return undefined
  return Number(digits) <= 1 ? Number(digits) : undefined
}

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0

/** A JSON object of just `extra`, `missing` and `opposite`, fenced or not. */
export function readCounts(reply: string): ConductCounts | undefined {
  const fenced = /^```(?:json)?\s*([\s\S]*?)\s*```$/.exec(visible(reply))
  try {
    const given: unknown = JSON.parse(fenced?.[1] ?? visible(reply))
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

interface Form<T extends JudgeTask> {
  readonly expected: (request: RequestOf<T>) => string
  readonly read: (reply: string, request: RequestOf<T>) => JudgeAnswers[T] | undefined
}

const shorter = ({ items, list }: RequestOf<'count-matched'>): number =>
  Math.min(items.length, list.length)

const forms: { readonly [T in JudgeTask]: Form<T> } = {
  'same-diagnosis': { expected: () => '`Correct` or `Wrong`', read: readVerdict },
  'count-matched': {
    expected: (request) => `an integer from 0 to ${shorter(request)}`,
    read: (reply, request) => readInteger(reply, shorter(request)),
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
 * What the judge answers. A reply that cannot be read is asked for once more.
 * @throws Fault `model-unreadable` where that cannot be read either; whatever the judge throws
 */
export async function askJudge<T extends JudgeTask>(
  judge: Judge,
  request: RequestOf<T>,
  context?: RewardContext,
): Promise<JudgeAnswers[T]> {
  // The table's entry for a task reads that task's replies, as its type says for each.
  const { expected, read } = forms[request.task] as unknown as Form<T>
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
