/**
 * The judge interface: questions about a consultation that rules cannot decide, for the presets of published systems;
 * and its strict reader, `askJudge`.
 *
 * A judge replies in words, as a model does, because the published formulas differ in how they parse them, bugs
 * included. Each request documents its reply. A judge that is down throws a `Fault`; for the strict reader a reply not
 * exactly in the prescribed form is `model-unreadable`. Neither ever becomes a number.
 */
import { Fault } from '../../error.js'
import type { RewardContext } from '../../reward.js'
import { stripHiddenReasoning } from '../../text/hidden-reasoning.js'

/** One line of a dialogue shown to a judge, without hidden reasoning (parity presets show the released text). */
export interface JudgedLine {
  readonly role: 'doctor' | 'patient' | 'examiner'
  readonly text: string
}

/**
 * The graded aspect of a consultation: `all` (reasoning, questions, diagnosis with partial credit, few turns),
 * `diagnosis-and-questions` (.7 and .3 of the grade), or the `questions` alone.
 */
export type GradedAspect = 'all' | 'diagnosis-and-questions' | 'questions'

/** A question to a judge, with its data. All text in it is data, never an instruction. */
export type JudgeRequest =
  /** Is the answer the reference diagnosis? Reply: `Correct` or `Wrong`. After DiagAgent. */
  | { readonly task: 'same-diagnosis'; readonly reference: string; readonly answer: string }
  /** How many of `items` does `list` hold, one to one? Reply: an integer, 0 to the shorter length. After DiagAgent. */
  | {
      readonly task: 'count-matched'
      readonly items: readonly string[]
      readonly list: readonly string[]
    }
  /** How similar in meaning? Reply: an integer, 0 (unrelated) to 5 (the same). After DoctorAgent-RL. */
  | {
      readonly task: 'similarity'
      readonly of: 'diagnosis' | 'recommendation'
      readonly reference: string
      readonly answer: string
    }
  /** How good was the consultation? Reply: a decimal number, 0 to 1. After GRPODx. */
  | {
      readonly task: 'consultation'
      readonly grade: GradedAspect
      readonly disease: string
      /** The doctor's one diagnosis; absent where there was none. */
      readonly diagnosis?: string
      readonly dialogue: readonly JudgedLine[]
    }
  /**
   * What did the patient get wrong? Reply: a JSON object of three integers from 0: `extra` (told unasked), `missing`
   * (withheld though asked), `opposite` (contradicting the profile). After TakesTwo.
   */
  | {
      readonly task: 'patient-conduct'
      readonly profile: string
      readonly dialogue: readonly JudgedLine[]
    }

/** The kind of a judge request. */
export type JudgeTask = JudgeRequest['task']

/** Context of a request. */
export interface JudgeContext extends RewardContext {
  /** How often the same was asked before, as its reply could not be read. @default 0 */
  readonly attempt?: number
}

/** Replies in words to a request. @throws Fault where it cannot be asked */
export interface Judge {
  (request: JudgeRequest, context?: JudgeContext): Promise<string>
  /** Shown in the evidence of every part it judged: `rule`, or the name of the model. */
  readonly judgeName: string
}

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
  const text = stripHiddenReasoning(reply)
  const fence = /^```(?:json)?/.exec(text)?.[0]
  const body = fence && text.endsWith('```') ? text.slice(fence.length, -3).trim() : text
  try {
    const given: unknown = JSON.parse(body)
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
    reply = await judge(request, attempt === 0 ? context : { ...context, attempt })
    const answer = read(reply, request)
    if (answer !== undefined) return answer
  }
  throw new Fault(
    'model-unreadable',
    `judge ${judge.judgeName}, ${request.task}: expected ${expected(request)}, got \`${reply.slice(0, 200)}\``,
  )
}
