/** Sequence of one model's operations: numbers are taken at the call, requests submitted in that order. */
import { errorMessage, Fault } from '../../error.js'

/** Prevents an unhandled rejection: in a pipelined step, the second promise may fail before it is awaited. */
export function markHandled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined)
  return promise
}

/** Whether the server read a request and refused it. */
const wasRefused = (error: unknown): boolean => Fault.is(error) && error.code === 'bad-input'

/** The fault of requests after one that was not accepted. */
const brokenFault = (cause: unknown): Fault =>
  new Fault(
    Fault.is(cause) && cause.code === 'aborted' ? 'aborted' : 'backend-lost',
    `Not sent: the model's sequence ended when an earlier request was not accepted: ${errorMessage(cause)}`,
    { cause },
  )

/** How a model's sequence begins, and what its server does. */
export interface SequenceOptions {
  /** The first free number. @default 1 */
  readonly from?: number
  /** Whether a refused request uses up its number, or the number is still free. */
  readonly refusalUsesNumber: boolean
}

/** Starts the sequence of a model, which may still be under creation. */
export function startSequence(
  modelId: Promise<string>,
  { from = 1, refusalUsesNumber }: SequenceOptions,
) {
  let next = from
  let accepted: Promise<unknown> = Promise.resolve()
  let first: { readonly error: unknown } | undefined
  markHandled(modelId)
  return {
    /**
     * Takes `count` numbers now, and runs `submit` with the first of them once all earlier calls were accepted. After
     * a single request that the server refused, the sequence goes on: its number is used up, or returned unless a later
     * one was taken. Any other failure leaves a gap, which breaks the sequence.
     * @throws Fault naming the first error, if the sequence is broken
     */
    take<T>(count: number, submit: (first: number, modelId: string) => Promise<T>): Promise<T> {
      const number = next
      next += count
      const before = accepted
      const run = async () => {
        await before
        if (first) throw brokenFault(first.error)
        try {
          return await submit(number, await modelId)
        } catch (error) {
          const alone = count === 1 && wasRefused(error)
          if (alone && !refusalUsesNumber && next === number + 1) next = number
          else if (!(alone && refusalUsesNumber)) first ??= { error }
          throw error
        }
      }
      const running = run()
      accepted = running.catch(() => undefined)
      return running
    },
  }
}

/** Operation sequence of one model. */
export type OperationSequence = ReturnType<typeof startSequence>
