/** The examination simulator: a function that carries out one order, or gives `undefined` for an unknown one. */
import type { ExaminerView } from './case.js'
import type { Sample } from './episode.js'
import type { Language, OrderStatus, RevealedFinding } from './turn.js'

/** Result of one carried-out order. */
export interface ExamReport {
  /** `resulted` now, `repeat` of a still valid result, or `unavailable` here. */
  readonly status: Extract<OrderStatus, 'resulted' | 'repeat' | 'unavailable'>
  /** Canonical ids of the examinations done, panels expanded. */
  readonly exams: readonly string[]
  readonly text: string
  readonly told: readonly RevealedFinding[]
  readonly money: number
  /** Minutes until the result. */
  readonly minutes: number
  /** Sum over the examinations done of 0 (none) to 3 (an operation). @default 0 */
  readonly invasiveness?: number
  /** The tokens of the report, where a policy drew it. */
  readonly sample?: Sample
}

/** A report with its time in the consultation. */
export interface PastReport extends ExamReport {
  /** Minutes from the start of the consultation. */
  readonly at: number
}

/** Context of an order for an examination simulator. */
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

/** Carries out an order, or gives `undefined` for one it does not know, so that the next simulator may try. */
export interface ExamSimulator {
  (
    order: string,
    context: ExamContext,
  ): ExamReport | undefined | PromiseLike<ExamReport | undefined>
  /**
   * The orders of one examination each that an order of several holds, in its order, with whatever else it names; the
   * order alone where it is of one examination or none. @default every order is one
   */
  readonly split?: (order: string) => readonly string[]
}

/** Combines simulators: the first that knows the order carries it out, the first that can splits one of several. */
export function combineExamSimulators(...simulators: readonly ExamSimulator[]): ExamSimulator {
  const examine = async (order: string, context: ExamContext) => {
    for (const simulate of simulators) {
      const report = await simulate(order, context)
      if (report !== undefined) return report
    }
    return undefined
  }
  const split = (order: string): readonly string[] => {
    for (const simulate of simulators) {
      const orders = simulate.split?.(order) ?? []
      if (orders.length > 1) return orders
    }
    return [order]
  }
  return Object.assign(examine, { split })
}
