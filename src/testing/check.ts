/**
 * Conformance checks: what a contract promises, one sentence each, with a run that rejects when an
 * implementation breaks it. They know no test runner:
 *
 *     for (const { name, run } of envChecks(makeEnv, { actions })) test(name, run)
 */
import { messageOf } from '../error.js'

/** One promise of a contract; `run` rejects with what was expected and what was got. */
export interface Check {
  readonly name: string
  run(): Promise<void>
}

/** What a list of checks found. */
export interface CheckReport {
  readonly passed: readonly string[]
  readonly failures: readonly { readonly check: string; readonly message: string }[]
}

/** Runs every check, one after the other, and reports instead of throwing. */
export async function runChecks(checks: readonly Check[]): Promise<CheckReport> {
  const passed: string[] = []
  const failures: { check: string; message: string }[] = []
  for (const { name, run } of checks) {
    try {
      await run()
      passed.push(name)
    } catch (error) {
      failures.push({ check: name, message: messageOf(error) })
    }
  }
  return { passed, failures }
}
