/** Sequence of one model's operations: numbers are taken at the call, requests submitted in that order. */
import { errorMessage, Fault } from '../../error.js'

/** Prevents an unhandled rejection: in a pipelined step, the second promise may fail before it is awaited. */
export function markHandled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined)
  return promise
}

/** Whether the server read a request and refused it, so that its number is still free. */
const wasRefused = (error: unknown): boolean => Fault.is(error) && error.code === 'bad-input'

/** Starts the sequence of a model, which may still be under creation, at the first free number. */
export function startSequence(modelId: Promise<string>, from = 1) {
  let next = from
  let accepted: Promise<unknown> = Promise.resolve()
  let first: { readonly error: unknown } | undefined
  const broken = () =>
    new Fault(
      Fault.is(first?.error) && first.error.code === 'aborted' ? 'aborted' : 'backend-lost',
      `Not sent: the model's sequence ended when an earlier request was not accepted: ${errorMessage(first?.error)}`,
      { cause: first?.error },
    )
  markHandled(modelId)
  return {
    /**
     * Takes `count` numbers now, and runs `submit` with the first of them once all earlier calls were accepted. A
     * single request that the server refused returns its number, unless a later one was taken. Any other failure
     * leaves a gap, which breaks the sequence.
     * @throws Fault naming the first error, if the sequence is broken
     */
    take<T>(count: number, submit: (first: number, modelId: string) => Promise<T>): Promise<T> {
      const number = next
      next += count
      const before = accepted
      const run = async () => {
        await before
        if (first) throw broken()
        try {
          return await submit(number, await modelId)
        } catch (error) {
          if (count === 1 && next === number + 1 && wasRefused(error)) next = number
          else first ??= { error }
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
