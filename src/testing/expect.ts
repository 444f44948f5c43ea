/** The ways a check fails, each saying what was expected and what was got. */
import { messageOf } from '../error.js'
import { difference, notPlain } from './plain.js'

/** Throws `Expected …, got …` where the condition does not hold. */
export function expectThat(holds: boolean, expected: string, got: unknown): asserts holds {
  if (holds) return
  const shown = typeof got === 'string' ? got : (JSON.stringify(got) ?? String(got))
  throw new Error(`Expected ${expected}, got ${shown}`)
}

/** Throws the first place where two plain values differ. */
export function expectSame(what: string, got: unknown, expected: unknown): void {
  const problem = difference(got, expected, what)
  if (problem) throw new Error(problem)
}

/** Throws the first place where a value is more than data. */
export function expectPlain(what: string, value: unknown): void {
  const problem = notPlain(value, what)
  if (problem) throw new Error(`Expected ${what} to survive JSON, got ${problem}`)
}

/** Throws where the work succeeds; gives what it threw. */
export async function expectRefused(what: string, work: () => unknown): Promise<unknown> {
  try {
    await work()
  } catch (error) {
    return error
  }
  throw new Error(`Expected ${what} to be refused, got no error`)
}

/** Throws where the work is not over after `ms`; what it threw or gave does not matter. */
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

/** Runs the work; what it throws becomes `Expected … to answer, got …`. */
export async function expectAnswer<T>(what: string, work: () => T | PromiseLike<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw new Error(`Expected ${what} to be answered, got ${messageOf(error)}`, { cause: error })
  }
}
