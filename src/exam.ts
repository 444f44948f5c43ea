/** The examination simulator: a function that carries out one order, or says "not mine". */
import type { ExaminerView } from './case.js'
import type { Language, Told } from './turn.js'

/** What carrying out one order gave. */
export interface ExamReport {
  /** `resulted` now, `repeat` of a result still valid, `unavailable` here. */
  readonly status: 'resulted' | 'repeat' | 'unavailable'
  /** Canonical ids of what was done, panels expanded. */
  readonly exams: readonly string[]
  readonly text: string
  readonly told: readonly Told[]
  readonly money: number
  readonly minutes: number
}

export interface ExamContext {
  readonly view: ExaminerView
  /** Earlier reports, oldest first. */
  readonly done: readonly ExamReport[]
  readonly seed: number
  readonly language: Language
  readonly signal?: AbortSignal | undefined
}

/** Carries out the order, or gives `undefined` when it is not one it knows, so that the next may try. */
export type ExamSimulator = (
  order: string,
  context: ExamContext,
) => ExamReport | undefined | PromiseLike<ExamReport | undefined>

/** The first simulator that knows the order carries it out. */
export const firstOf =
  (...simulators: readonly ExamSimulator[]): ExamSimulator =>
  async (order, context) => {
    for (const simulate of simulators) {
      const report = await simulate(order, context)
      if (report !== undefined) return report
    }
    return undefined
  }
