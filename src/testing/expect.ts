/** Assertions of the conformance checks; each error shows the expected and the received value. */
import { errorMessage } from '../error.js'
import { describeDifference, describeNonPlain } from './plain-data.js'

/** Throws `Expected …, got …` unless the condition holds. */
export function expectThat(holds: boolean, expected: string, got: unknown): asserts holds {
  if (holds) return
  const shown = typeof got === 'string' ? got : (JSON.stringify(got) ?? String(got))
  throw new Error(`Expected ${expected}, got ${shown}`)
}

/** Throws an error that names the first difference of two plain values. */
export function expectSame(what: string, got: unknown, expected: unknown): void {
  const problem = describeDifference(got, expected, what)
  if (problem) throw new Error(problem)
}

/** Throws an error that names the first place where a value is not plain data. */
export function expectPlain(what: string, value: unknown): void {
  const problem = describeNonPlain(value, what)
  if (problem) throw new Error(`Expected ${what} to survive JSON, got ${problem}`)
}

/** Throws where the work succeeds; resolves to the error that the work threw. */
export async function expectRefused(what: string, work: () => unknown): Promise<unknown> {
  try {
    await work()
  } catch (error) {
    return error
  }
  throw new Error(`Expected ${what} to be refused, got no error`)
}

/** Throws unless the work settles within `ms` milliseconds, with a value or an error. */
export async function expectWithin(
  ms: number,
  what: string,
  work: Promise<unknown>,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), ms)
  })
  const settled = work.then(
    () => 'over',
    () => 'over',
  )
  const first = await Promise.race([settled, late])
  clearTimeout(timer)
  if (first === 'late')
    throw new Error(`Expected ${what} to be over within ${ms} ms, got no answer`)
}

/** Runs the work and gives its value; an error becomes `Expected … to be answered, got …`. */
export async function expectAnswer<T>(what: string, work: () => T | PromiseLike<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw new Error(`Expected ${what} to be answered, got ${errorMessage(error)}`, { cause: error })
  }
}
