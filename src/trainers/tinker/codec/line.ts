/** The order of one model's operations: numbers taken when called, requests accepted one call after another. */
import { Fault, messageOf } from '../../../error.js'

export interface Line {
  /** The server's name of the model, once it has one. */
  readonly modelId: Promise<string>
  /**
   * Takes `count` numbers now and runs `submit` with the first once all that came before was accepted. A single
   * request that the server refused gives its number back, if none was taken after it; every other failure leaves a
   * gap in the sequence, and so ends it.
   * @throws Fault naming the first error, where the sequence was ended
   */
  take<T>(count: number, submit: (first: number, modelId: string) => Promise<T>): Promise<T>
}

/** Marks a failure as seen: in a pipelined step the second promise may fail before anybody waits for it. */
export function seen<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined)
  return promise
}

/** Whether the server read a request and would not have it: then it keeps nothing of it. */
const wasRefused = (error: unknown): boolean => Fault.is(error) && error.code === 'bad-input'

/** A line of a model that may still be in the making, from the first number that is free. */
export function startLine(modelId: Promise<string>, from = 1): Line {
  let next = from
  let accepted: Promise<unknown> = Promise.resolve()
  let first: { readonly error: unknown } | undefined
  const broken = () =>
    new Fault(
      Fault.is(first?.error) && first.error.code === 'aborted' ? 'aborted' : 'backend-lost',
      `Not sent: the model's sequence ended when an earlier request was not accepted: ${messageOf(first?.error)}`,
      { cause: first?.error },
    )
  return {
    modelId: seen(modelId),
    take: (count, submit) => {
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
