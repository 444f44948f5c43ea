/**
 * Faults: typed errors with a code for failures of the world (models, files, judges).
 *
 * Three kinds of error get three treatments. A policy's mistake is an outcome it learns from (`turn.ts`). A failure
 * of the world is a {@link Fault}: left out and counted, never scored. A programmer's mistake throws a `TypeError` or
 * `RangeError` at once, with the value received.
 */

/** Cause of a {@link Fault}; a code exists only where a caller would act on it. */
export type FaultCode =
  /** A file, flag or config the user gave is wrong; the message names the place. */
  | 'bad-input'
  /** A model endpoint did not answer, or refused the request. */
  | 'model-unavailable'
  /** A model's answer cannot be read. */
  | 'model-unreadable'
  /** A cassette lacks a reply that may not be asked for, or has those to another version of a prompt. */
  | 'no-recording'
  /** The run's own budget for models is spent; it stops, and can go on later. */
  | 'budget'
  /** A user's patient, exam simulator or reward threw. */
  | 'component-failed'
  /** A checkpoint is damaged or belongs to another policy. */
  | 'bad-checkpoint'
  /** The process with the weights died; a run continues from its last checkpoint with a new one. */
  | 'backend-lost'
  /** The caller's signal was aborted. */
  | 'aborted'

const marker = Symbol.for('bedside.fault')

/** An error outside the policy and the program: of an endpoint, a file, a judge. */
export class Fault extends Error {
  readonly code: FaultCode
  readonly [marker] = true

  constructor(code: FaultCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'Fault'
    this.code = code
  }

  /** True for a `Fault` of any copy of this package, where `instanceof` fails across duplicate installs. */
  static is(error: unknown): error is Fault {
    return typeof error === 'object' && error !== null && marker in error
  }
}

/** Codes of faults after which no other episode would fare better. */
const runFaults: readonly FaultCode[] = ['aborted', 'backend-lost', 'budget', 'no-recording']

/**
 * True for a fault of one episode, which is left out and counted while the others continue. False when the caller
 * aborted, the backend with the weights is lost, the budget for models is spent, or a recording lacks what is asked.
 */
export const isEpisodeFault = (error: unknown): error is Fault =>
  Fault.is(error) && !runFaults.includes(error.code)

/** The message of any thrown value. */
export const errorMessage = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

/** Runs `work` and rethrows its error as a {@link Fault} of `code`; a `Fault` passes unchanged. */
export async function rethrowAsFault<T>(
  code: FaultCode,
  what: string,
  work: () => T | PromiseLike<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (Fault.is(error)) throw error
    throw new Fault(code, `${what}: ${errorMessage(error)}`, { cause: error })
  }
}
