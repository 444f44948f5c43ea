/**
 * Reward audit: how much a reward pays undeserving policies above the random doctor, on the same cases and seeds.
 * Episodes do not depend on the reward, so any number of rewards are audited with one set of rollouts.
 */
import type { Episode } from '../../episode.js'
import type { Reward, Score } from '../../reward.js'
import { average, type Estimate, estimate } from '../bootstrap.js'
import { attributeGain, type Payment } from '../reward-attribution.js'
import type { AuditedEpisode, AuditOptions, AuditPolicy } from './play-policy.js'
import { playPolicy } from './play-policy.js'

export type { AuditOptions, AuditPolicy } from './play-policy.js'

/** Audit of one policy under one reward. */
export interface PolicyAudit {
  readonly name: string
  /** Mean total over the cases with a score; null without one. */
  readonly mean: number | null
  /** Mean difference to the random doctor on the cases where both have a score, in units of the reward. */
  readonly gain: number | null
  /** 95 % bootstrap interval of the gain, cases resampled. */
  readonly ci95: Estimate['ci95']
  /** Whether the gain is above the tolerance. */
  readonly exploit: boolean
  /** Number of consultations without a score: nothing applied, a part was unavailable, or the world failed. */
  readonly unscored: number
  /** Attribution of the gain to reward parts, largest first. */
  readonly paid: readonly Payment[]
}

/** The consultation with the largest gain over the random doctor on the same case. */
export interface Exploit {
  readonly policy: string
  readonly episode: Episode
  readonly score: Score
  /** The random doctor's total on that case. */
  readonly random: number
  readonly gain: number
}

/** Audit of one reward. */
export interface Audit {
  readonly reward: string
  readonly parity: boolean
  /** Range that gains are shares of: the reward's bounds, or the observed scores if those are far too wide. */
  readonly range: { readonly low: number; readonly high: number; readonly of: 'declared' | 'seen' }
  readonly cases: number
  /** The random doctor's mean; null without a score. */
  readonly random: number | null
  readonly ceiling: { readonly name: string; readonly mean: number | null } | null
  readonly policies: readonly PolicyAudit[]
  /** False if a policy exploits a reward that is no parity formula, or if the random doctor got no score. */
  readonly passed: boolean
  /** Best consultation of the policy with the largest gain; null without a gain. */
  readonly best: Exploit | null
  readonly warnings: readonly string[]
}

const totalOf = (one: AuditedEpisode, reward: Reward): number | null =>
  one?.scores.get(reward)?.total ?? null

function scorePairs(
  floor: readonly AuditedEpisode[],
  own: readonly AuditedEpisode[],
  reward: Reward,
) {
  return own.flatMap((one, i) => {
    const [score, random] = [one?.scores.get(reward), floor[i]?.scores.get(reward)]
    if (!one || typeof score?.total !== 'number' || typeof random?.total !== 'number') return []
    return [{ episode: one.episode, score, random, gain: score.total - random.total }]
  })
}

/** Audit of one policy before the range is known, which decides whether its gain is an exploit. */
interface AuditFinding extends Omit<PolicyAudit, 'exploit'> {
  readonly tolerance: number
  readonly best: Exploit | undefined
  readonly range: readonly [low: number, high: number]
}

function auditPolicy(
  policy: AuditPolicy,
  own: readonly AuditedEpisode[],
  {
    floor,
    reward,
    options,
  }: { floor: readonly AuditedEpisode[]; reward: Reward; options: AuditOptions },
): AuditFinding {
  const pairs = scorePairs(floor, own, reward)
  const width = reward.bounds[1] - reward.bounds[0]
  const { mean, ci95 } = estimate(
    pairs.map(({ gain }) => gain),
    options.seed,
    { bounds: [-width, width] },
  )
  const top = pairs.reduce<(typeof pairs)[number] | undefined>(
    (most, one) => (most === undefined || one.gain > most.gain ? one : most),
    undefined,
  )
  const totals = own.flatMap((one) => totalOf(one, reward) ?? [])
  return {
    ...{ name: policy.name, mean: average(totals), gain: mean, ci95 },
    tolerance: policy.tolerance ?? options.tolerance ?? 0.02,
    unscored: own.length - totals.length,
    paid: attributeGain(
      pairs.map(({ random, score }) => [random, score]),
      reward.weights,
    ),
    // Both scores of a pair have totals.
    best: top && { ...top, policy: policy.name, random: top.random.total as number },
    range: [Math.min(...totals), Math.max(...totals)],
  }
}

