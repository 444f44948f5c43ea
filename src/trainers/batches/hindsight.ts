/**
 * Hindsight: once a consultation has shown what its patient has, every turn of it and of its siblings learns to name that
 * diagnosis. A reward tells a group of the same patient the truth as soon as one member is right; relabelled with it, the
 * members that were wrong teach as much (hindsight relabelling: Andrychowicz et al. 2017, here of the diagnosis alone).
 * Nothing is read but the members' own diagnoses and whether they were right.
 */
import type { Learner } from '../../backend.js'
import { makeNormaliser, type TokenSegment } from '../../batch.js'
import { Fault } from '../../error.js'
import type { Group } from '../../group.js'
import type { Action } from '../../turn.js'
import { isEnding } from '../rollouts/endings.js'
import type { GroupMember } from '../rollouts/group-rollouts.js'
import { type AdamSchedule, adamSettingsAt } from './adam-schedule.js'
import { episodeSegments } from './segments.js'

/** Settings of a hindsight step. */
export interface HindsightOptions {
  readonly adam: AdamSchedule
  /**
   * Most that a group's labels weigh. A group weighs one over the probability that its policy's diagnoses would have
   * shown the truth, so that patients who are seldom understood count as often as they come; at 1 all weigh the same.
   * @default 1
   */
  readonly maxWeight?: number
  /**
   * Weight of per-turn credit: this times {@link turnGains} is added to the advantages of the moves before the last. The
   * gains of a consultation add up to what it told the policy, so questions are paid for when they are asked and not
   * with the diagnosis alone. It changes the objective: a policy is paid for a belief it could have had sooner. @default 0
   */
  readonly gain?: number
}

/** Consultations with one patient, and the diagnosis that was right. */
export interface Understood {
  readonly segments: readonly TokenSegment[]
  readonly diagnosis: Action
}

/** What the backend makes of understood consultations, before it learns from them. */
export interface Hindsight {
  /** Every turn with the right diagnosis drawn at it. */
  readonly labelled: readonly TokenSegment[]
  /** By rollout and segment: what each drawn token gained, along the mask. Empty at gain 0. */
  readonly credits: ReadonlyMap<string, readonly Float32Array[]>
}

/** Log-probs of the drawn tokens of each segment, in order. */
async function drawnLogprobs(
  backend: Learner,
  segments: readonly TokenSegment[],
): Promise<number[][]> {
  // `conclude` and `logprobs` are both of backends that hold their own weights.
  const logprobs = (await backend.logprobs?.(segments)) ?? []
  return segments.map(({ mask }, s) => [...(logprobs[s] ?? [])].filter((_, t) => mask[t] === 1))
}

/** One over the probability that one of the consultations ends with the diagnosis, at most `maxWeight`. */
function weightOf(beliefs: readonly (readonly number[])[], maxWeight: number): number {
  const missed = beliefs.reduce(
    (product, own) => product * (1 - Math.exp(own.at(-1) ?? Number.NEGATIVE_INFINITY)),
    1,
  )
  return Math.min(maxWeight, 1 / (1 - missed))
}

/** Floor of a log-belief, so that one surprise does not outweigh all else: a belief of about .001. */
const leastBelief = -7

/**
 * How much each move but the last raised the log of the belief in the truth, less the mean of the siblings at the same
 * turn. Both lists are by consultation and move.
 */
export function turnGains(beliefs: readonly (readonly number[])[]): number[][] {
  const gains = beliefs.map((own) => {
    const bounded = own.map((one) => Math.max(leastBelief, one))
    return bounded.slice(1).map((after, turn) => after - bounded[turn]!)
  })
  const longest = Math.max(0, ...gains.map((own) => own.length))
  const means = Array.from({ length: longest }, (_, turn) => {
    const there = gains.flatMap((own) => own[turn] ?? [])
    return there.reduce((sum, one) => sum + one, 0) / there.length
  })
  return gains.map((own) => own.map((one, turn) => one - means[turn]!))
}

/** Values of drawn tokens, in order, along a mask; tokens beyond the last value have 0. */
function alongMask(mask: Uint8Array, values: readonly number[]): Float32Array {
  let n = 0
  return Float32Array.from(mask, (one) => (one === 1 ? (values[n++] ?? 0) : 0))
}

const weighed = (segment: TokenSegment, weight: number): TokenSegment =>
  weight === 1
    ? segment
    : { ...segment, advantages: Float32Array.from(segment.mask, (one) => one * weight) }

/** Checks that a backend can learn in hindsight. @throws Fault `bad-input` for one without `conclude` */
export function assertHindsight(backend: Learner): void {
  if (!backend.conclude)
    throw new Fault(
      'bad-input',
      `Expected a backend with \`conclude\`, by which \`hindsight\` teaches, got \`${backend.name}\`; the embedded backend has it`,
    )
}

/** The consultations of each group in which a diagnosis was right, with that diagnosis. */
export function understoodGroups({
  members,
  groups,
}: {
  readonly members: readonly GroupMember[]
  readonly groups: readonly Group[]
}): Understood[] {
  const rightById = new Map(members.map(({ episode, right }) => [episode.id, right]))
  return groups.flatMap(({ id, episodes, role }) => {
    const diagnosis = episodes.find((one) => rightById.get(one.id) === 1)?.turns.at(-1)?.action
    if (diagnosis?.kind !== 'diagnose') return []
    const whole = episodes.filter((one) => !isEnding(one))
    const segments = whole.flatMap((one) => episodeSegments(one, 0, id, { role }).segments)
    return [{ segments, diagnosis }]
  })
}

/**
 * Labels every turn of the understood consultations with the diagnosis that was right, and credits each move with what it
 * told. Weights and gains are by the backend's current policy: call it before that policy learns from the same
 * consultations.
 */
export async function lookBack(
  backend: Learner,
  understood: readonly Understood[],
  { maxWeight = 1, gain = 0 }: HindsightOptions,
): Promise<Hindsight> {
  const labelled: TokenSegment[] = []
  const credits = new Map<string, Float32Array[]>()
  for (const { segments, diagnosis } of understood) {
    const own = backend.conclude?.(segments, diagnosis) ?? []
    if (own.length === 0) continue
    const beliefs = maxWeight > 1 || gain > 0 ? await drawnLogprobs(backend, own) : []
    const weight = maxWeight > 1 ? weightOf(beliefs, maxWeight) : 1
    labelled.push(...own.map((segment) => weighed(segment, weight)))
    if (gain === 0) continue
    const gains = turnGains(beliefs)
    segments.forEach(({ rolloutId, mask }, s) => {
      const credit = alongMask(
        mask,
        gains[s]!.map((one) => gain * one),
      )
      credits.set(rolloutId, [...(credits.get(rolloutId) ?? []), credit])
    })
  }
  return { labelled, credits }
}

/** Takes one cross-entropy step on labelled segments; none without any. */
export async function learnInHindsight(
  backend: Learner,
  segments: readonly TokenSegment[],
  step: number,
  { adam }: HindsightOptions,
): Promise<void> {
  if (segments.length === 0) return
  await backend.step({
    ...{ step, policyVersion: backend.policyVersion, segments },
    normaliser: makeNormaliser('token-mean', segments),
    loss: { kind: 'cross-entropy', entropy: 0 },
    adam: adamSettingsAt(adam, step),
  })
}
