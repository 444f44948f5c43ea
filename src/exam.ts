/** The examination simulator: a function that carries out one order, or says "not mine". */
import type { ExaminerView } from './case.js'
import type { Language, Ordered, Told } from './turn.js'

/** What carrying out one order gave. */
export interface ExamReport {
  /** `resulted` now, `repeat` of a result still valid, `unavailable` here. */
  readonly status: Extract<Ordered, 'resulted' | 'repeat' | 'unavailable'>
  /** Canonical ids of what was done, panels expanded. */
  readonly exams: readonly string[]
  readonly text: string
  readonly told: readonly Told[]
  readonly money: number
  /** Until the result is there. */
  readonly minutes: number
  /** 0 none to 3 an operation, of every examination carried out, added up. @default 0 */
  readonly invasiveness?: number
}

/** A report, and when in the consultation it came. */
export interface PastReport extends ExamReport {
  /** Minutes from the start. */
  readonly at: number
}

export interface ExamContext {
  readonly view: ExaminerView
  /** Earlier reports, oldest first. */
  readonly done: readonly PastReport[]
  /** Minutes from the start of the consultation to the order. */
  readonly now: number
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
