/** Asks a judge, again where its reply cannot be read, and reads the reply. */
import { Fault } from '../../error.js'
import type { Judge, JudgeAnswers, JudgeContext, JudgeRequest, JudgeTask } from './judge.js'
import { type RequestOf, replyFormOf } from './read-reply.js'

/** Options of {@link askJudge}. */
export interface AskOptions {
  /** How often an unreadable reply is asked for, at most. @default 2 */
  readonly asks?: number
}

/** What a reader makes of the first reply it can read; without `answer`, of none. */
export interface AskedReply<Answer> {
  readonly answer?: Answer
  /** The last reply. */
  readonly reply: string
}

/**
 * Asks a judge until a reader can read its reply, `asks` times at most. A reply that the judge itself reports as
 * unreadable counts as one.
 * @throws Fault where the judge cannot be asked
 */
export async function askUntilRead<Answer>(
  judge: Judge,
  request: JudgeRequest,
  {
    asks,
    read,
    context,
  }: {
    readonly asks: number
    readonly read: (reply: string) => Answer | undefined
    readonly context?: JudgeContext | undefined
  },
): Promise<AskedReply<Answer>> {
  const first = context?.attempt ?? 0
  let reply = ''
  for (let attempt = first; attempt < first + asks; attempt++) {
    try {
      reply = await judge(request, attempt === 0 ? context : { ...context, attempt })
    } catch (error) {
      if (!Fault.is(error) || error.code !== 'model-unreadable') throw error
      reply = error.message
      continue
    }
    const answer = read(reply)
    if (answer !== undefined) return { answer, reply }
  }
  return { reply }
}

/**
 * Asks a judge and returns its parsed answer. An unreadable reply is asked for again.
 * @throws Fault `model-unreadable` if no reply can be read; also any error of the judge
 */
export async function askJudge<T extends JudgeTask>(
  judge: Judge,
  request: RequestOf<T>,
  context?: JudgeContext,
  { asks = 2 }: AskOptions = {},
): Promise<JudgeAnswers[T]> {
  // `T` is the request's own task.
  const { expected, read } = replyFormOf(request.task as T)
  const asked = { asks, read: (reply: string) => read(reply, request), context }
  const { answer, reply } = await askUntilRead(judge, request, asked)
  if (answer !== undefined) return answer
  throw new Fault(
    'model-unreadable',
    `judge ${judge.judgeName}, ${request.task}: expected ${expected(request)}, got \`${reply.slice(0, 200)}\``,
  )
}
