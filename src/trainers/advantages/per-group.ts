/** Advantage estimators over one group's totals, named after their papers: GRPO, Dr. GRPO, RLOO, ReMax. */
import type { AdvantageEstimator } from '../../group.js'
import { type Deviation, deviation, magnitude, standardise } from './whiten.js'

/** Normalisation that tells implementations of GRPO apart. */
export interface GrpoVariant {
  /** Divisor of centred totals: the standard deviation over n - 1 or over n, or none. @default 'sample' */
  readonly std?: Deviation
  /** Added to the standard deviation. @default 1e-6 */
  readonly epsilon?: number
}

/** GRPO normalisation of published libraries. */
export const grpoVariants = {
  verl: { std: 'sample', epsilon: 1e-6 },
  slime: { std: 'sample', epsilon: 1e-6 },
  trl: { std: 'sample', epsilon: 1e-4 },
  'trl-async': { std: 'population', epsilon: 1e-8 },
} as const satisfies Record<string, GrpoVariant>

/**
 * GRPO (Shao et al. 2024, arXiv:2402.03300): centred on the group mean, divided by the standard deviation plus
 * `epsilon`. A group of one gets 0; verl gives it its raw total.
 */
export function grpoAdvantages({
  std = 'sample',
  epsilon = 1e-6,
}: GrpoVariant = {}): AdvantageEstimator {
  if (!(epsilon >= 0))
    throw new RangeError(`Expected \`epsilon\` to be at least 0, got \`${epsilon}\``)
  return (totals) => [...standardise(totals, { std, outside: epsilon })]
}

/** Dr. GRPO (Liu et al. 2025, arXiv:2503.20783): centred on the group mean, not divided by the spread. */
export const drGrpoAdvantages = (): AdvantageEstimator => grpoAdvantages({ std: 'none' })

/** RLOO (Kool et al. 2019; Ahmadian et al. 2024): each total minus the mean of the others. */
export const rlooAdvantages = (): AdvantageEstimator => (totals) => {
  const n = totals.length
  return [...standardise(totals, { std: 'none' })].map((centred) =>
    n < 2 ? 0 : (centred * n) / (n - 1),
  )
}

/**
 * Pass@k (arXiv:2503.19595, as verl's `grpo_passk`): the best of a group gets its lead over the second, divided by the
 * standard deviation over n - 1 where `std` is not `none`; all others get 0. Of equals the first leads by nothing.
 */
export const passKAdvantages =
  ({ std = 'sample', epsilon = 1e-6 }: GrpoVariant = {}): AdvantageEstimator =>
  (totals) => {
    if (totals.length < 2) return totals.map(() => 0)
    // In units of their size, so that no difference of finite totals is infinite.
    const scale = magnitude(totals)
    const scaled = totals.map((total) => total / scale)
    const [best = 0, second = 0] = scaled.toSorted((a, b) => b - a)
    const lead = best - second
    const divisor = std === 'none' ? 1 / scale : deviation(scaled, std) + epsilon / scale
    return totals.map((_, i) => (lead > 0 && i === scaled.indexOf(best) ? lead / divisor : 0))
  }

/**
 * MaxRL (Tajwar et al. 2026, maximum likelihood reinforcement learning): centred on the group mean and divided by it. A rare
 * success counts as much as it would by the likelihood of the right answer. A group whose mean is not above 0 gets zeros.
 */
export const maxRlAdvantages = (): AdvantageEstimator => (totals) => {
  const mean = totals.reduce((sum, total) => sum + total, 0) / totals.length
  return [...standardise(totals, { std: 'none' })].map((centred) => (mean > 0 ? centred / mean : 0))
}

/**
 * ReMax (Li et al. 2023, arXiv:2310.10505): each total minus the total of a greedy rollout of the same case.
 * It does not compare siblings: form its groups with `baseline: 'elsewhere'`.
 * @throws RangeError for a greedy total that is not finite
 */
export function remaxAdvantages(greedy: number): AdvantageEstimator {
  if (!Number.isFinite(greedy))
    throw new RangeError(`Expected \`greedy\` to be finite, got \`${greedy}\``)
  return (totals) => totals.map((total) => total - greedy)
}

/** Estimators that need nothing but one group's totals, by the name recipes use. */
export const advantageEstimators = {
  grpo: grpoAdvantages(),
  'dr-grpo': drGrpoAdvantages(),
  rloo: rlooAdvantages(),
  'max-rl': maxRlAdvantages(),
} as const satisfies Record<string, AdvantageEstimator>
