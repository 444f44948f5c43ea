/** Several votes as one judge: of one model or of a panel, with the compared texts in both orders if asked for. */
import { Fault } from '../../error.js'
import { askUntilRead } from './ask-judge.js'
import type { Judge, JudgeAnswers, JudgeContext, JudgeRequest, JudgeTask } from './judge.js'
import { replyFormOf } from './read-reply.js'

/** Options of {@link jury}. */
export interface JuryOptions {
  /** Votes of each judge. A model votes alike every time at temperature 0. @default 1 */
  readonly votes?: number
  /** Whether each vote is cast twice, with the two things compared in either order. @default false */
  readonly swap?: boolean
  /** Asks for each vote until one can be read. @default 2 */
  readonly asks?: number
}

/** The lower median: of an even number of votes the lower of the two in the middle. */
const lowerMedian = (votes: readonly number[]): number =>
  votes.toSorted((a, b) => a - b)[(votes.length - 1) >> 1] ?? Number.NaN

/** The verdict of more than half of all votes, unreadable ones included; undefined where there is none. */
function majority(votes: readonly boolean[], all: number): boolean | undefined {
  const right = votes.filter(Boolean).length
  if (right * 2 > all) return true
  return (votes.length - right) * 2 > all ? false : undefined
}

/** Decides by the votes that could be read; undefined where they decide nothing. */
const deciders: {
  readonly [T in JudgeTask]: (
    votes: readonly JudgeAnswers[T][],
    all: number,
  ) => JudgeAnswers[T] | undefined
} = {
  'same-diagnosis': majority,
  'count-matched': lowerMedian,
  similarity: lowerMedian,
  consultation: lowerMedian,
  'patient-conduct': (votes) => ({
    extra: lowerMedian(votes.map(({ extra }) => extra)),
    missing: lowerMedian(votes.map(({ missing }) => missing)),
    opposite: lowerMedian(votes.map(({ opposite }) => opposite)),
  }),
}

function decide<T extends JudgeTask>(
  task: T,
  ballots: readonly (JudgeAnswers[T] | undefined)[],
  name: string,
): string {
  const read = ballots.filter((ballot) => ballot !== undefined)
  // The table's type ties each task to the votes on it.
  const decider = deciders[task] as (
    votes: readonly JudgeAnswers[T][],
    all: number,
  ) => JudgeAnswers[T] | undefined
  const decided = read.length * 2 > ballots.length ? decider(read, ballots.length) : undefined
  const { write } = replyFormOf(task)
  if (decided !== undefined) return write(decided)
  const cast = ballots.map((ballot) => (ballot === undefined ? '(unreadable)' : write(ballot)))
  throw new Fault(
    'model-unreadable',
    `${name}, ${task}: the votes decide nothing: ${cast.join(', ')}`,
  )
}

/**
 * Makes one judge of one or several. A verdict needs more than half of all votes; a number is the lower median of the
 * votes, which must be more than half. A vote whose replies cannot be read is none.
 *
 * The reply is in the prescribed form of this package: a released formula that reads a model's own words needs the
 * model itself.
 * @returns a judge whose calls reject with a Fault `model-unreadable` where the votes decide nothing, and with the fault
 * of any judge that cannot be asked
 * @throws RangeError without a judge, or for `votes` or `asks` that are not whole numbers from 1
 */
export function jury(
  judges: Judge | readonly Judge[],
  { votes = 1, swap = false, asks = 2 }: JuryOptions = {},
): Judge {
  const panel = typeof judges === 'function' ? [judges] : judges
  if (panel.length === 0) throw new RangeError('Expected at least one judge in a jury, got none')
  for (const [name, value] of Object.entries({ votes, asks }))
    if (!(Number.isSafeInteger(value) && value >= 1))
      throw new RangeError(`Expected \`${name}\` to be a whole number from 1, got ${value}`)
  const names = panel.map(({ judgeName }) => judgeName).join('+')
  const judgeName = `${names}${votes > 1 ? `×${votes}` : ''}${swap ? '⇄' : ''}`
  const places = panel.flatMap((judge) =>
    Array.from({ length: votes }, (_, vote) =>
      (swap ? [false, true] : [false]).map((swapped) => ({ judge, vote, swapped })),
    ).flat(),
  )
  const judge = async (request: JudgeRequest, context: JudgeContext = {}): Promise<string> => {
    const { read } = replyFormOf(request.task)
    const attempt = (context.attempt ?? 0) * asks
    const ballots = await Promise.all(
      places.map(async ({ judge: member, vote, swapped }) => {
        const asked = { ...context, attempt, vote, swapped }
        const given = { asks, context: asked, read: (reply: string) => read(reply, request) }
        return (await askUntilRead(member, request, given)).answer
      }),
    )
    return decide(request.task, ballots, `jury ${judgeName}`)
  }
  return Object.assign(judge, { judgeName })
}
