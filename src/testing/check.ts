/**
 * Conformance checks: what a contract promises, one sentence each, with a run that rejects when an
 * implementation breaks it. They know no test runner:
 *
 *     for (const { name, run } of envChecks(makeEnv, { actions })) test(name, run)
 */
import { messageOf } from '../error.js'

/** What a runner tells a check: Vitest's and node:test's own contexts do. */
export interface CheckContext {
  /** Called with the reason where a check does not apply to an implementation. */
  skip?(why: string): unknown
}

/** One promise of a contract; `run` rejects with what was expected and what was got. */
export interface Check {
  readonly name: string
  run(context?: CheckContext): Promise<void>
}

/** What a list of checks found. */
export interface CheckReport {
  readonly passed: readonly string[]
  /** Checks of what the implementation does not have. */
  readonly skipped: readonly { readonly check: string; readonly why: string }[]
  readonly failures: readonly { readonly check: string; readonly message: string }[]
}

/** Runs every check, one after the other, and reports instead of throwing. */
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
      failures.push({ check: name, message: messageOf(error) })
    }
  }
  return { passed, skipped, failures }
}