/** Declared bounds wider than this many times the observed range would hide every exploit. */
const maxRelativeWidth = 10

/** Range that gains are shares of: the declared bounds, or the observed range if those are infinite or far too wide. */
function auditRange({ bounds: [low, high] }: Reward, all: readonly AuditFinding[]): Audit['range'] {
  const seen = [
    Math.min(...all.map(({ range }) => range[0])),
    Math.max(...all.map(({ range }) => range[1])),
  ] as const
  const width = seen[1] - seen[0]
  const wide = width > 0 && !(high - low <= maxRelativeWidth * width)
  return wide ? { low: seen[0], high: seen[1], of: 'seen' } : { low, high, of: 'declared' }
}

function auditWarnings(
  floor: AuditFinding,
  policies: readonly AuditFinding[],
  { low, high, of }: Audit['range'],
) {
  const fewer = policies.filter(({ unscored }) => unscored > floor.unscored)
  return [
    ...(of === 'declared'
      ? []
      : [
          `Its bounds are none, or far wider than its scores: shares are of the ${low.toFixed(3)} to ${high.toFixed(3)} seen.`,
        ]),
    ...(floor.mean === null ? ['The random doctor got no score at all: nothing was audited.'] : []),
    ...fewer.map(
      ({ name, unscored }) =>
        `\`${name}\` left ${unscored} consultations without a score, the random doctor ${floor.unscored}: what a policy can bring about should be a value.`,
    ),
  ]
}

function combineFindings(
  reward: Reward,
  {
    floor,
    ceiling,
    policies,
  }: Readonly<Record<'floor', AuditFinding>> & {
    readonly ceiling: AuditFinding | undefined
    readonly policies: readonly AuditFinding[]
  },
  cases: number,
): Audit {
  const range = auditRange(reward, [floor, ...(ceiling ? [ceiling] : []), ...policies])
  const judged = policies.map(({ tolerance, best: _, range: __, ...found }): PolicyAudit => {
    const exploit = found.gain !== null && found.gain > tolerance * (range.high - range.low)
    return { ...found, exploit }
  })
  const worst = policies.reduce<AuditFinding | undefined>(
    (most, one) => ((one.gain ?? 0) > (most?.gain ?? 0) ? one : most),
    undefined,
  )
  const parity = reward.parity ?? false
  return {
    ...{ reward: reward.rewardName, parity, range, cases, random: floor.mean },
    ceiling: ceiling ? { name: ceiling.name, mean: ceiling.mean } : null,
    policies: judged,
    passed: floor.mean !== null && (parity || !judged.some(({ exploit }) => exploit)),
    best: worst?.best ?? null,
    warnings: auditWarnings(floor, policies, range),
  }
}

/**
 * Audits rewards: plays the random doctor, the ceiling and every policy once on the same cases and seeds, and measures
 * each policy's gain over the random doctor under each reward.
 * @throws Fault `component-failed` if a reward throws, with the case and the policy it was scoring
 */
export async function audit(options: AuditOptions): Promise<readonly Audit[]> {
  const { rewards, ceiling, cases, policies } = options
  const random: AuditPolicy = { name: 'random', agent: options.floor }
  const floor = await playPolicy(random, options)
  const found = new Map(rewards.map((reward) => [reward, [] as AuditFinding[]] as const))
  const top = ceiling && (await playPolicy(ceiling, options))
  for (const policy of policies) {
    const own = await playPolicy(policy, options)
    for (const reward of policy.against ? [policy.against] : rewards)
      found.get(reward)?.push(auditPolicy(policy, own, { floor, reward, options }))
  }
  return rewards.map((reward) => {
    const under = { floor, reward, options }
    const findings = {
      floor: auditPolicy(random, floor, under),
      ceiling: ceiling && top && auditPolicy(ceiling, top, under),
      policies: found.get(reward) ?? [],
    }
    return combineFindings(reward, findings, cases.length)
  })
}
