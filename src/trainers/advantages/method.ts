/** How the advantages of a step are estimated: group by group, over the whole batch, or against a greedy rollout. */
import type {
  AdvantageEstimator,
  AdvantageName,
  BatchEstimator,
  Group,
  GroupPolicy,
} from '../../group.js'
import { estimateAcrossGroups } from '../../group.js'
import {
  gdpoAdvantages,
  litePpoAdvantages,
  opoAdvantages,
  reinforcePlusPlusAdvantages,
  reinforcePlusPlusBaselineAdvantages,
} from './per-batch.js'
import {
  drGrpoAdvantages,
  grpoAdvantages,
  maxRlAdvantages,
  passKAdvantages,
  rlooAdvantages,
} from './per-group.js'

type Baseline = NonNullable<GroupPolicy['baseline']>

/** An advantage estimator, what it reads, and where its baseline comes from. */
export type AdvantageMethod =
  /** From the totals of each group by itself. */
  | {
      readonly per: 'group'
      readonly estimate: AdvantageEstimator
      /** @default 'siblings' */
      readonly baseline?: Baseline
    }
  /** From all groups of a step at once. */
  | {
      readonly per: 'batch'
      readonly estimate: BatchEstimator
      /** @default 'siblings' */
      readonly baseline?: Baseline
    }
  /** Against the total of a greedy rollout of the same case, which the loop plays besides (ReMax). */
  | { readonly per: 'greedy' }

/** Where the baseline of a method comes from. */
export const baselineOf = (method: AdvantageMethod): Baseline =>
  method.per === 'greedy' ? 'elsewhere' : (method.baseline ?? 'siblings')

/** The method of a published estimator, as recipes name them. */
export function namedAdvantages(name: AdvantageName): AdvantageMethod {
  switch (name) {
    case 'dr-grpo':
      return { per: 'group', estimate: drGrpoAdvantages() }
    case 'grpo':
      return { per: 'group', estimate: grpoAdvantages() }
    case 'rloo':
      return { per: 'group', estimate: rlooAdvantages() }
    case 'max-rl':
      return { per: 'group', estimate: maxRlAdvantages() }
    case 'reinforce-plus-plus':
      return { per: 'batch', estimate: reinforcePlusPlusAdvantages(), baseline: 'elsewhere' }
    case 'reinforce-plus-plus-baseline':
      return { per: 'batch', estimate: reinforcePlusPlusBaselineAdvantages() }
    case 'lite-ppo':
      return { per: 'batch', estimate: litePpoAdvantages() }
    case 'gdpo':
      // Equal totals may be sums of parts that differ.
      return { per: 'batch', estimate: gdpoAdvantages(), baseline: 'elsewhere' }
    case 'opo':
      return { per: 'batch', estimate: opoAdvantages() }
    case 'pass-k':
      return { per: 'group', estimate: passKAdvantages() }
    case 'remax':
      return { per: 'greedy' }
  }
}

/** The estimator to form a group with: zeros where `estimateBatch` or a greedy rollout gives the advantages later. */
export const groupEstimator = (method: AdvantageMethod): AdvantageEstimator =>
  method.per === 'group' ? method.estimate : (totals) => totals.map(() => 0)

/** The groups of a step with the advantages of a method per batch; unchanged for any other method. */
export const estimateBatch = (
  groups: readonly Group[],
  method: AdvantageMethod,
): readonly Group[] =>
  method.per === 'batch' ? estimateAcrossGroups(groups, method.estimate) : groups
