/** Advantage estimators that read more than one group's totals: REINFORCE++, Lite PPO, GDPO over a step's groups, OPO by lengths. */
import type { BatchEstimator, ScoredGroup } from '../../group.js'
import { deviation, magnitude, standardise, whiteningEpsilon } from './whiten.js'

/** Splits one list over the batch into its groups. */
function regroup(groups: readonly ScoredGroup[], values: ArrayLike<number>): number[][] {
  let next = 0
  return groups.map(({ totals }) => totals.map(() => values[next++]!))
}

/** Weight of each member: its drawn tokens, or 1 without `tokens`. A group of one has no baseline and weighs 0. */
const weightsOf = (groups: readonly ScoredGroup[]): number[] =>
  groups.flatMap(({ totals, tokens }, g) => {
    if (tokens && tokens.length !== totals.length)
      throw new RangeError(
        `Expected \`tokens\` of groups[${g}] to have ${totals.length} entries, got ${tokens.length}`,
      )
    return totals.map((_, i) => (totals.length < 2 ? 0 : tokens ? tokens[i]! : 1))
  })

/**
 * REINFORCE++ (Hu et al. 2025, arXiv:2501.03262) for one reward at the end and gamma 1: totals whitened over the drawn
 * tokens of the batch, across groups, with 1e-8 added to the variance. `reinforcePlusPlus` is the per-token form, with
 * intermediate rewards or a discount. It does not compare siblings: form its groups with `baseline: 'elsewhere'`.
 */
export const reinforcePlusPlusAdvantages = (): BatchEstimator => (groups) => {
  const totals = groups.flatMap((group) => group.totals)
  const weights = groups.flatMap((group) => group.tokens ?? group.totals.map(() => 1))
  return regroup(groups, standardise(totals, { inside: whiteningEpsilon, weights }))
}

/**
 * REINFORCE++-baseline (Hu et al. 2025, arXiv:2501.03262): centred on the group mean, then whitened
 * over the drawn tokens of the batch with 1e-8 added to the variance, as verl does. A group of one gets 0 and stays
 * out of the statistics; verl uses its raw total.
 */
export const reinforcePlusPlusBaselineAdvantages = (): BatchEstimator => (groups) => {
  const scale = magnitude(groups.flatMap(({ totals }) => totals))
  const centred = groups.flatMap(({ totals }) => [
    ...standardise(
      totals.map((total) => total / scale),
      { std: 'none' },
    ),
  ])
  const inside = whiteningEpsilon / scale / scale
  return regroup(groups, standardise(centred, { inside, weights: weightsOf(groups) }))
}

/**
 * Lite PPO (Liu et al. 2025, arXiv:2508.08221; TRL's `scale_rewards="batch"`): centred on the group mean, divided by
 * the sample standard deviation of all totals of the batch plus `epsilon`.
 */
export const litePpoAdvantages =
  ({ epsilon = 1e-4 }: { readonly epsilon?: number } = {}): BatchEstimator =>
  (groups) => {
    const all = groups.flatMap(({ totals }) => totals)
    const scale = magnitude(all)
    const divisor = deviation(all.map((total) => total / scale)) + epsilon / scale
    return groups.map(({ totals }) => {
      const units = totals.map((total) => total / scale)
      return [...standardise(units, { std: 'none' })].map((value) =>
        value === 0 ? 0 : value / divisor,
      )
    })
  }

/** Settings of GDPO; the defaults are verl's. */
export interface GdpoOptions {
  /** Weight of each reward part; an unnamed part weighs 0. @default 1 for every part */
  readonly weights?: Readonly<Record<string, number>>
  /** Added to a part's standard deviation within its group: 1e-6 in verl, 1e-4 in TRL. @default 1e-6 */
  readonly epsilon?: number
  /** Added to the batch's variance: 1e-8 in verl, 0 in TRL. @default 1e-8 */
  readonly inside?: number
  /** Added to the batch's standard deviation: 0 in verl, 1e-4 in TRL. @default 0 */
  readonly outside?: number
}

/** Weighted sum of a group's reward parts per member, each part normalised over the members it applies to. */
function normalisedParts(
  { totals, parts }: ScoredGroup,
  g: number,
  { weights, epsilon = 1e-6 }: GdpoOptions,
): number[] {
  if (!parts || parts.length !== totals.length)
    throw new TypeError(
      `Expected \`parts\` of groups[${g}] to have ${totals.length} entries, got ${parts?.length ?? 'none'}`,
    )
  const sums = totals.map(() => 0)
  const names = weights ? Object.keys(weights) : new Set(parts.flatMap((one) => Object.keys(one)))
  for (const name of names) {
    const having = parts.flatMap((one, i) => (Object.hasOwn(one, name) ? [i] : []))
    const values = having.map((i) => parts[i]?.[name] ?? 0)
    const white = standardise(values, { outside: epsilon })
    having.forEach((i, n) => {
      sums[i] = sums[i]! + (weights?.[name] ?? 1) * white[n]!
    })
  }
  return sums
}

/**
 * GDPO (arXiv:2601.05242): normalises each part of the reward by its own mean and sample standard deviation within the
 * group, then whitens their weighted sum over the batch, so that no part drowns in the spread of another. The defaults
 * are verl's; TRL's are `{ epsilon: 1e-4, inside: 0, outside: 1e-4 }`, over members in place of tokens. A part that
 * does not apply to a member adds 0 for it, as in TRL; a group of one gets 0 and stays out of the statistics.
 * @throws TypeError for a group without `parts`
 */
export const gdpoAdvantages =
  (options: GdpoOptions = {}): BatchEstimator =>
  (groups) => {
    const { inside = whiteningEpsilon, outside = 0 } = options
    for (const [name, weight] of Object.entries(options.weights ?? {}))
      if (!Number.isFinite(weight))
        throw new RangeError(`Expected \`weights.${name}\` to be finite, got \`${weight}\``)
    const sums = groups.flatMap((group, g) => normalisedParts(group, g, options))
    const weights = weightsOf(groups)
    return regroup(groups, standardise(sums, { inside, outside, weights }))
  }

/**
 * OPO (Hao et al. 2025, arXiv:2505.23585): each total minus the mean weighted by lengths, the baseline of least variance.
 * Estimates over a batch, as it reads each member's drawn tokens.
 */
export const opoAdvantages = (): BatchEstimator => (groups) =>
  groups.map(({ totals, tokens = totals.map(() => 1) }) => {
    if (totals.length < 2) return totals.map(() => 0)
    const all = tokens.reduce((sum, one) => sum + one, 0)
    const weighted = totals.reduce((sum, total, i) => sum + total * tokens[i]!, 0)
    return totals.map((total) => (all > 0 ? total - weighted / all : 0))
  })
