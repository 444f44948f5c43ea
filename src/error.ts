/**
 * The world's faults, as values with a code.
 *
 * Three kinds of trouble get three treatments. What the policy does wrong is an outcome it learns
 * from (`turn.ts`). What the world does wrong is a {@link Fault}: left out and counted, never scored.
 * What the programmer does wrong throws a `TypeError` or `RangeError` at once, with the value received.
 */

/** Why a {@link Fault} happened; a code exists only where a caller would act on it. */
export type FaultCode =
  /** A file, flag or config the user gave is wrong; the message names the place. */
  | 'bad-input'
  /** A model endpoint did not answer, or refused. */
  | 'model-unavailable'
  /** A model answered something that cannot be read. */
  | 'model-unreadable'
  /** A patient, exam simulator or reward of the user threw. */
  | 'component-failed'
  /** A checkpoint belongs to another policy, or is damaged. */
  | 'bad-checkpoint'
  /** The process that holds the weights is gone; a run goes on from its last checkpoint with another. */
  | 'backend-lost'
  /** The caller's signal was aborted. */
  | 'aborted'

const marker = Symbol.for('bedside.fault')

/** Something outside the policy and the program went wrong: an endpoint, a file, a judge. */
export class Fault extends Error {
  readonly code: FaultCode
  readonly [marker] = true

  constructor(code: FaultCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'Fault'
    this.code = code
  }

  /** True for a `Fault` of any copy of this package; `instanceof` fails across duplicate installs. */
  static is(error: unknown): error is Fault {
    return typeof error === 'object' && error !== null && marker in error
  }
}

/**
 * Whether a fault is one consultation's own, to be left out and counted while the others go on: not when the caller
 * stopped everything, nor when there are no weights left to play with.
 */
export const ofOneWorld = (error: unknown): error is Fault =>
  Fault.is(error) && error.code !== 'aborted' && error.code !== 'backend-lost'

/** The message of anything thrown. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

/** Runs `work`; what it throws becomes a {@link Fault} of `code`, unless a nearer boundary named it. */
export async function boundary<T>(
  code: FaultCode,
  what: string,
  work: () => T | PromiseLike<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (Fault.is(error)) throw error
    throw new Fault(code, `${what}: ${messageOf(error)}`, { cause: error })
  }
}
