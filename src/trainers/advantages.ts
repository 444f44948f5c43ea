/** Advantage estimators: pure functions of one group's totals, named after their papers. */
import type { AdvantageEstimator } from '../group.js'

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

/**
 * GRPO (Shao et al. 2024, arXiv:2402.03300): centred on the group mean, divided by the sample standard
 * deviation (n - 1) plus `epsilon`, as in verl and slime.
 */
export const grpo =
  ({ epsilon = 1e-6 }: { readonly epsilon?: number } = {}): AdvantageEstimator =>
  (totals) => {
    if (totals.length < 2) return totals.map(() => 0)
    const centre = mean(totals)
    const variance =
      totals.reduce((sum, total) => sum + (total - centre) ** 2, 0) / (totals.length - 1)
    const scale = Math.sqrt(variance) + epsilon
    return totals.map((total) => (total - centre) / scale)
  }

/** Dr. GRPO (Liu et al. 2025, arXiv:2503.20783): centred on the group mean, the spread left alone. */
export const drGrpo = (): AdvantageEstimator => (totals) => {
  if (totals.length < 2) return totals.map(() => 0)
  const centre = mean(totals)
  return totals.map((total) => total - centre)
}

/** RLOO (Kool et al. 2019; Ahmadian et al. 2024): each member against the mean of the others. */
export const rloo = (): AdvantageEstimator => (totals) => {
  const n = totals.length
  if (n < 2) return totals.map(() => 0)
  const centre = mean(totals)
  return totals.map((total) => ((total - centre) * n) / (n - 1))
}

/** The estimators a recipe can name. */
export const advantageEstimators = {
  grpo: grpo(),
  'dr-grpo': drGrpo(),
  rloo: rloo(),
} as const satisfies Record<string, AdvantageEstimator>

export type AdvantageName = keyof typeof advantageEstimators
