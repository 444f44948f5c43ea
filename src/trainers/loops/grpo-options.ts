/** Options of the GRPO loop: their defaults, and what contradicts itself in them. */
import type { Case } from '../../case.js'
import type { AdvantageEstimator, Group, GroupPolicy } from '../../group.js'
import type { AdvantageMethod } from '../advantages/method.js'
import { baselineOf, namedAdvantages } from '../advantages/method.js'
import type { OffPolicyOptions } from '../batches/group-batch.js'
import { assertHindsight, type HindsightOptions } from '../batches/hindsight.js'
import { grpoDefaults } from '../defaults.js'
import type { PlayingOptions, StepResult } from './loop.js'
import { resolvePlaying, unmeasured } from './loop.js'

/** Result of one GRPO step. */
export interface GrpoStep extends StepResult {
  /** All groups in the order of their places, those without a learning signal included. */
  readonly groups: readonly Group[]
  /** The case of each group. */
  readonly cases: readonly Case[]
}

/** Options of `trainGrpo`. */
export interface GrpoOptions extends PlayingOptions<GrpoStep> {
  /** Advantage estimator; a function estimates each group by itself. @default Dr. GRPO */
  readonly advantages?: AdvantageMethod | AdvantageEstimator
  /** Which members count in a group, and which groups learn. */
  readonly policy?: Omit<GroupPolicy, 'baseline'>
  /** @default 32 */
  readonly groupsPerStep?: number
  /** @default 8 */
  readonly groupSize?: number
  /**
   * Diagnoses drawn where each consultation concludes, as siblings that share all before it; 0 for the one it ended with.
   * @default 0
   */
  readonly endings?: number
  /** Dynamic sampling (DAPO): draws groups until `groupsPerStep` of them learn, `most` in all. @default none */
  readonly resample?: { readonly most: number }
  /**
   * In a group of which one diagnosis was right (accuracy 1), every turn of all members then learns that diagnosis, in a
   * step after the policy's. Needs `accuracy`, and a backend with `conclude`. @default none
   */
  readonly hindsight?: HindsightOptions
  /**
   * In a group of which one diagnosis was right (accuracy 1), a consultation that concluded wrongly also learns the right
   * one's last reply in place of its own: this advantage for that reply, and as much less for its own. 0 for none. Needs
   * `accuracy`, and a backend with `logprobs`. @default 0
   */
  readonly corrections?: number
  /** Plays ahead, with policies up to this many versions old; 0 for on-policy groups. @default 0 */
  readonly maxStaleness?: number
  /** What is rejected as too far off policy, and how a correction's weights are scaled. @default nothing */
  readonly offPolicy?: OffPolicyOptions
  /** With `maxStaleness`: groups begun before `firstStep` (`metrics.groups.begun`). @default those of its steps */
  readonly begun?: number
}

/** Fills in the defaults. */
export function resolveGrpo({
  advantages: given = namedAdvantages(grpoDefaults.advantages),
  policy = {},
  groupsPerStep = grpoDefaults.groupsPerStep,
  groupSize = grpoDefaults.groupSize,
  maxStaleness = grpoDefaults.maxStaleness,
  offPolicy = {},
  endings = grpoDefaults.endings,
  corrections = grpoDefaults.corrections,
  ...rest
}: GrpoOptions) {
  const advantages: AdvantageMethod =
    typeof given === 'function' ? { per: 'group', estimate: given } : given
  return {
    ...resolvePlaying(rest),
    ...{ advantages, policy: { ...policy, baseline: baselineOf(advantages) } },
    ...{ groupsPerStep, groupSize, maxStaleness, endings, corrections, offPolicy },
  }
}
/** Options of a run, defaults filled in. */
export type GrpoSettings = ReturnType<typeof resolveGrpo>

/** What needs groups of the policy that plays, and why. */
function staleRules({ advantages, endings, corrections, hindsight }: GrpoSettings) {
  return [
    [endings > 0, '`endings`, which are drawn by the policy that played'],
    [corrections > 0, '`corrections`, which are of the policy that played'],
    [hindsight !== undefined, '`hindsight`, whose steps make versions of their own'],
    [advantages.per === 'greedy', "a greedy baseline, which is the step's own policy"],
  ] as const
}

/** @throws RangeError for options that contradict one another */
export function assertGrpo(settings: GrpoSettings): void {
  const { groupSize, policy, maxStaleness, endings, corrections, offPolicy, loss } = settings
  const { hindsight, accuracy, backend } = settings
  if (hindsight) assertHindsight(backend)
  if (offPolicy.scaleWeights && !loss.correction)
    throw new RangeError('Expected `loss.correction`, whose weights are to be scaled, got none')
  if (!Number.isSafeInteger(endings) || endings < 0)
    throw new RangeError(`Expected \`endings\` to be an integer of at least 0, got \`${endings}\``)
  if (!(corrections >= 0 && Number.isFinite(corrections)))
    throw new RangeError(
      `Expected \`corrections\` to be a number of at least 0, got \`${corrections}\``,
    )
  const taught = hindsight ? 'hindsight' : corrections > 0 ? 'corrections' : undefined
  if (taught !== undefined && accuracy === unmeasured)
    throw new RangeError(
      `Expected \`accuracy\` with \`${taught}\`, which learns from who was right`,
    )
  if (groupSize < 2 && policy.baseline === 'siblings')
    throw new RangeError(
      `Expected \`groupSize\` to be at least 2, got \`${groupSize}\`: a group of one has no baseline`,
    )
  const [, fresh] = staleRules(settings).find(([on]) => on) ?? []
  if (maxStaleness > 0 && fresh !== undefined)
    throw new RangeError(`Expected \`maxStaleness\` 0 with ${fresh}, got \`${maxStaleness}\``)
}
