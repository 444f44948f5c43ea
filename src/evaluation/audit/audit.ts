/**
 * The audit: what a reward pays doctors who earn nothing, above the random doctor, on the same cases with the same
 * luck. Episodes do not depend on the reward, so that any number of rewards are audited over one play.
 */

import type { Episode } from '../../episode.js'
import type { Reward, Score } from '../../reward.js'
import type { Estimate } from '../bootstrap.js'
import { estimate, meanOf } from '../bootstrap.js'
import type { Payment } from './attribution.js'
import { paymentsOf } from './attribution.js'
import type { AuditOptions, AuditPolicy, Scored } from './play.js'
import { played } from './play.js'

export type { AuditOptions, AuditPolicy } from './play.js'

/** What a reward pays one policy. */
export interface PolicyAudit {
  readonly name: string
  /** Over the cases with a score; null without one. */
  readonly mean: number | null
  /** Mean difference to the random doctor on the cases where both have a score, in the reward's units. */
  readonly gain: number | null
  /** 95 % bootstrap interval of the gain, cases resampled. */
  readonly ci95: Estimate['ci95']
  /** Whether the gain is above the tolerance. */
  readonly exploit: boolean
  /** Consultations without a score: nothing applied, a part was unavailable, or the world failed. */
  readonly unscored: number
  /** Which part paid the gain, most first. */
  readonly paid: readonly Payment[]
}

/** The consultation that paid most above what the random doctor got for the same patient. */
export interface Exploit {
  readonly policy: string
  readonly episode: Episode
  readonly score: Score
  readonly random: number
  readonly gain: number
}

export interface Audit {
  readonly reward: string
  readonly parity: boolean
  /** What gains are shares of: the reward's bounds, or the scores seen where those are infinite or far too wide. */
  readonly range: { readonly low: number; readonly high: number; readonly of: 'declared' | 'seen' }
  readonly cases: number
  /** The random doctor's mean. */
  readonly random: number | null
  readonly ceiling: { readonly name: string; readonly mean: number | null } | null
  readonly policies: readonly PolicyAudit[]
  /** False where a policy exploits the reward and it is not a parity formula, or where nothing got a score. */
  readonly passed: boolean
  /** Of the policy that gained most, if any gained. */
  readonly best: Exploit | null
  readonly warnings: readonly string[]
}

const totalOf = (one: Scored, reward: Reward): number | null =>
  one?.scores.get(reward)?.total ?? null

const meanTotal = (all: readonly Scored[], reward: Reward): number | null => {
  const totals = all.flatMap((one) => totalOf(one, reward) ?? [])
  return totals.length > 0 ? meanOf(totals) : null
}

/** Where two doctors met the same patient and both got a score. */
function pairsOf(floor: readonly Scored[], own: readonly Scored[], reward: Reward) {
  return own.flatMap((one, i) => {
    const [score, random] = [one?.scores.get(reward), floor[i]?.scores.get(reward)]
    if (!one || typeof score?.total !== 'number' || typeof random?.total !== 'number') return []
    return [{ episode: one.episode, score, random, gain: score.total - random.total }]
  })
}

/** What one policy did under one reward; whether that is an exploit is known when the range is. */
interface AuditFinding extends Omit<PolicyAudit, 'exploit'> {
  readonly tolerance: number
  readonly best: Exploit | undefined
  readonly range: readonly [low: number, high: number]
}

function finding(
  policy: AuditPolicy,
  own: readonly Scored[],
  { floor, reward, options }: { floor: readonly Scored[]; reward: Reward; options: AuditOptions },
): AuditFinding {
  const pairs = pairsOf(floor, own, reward)
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
    ...{ name: policy.name, mean: meanTotal(own, reward), gain: mean, ci95 },
    tolerance: policy.tolerance ?? options.tolerance ?? 0.02,
    unscored: own.length - totals.length,
    paid: paymentsOf(
      pairs.map(({ random, score }) => [random, score]),
      reward.weights,
    ),
    // A pair has totals.
    best: top && { ...top, policy: policy.name, random: top.random.total as number },
    range: [Math.min(...totals), Math.max(...totals)],
  }
}

/** Declared bounds wider than this many times what was seen would hide every exploit. */
const tooWide = 10

/** What shares are of: the declared bounds, or what was seen where there are none, or far too wide ones. */
function rangeOf({ bounds: [low, high] }: Reward, all: readonly AuditFinding[]): Audit['range'] {
  const seen = [
    Math.min(...all.map(({ range }) => range[0])),
    Math.max(...all.map(({ range }) => range[1])),
  ] as const
  const width = seen[1] - seen[0]
  const wide = width > 0 && !(high - low <= tooWide * width)
  return wide ? { low: seen[0], high: seen[1], of: 'seen' } : { low, high, of: 'declared' }
}

function warningsOf(
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

/** Puts together what was found under one reward. */
function auditOf(
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
  const range = rangeOf(reward, [floor, ...(ceiling ? [ceiling] : []), ...policies])
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
    warnings: warningsOf(floor, policies, range),
  }
}

/**
 * Plays the random doctor, the ceiling and every policy once over the same cases and seeds, and says under each
 * reward what each policy gains over the random doctor.
 * @throws Fault `component-failed` where a reward throws, with the case and the policy it was scoring
 */
export async function audit(options: AuditOptions): Promise<readonly Audit[]> {
  const { rewards, ceiling, cases, policies } = options
  const random: AuditPolicy = { name: 'random', agent: options.floor }
  const floor = await played(random, options)
  const found = new Map(rewards.map((reward) => [reward, [] as AuditFinding[]] as const))
  const tops = new Map<Reward, AuditFinding>()
  const top = ceiling && (await played(ceiling, options))
  for (const reward of rewards) {
    const under = { floor, reward, options }
    if (ceiling && top) tops.set(reward, finding(ceiling, top, under))
  }
  for (const policy of policies) {
    const own = await played(policy, options)
    for (const reward of policy.against ? [policy.against] : rewards)
      found.get(reward)?.push(finding(policy, own, { floor, reward, options }))
  }
  return rewards.map((reward) =>
    auditOf(
      reward,
      {
        floor: finding(random, floor, { floor, reward, options }),
        ceiling: tops.get(reward),
        policies: found.get(reward) ?? [],
      },
      cases.length,
    ),
  )
}
