/**
 * Conformance checks: one promise of a contract each, with a `run` that rejects where an implementation breaks it.
 * They need no particular test runner:
 *
 *     for (const { name, run } of envChecks(makeEnv, { actions })) test(name, run)
 */
import { errorMessage } from '../error.js'

/** Test context passed to a check; the contexts of Vitest and node:test fit. */
export interface CheckContext {
  /** Called with a reason where a check does not apply to the implementation. */
  skip?(why: string): unknown
}

/** One promise of a contract; `run` rejects with the expected and the received value. */
export interface Check {
  readonly name: string
  run(context?: CheckContext): Promise<void>
}

/** Runs of checks by name. */
export type CheckRuns = Readonly<Record<string, () => Promise<void>>>

/** Lists runs by name as checks. */
export const toChecks = (runs: CheckRuns): readonly Check[] =>
  Object.entries(runs).map(([name, run]) => ({ name, run }))

/** Results of a list of checks. */
export interface CheckReport {
  readonly passed: readonly string[]
  /** Checks of optional parts that the implementation does not have. */
  readonly skipped: readonly { readonly check: string; readonly why: string }[]
  readonly failures: readonly { readonly check: string; readonly message: string }[]
}

/** Runs the checks one after the other and reports failures instead of throwing. */
export async function runChecks(checks: readonly Check[]): Promise<CheckReport> {
  const passed: string[] = []
  const skipped: { check: string; why: string }[] = []
  const failures: { check: string; message: string }[] = []
  for (const { name, run } of checks) {
    let why: string | undefined
    const skip = (reason: string) => {
      why = reason
    }
    try {
      await run({ skip })
      if (why === undefined) passed.push(name)
      else skipped.push({ check: name, why })
    } catch (error) {
      failures.push({ check: name, message: errorMessage(error) })
    }
  }
  return { passed, skipped, failures }
}
