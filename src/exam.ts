/** The examination simulator: a function that carries out one order, or gives `undefined` for an unknown one. */
import type { ExaminerView, InformedExaminerView } from './case.js'
import type { Sample } from './episode.js'
import type { Language, OrderStatus, RevealedFinding, TurnFacts } from './turn.js'

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
  /** Name of the simulator that made up a result which the case does not record. @default none: the case's own */
  readonly simulatedBy?: string
  /** Members that are not known of it: `told`, where nobody read its text for findings. @default none */
  readonly unread?: TurnFacts['unread']
  /** What a monitor found in the words of a model. @default nothing was looked for */
  readonly flags?: TurnFacts['flags']
  /** The tokens of the report, where a policy drew it. */
  readonly sample?: Sample
}

/** A report with its time in the consultation. */
export interface PastReport extends ExamReport {
  /** Minutes from the start of the consultation. */
  readonly at: number
}

/** Context of an order for an examination simulator. */
export interface ExamContext<View = ExaminerView> {
  readonly view: View
  /** Earlier reports, oldest first. */
  readonly done: readonly PastReport[]
  /** Minutes from the start of the consultation to the order. */
  readonly now: number
  readonly seed: number
  readonly language: Language
  readonly signal?: AbortSignal | undefined
}

type Examine<View> = (
  order: string,
  context: ExamContext<View>,
) => ExamReport | undefined | PromiseLike<ExamReport | undefined>

interface Splits {
  /**
   * The orders of one examination each that an order of several holds, in its order, with whatever else it names; the
   * order alone where it is of one examination or none. @default every order is one
   */
  readonly split?: (order: string) => readonly string[]
}

/** Carries out an order, or gives `undefined` for one it does not know, so that the next simulator may try. */
export interface ExamSimulator extends Splits, Examine<ExaminerView> {}

/** A simulator that is told the diagnosis of the case, as DiagGym was in its training. */
export interface InformedExamSimulator extends Splits {
  readonly informed: Examine<InformedExaminerView>
}

/** Any simulator: an ordinary one, or one that is told the diagnosis. */
export type AnyExamSimulator = ExamSimulator | InformedExamSimulator

/** Carries out an order by any simulator; only one that is to know the diagnosis is given the view with it. */
export const carryOutOrder = (
  simulate: AnyExamSimulator,
  order: string,
  { view, ...context }: ExamContext,
  informed: () => InformedExaminerView,
): ReturnType<ExamSimulator> =>
  typeof simulate === 'function'
    ? simulate(order, { ...context, view })
    : simulate.informed(order, { ...context, view: informed() })

/** An examiner's view without the diagnosis. */
const uninformed = ({ diagnoses: _, ...fields }: InformedExaminerView): ExaminerView => ({
  ...fields,
  view: 'examiner',
})

const isPlain = (simulate: AnyExamSimulator): simulate is ExamSimulator =>
  typeof simulate === 'function'

/** The first result; where there is none, the first report of those that know the order. */
async function firstResult<T>(
  simulators: readonly T[],
  ask: (simulate: T) => ReturnType<ExamSimulator>,
): Promise<ExamReport | undefined> {
  let without: ExamReport | undefined
  for (const simulate of simulators) {
    const report = await ask(simulate)
    if (report !== undefined && report?.status !== 'unavailable') return report
    without ??= report
  }
  return without
}

/**
 * Combines simulators: each is asked until one has a result. Where none has, what the first said that knows the order.
 * The first that can splits an order of several. Only those that are to know the diagnosis are told it.
 */
export function combineExamSimulators(...simulators: readonly ExamSimulator[]): ExamSimulator
export function combineExamSimulators(...simulators: readonly AnyExamSimulator[]): AnyExamSimulator
export function combineExamSimulators(
  ...simulators: readonly AnyExamSimulator[]
): AnyExamSimulator {
  const split = (order: string): readonly string[] => {
    for (const simulate of simulators) {
      const orders = simulate.split?.(order) ?? []
      if (orders.length > 1) return orders
    }
    return [order]
  }
  if (simulators.every(isPlain)) {
    const examine: Examine<ExaminerView> = (order, context) =>
      firstResult(simulators, (simulate) => simulate(order, context))
    return Object.assign(examine, { split })
  }
  const informed: Examine<InformedExaminerView> = (order, context) => {
    const plain = { ...context, view: uninformed(context.view) }
    const told = () => context.view
    return firstResult(simulators, (simulate) => carryOutOrder(simulate, order, plain, told))
  }
  return { informed, split }
}
