/**
 * GRPO training loop: group-relative policy optimisation on groups of consultations.
 *
 * All draws of a step depend on the run's seed and the step number alone, so a run that was interrupted and resumed has
 * the same weights as one that was not. This does not hold for `maxStaleness` above 0: consultations are then played
 * ahead of the steps.
 */
import type { StepReport } from '../../backend.js'
import type { Case } from '../../case.js'
import { Fault } from '../../error.js'
import type { AdvantageEstimator, Group, GroupPolicy } from '../../group.js'
import { withoutUndefined } from '../../platform/without-undefined.js'
import type { AdvantageMethod } from '../advantages/method.js'
import { baselineOf, estimateBatch, groupEstimator, namedAdvantages } from '../advantages/method.js'
import { remaxAdvantages } from '../advantages/per-group.js'
import { type Corrections, correctSiblings } from '../batches/corrections.js'
import type { OffPolicyOptions } from '../batches/group-batch.js'
import {
  addCredits,
  attachLogprobs,
  correctOffPolicy,
  toTrainBatch,
} from '../batches/group-batch.js'
import {
  assertHindsight,
  type HindsightOptions,
  learnInHindsight,
  lookBack,
  understoodGroups,
} from '../batches/hindsight.js'
import { grpoDefaults } from '../defaults.js'
import { openGroupSource, type PlayedGroup } from '../rollouts/async-rollouts.js'
import { planResampling } from '../rollouts/dynamic-sampling.js'
import type { GroupMember, RolloutJob } from '../rollouts/group-rollouts.js'
import {
  formMemberGroup,
  groupIdAt,
  noRolloutFault,
  rolloutJobs,
} from '../rollouts/group-rollouts.js'
import type { Lease, RolloutSource } from '../rollouts/rollout-source.js'
import type { LoopSummary, PlayedStep, PlayingOptions, StepResult } from './loop.js'
import {
  maxEpisodeTokens,
  playBranchedJobs,
  playJobs,
  resolvePlaying,
  rolloutMetrics,
  runSteps,
  stepMetrics,
  unmeasured,
} from './loop.js'

/** Result of one GRPO step. */
export interface GrpoStep extends StepResult {
  /** All groups in the order of their places, those without a learning signal included. */
  readonly groups: readonly Group[]
  /** The case of each group. */
  readonly cases: readonly Case[]
}

/** Options of {@link trainGrpo}. */
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
function resolveOptions({
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
type GrpoSettings = ReturnType<typeof resolveOptions>

/** Plays one greedy rollout per place; returns totals by place, where they have one. */
async function playGreedy(options: GrpoSettings, jobs: readonly RolloutJob[]) {
  // A member index after the last: its draws are its own.
  const first = jobs.flatMap((job) =>
    job.member === 0 ? [{ ...job, member: options.groupSize }] : [],
  )
  const played = await playJobs(options, first, 0)
  return new Map(
    played.flatMap((one) =>
      Fault.is(one) || one.score.total === null ? [] : [[one.place, one.score.total] as const],
    ),
  )
}

/** Plays and forms the groups at some places of a step. */
async function playPlaces(options: GrpoSettings, step: number, places: readonly number[]) {
  const { advantages, policy, runId } = options
  const jobs = rolloutJobs(options, { step, places }, options)
  const played = await playBranchedJobs(options, jobs)
  const baselines = advantages.per === 'greedy' ? await playGreedy(options, jobs) : undefined
  const members = played.flatMap((one) => (Fault.is(one) ? [] : [one]))
  const groups = places.flatMap((place) => {
    const own = members.filter((member) => member.place === place)
    const greedy = baselines?.get(place)
    if (baselines && greedy === undefined) return []
    const estimator = greedy === undefined ? groupEstimator(advantages) : remaxAdvantages(greedy)
    return formMemberGroup(groupIdAt(runId, step, place), own, estimator, policy) ?? []
  })
  return { members, groups, faults: played.filter((one) => Fault.is(one)) }
}

/**
 * Plays a step's groups; returns them in the order of their places.
 * @throws Fault if every member of the first groups failed: the run could learn nothing
 */
async function playStep(options: GrpoSettings, step: number): Promise<PlayedStep> {
  const { groupsPerStep, resample } = options
  const members: GroupMember[] = []
  const groups: Group[] = []
  let [drawn, faults, wanted] = [0, 0, groupsPerStep]
  while (wanted > 0) {
    const places = Array.from({ length: wanted }, (_, i) => drawn + i)
    const played = await playPlaces(options, step, places)
    const [fault] = played.faults
    if (fault && members.length + played.members.length === 0)
      throw noRolloutFault(`step ${step}: none of its ${played.faults.length}`, fault)
    members.push(...played.members)
    groups.push(...played.groups)
    faults += played.faults.length
    drawn += wanted
    wanted = resample
      ? planResampling(groups, { wanted: groupsPerStep, most: resample.most, drawn }).draw
      : 0
  }
  const lost = drawn - groups.length
  return { members, groups, drawn, lost, faults, stale: 0, staleGroups: 0 }
}

/** Forms the groups of a lease. */
function formLeased(
  { advantages, policy, runId }: GrpoSettings,
  { rollouts: taken, empty, stale, begun }: Lease<PlayedGroup>,
): PlayedStep {
  const groups = taken.flatMap(
    ({ step, place, members }) =>
      formMemberGroup(groupIdAt(runId, step, place), members, groupEstimator(advantages), policy) ??
      [],
  )
  return {
    members: taken.flatMap(({ members }) => members),
    groups,
    drawn: groups.length + empty.length + stale.length,
    lost: empty.length,
    faults: [...taken, ...empty].reduce((sum, { faults }) => sum + faults.length, 0),
    stale: stale.reduce((sum, { members }) => sum + members.length, 0),
    ...{ staleGroups: stale.length, begun },
  }
}

/** Makes a step's gradient steps on its groups; none if no group learns. */
async function learn(
  options: GrpoSettings,
  step: number,
  groups: readonly Group[],
  { credits, rows = [] }: Partial<Corrections>,
) {
  const { backend, epochs, maxStaleness, loss, offPolicy } = options
  const episodes = groups.flatMap((group) => group.episodes)
  const maxTokens = maxEpisodeTokens(options, episodes)
  const made = toTrainBatch(groups, step, backend.policyVersion, {
    ...{ ...options, maxTokens, rows },
    ...withoutUndefined({ credits }),
  })
  let update: StepReport | undefined
  if (!made) return { update, forks: 0 }
  const rejects = (offPolicy.reject ?? []).length > 0
  const segments = await attachLogprobs(backend, loss, made.batch.segments, { old: rejects })
  const { batch, rejected } = correctOffPolicy({ ...made.batch, segments }, offPolicy, maxTokens)
  for (let epoch = 0; batch && epoch < epochs; epoch++)
    update = await backend.step({
      ...batch,
      policyVersion: backend.policyVersion,
      maxStaleness: maxStaleness + epoch,
    })
  return { update, forks: made.forks, ...(rejects ? { rejected } : {}) }
}

async function trainStep(
  options: GrpoSettings,
  step: number,
  source: RolloutSource<PlayedGroup> | undefined,
): Promise<GrpoStep> {
  const started = performance.now()
  const { backend } = options
  const { policyVersion } = backend
  const lease = await source?.lease(options.groupsPerStep, { policyVersion })
  const played = lease ? formLeased(options, lease) : await playStep(options, step)
  options.assertScored(step, played.members)
  const groups = estimateBatch(played.groups, options.advantages)
  for (const group of groups) options.events.emit('group-formed', group)
  const { hindsight, corrections } = options
  const seen = hindsight && (await lookBack(backend, understoodGroups(played), hindsight))
  const corrected =
    corrections > 0
      ? await correctSiblings(backend, { members: played.members, groups }, corrections)
      : undefined
  const { update, forks, rejected } = await learn(options, step, groups, {
    credits: addCredits(seen?.credits, corrected?.credits),
    rows: corrected?.rows ?? [],
  })
  if (hindsight && seen) await learnInHindsight(backend, seen.labelled, step, hindsight)
  if (lease) source?.ack(lease)
  const measured = {
    ...rolloutMetrics({ ...played, groups }, forks),
    ...(rejected === undefined ? {} : { rejected }),
  }
  const truths = new Map(played.members.map(({ truth }) => [truth.id, truth]))
  // Every group was formed of members.
  const cases = groups.map(({ caseId }) => truths.get(caseId) as Case)
  return { step, metrics: stepMetrics(options, { step, started }, measured, update), groups, cases }
}

/** @throws RangeError for options that contradict one another */
function assertOptions(settings: GrpoSettings): void {
  const { groupSize, policy, advantages, maxStaleness, endings, offPolicy, loss } = settings
  const { hindsight, corrections, accuracy, backend } = settings
  if (hindsight) assertHindsight(backend)
  if (offPolicy.scaleWeights && !loss.correction)
    throw new RangeError('Expected `loss.correction`, whose weights are to be scaled, got none')
  if (!Number.isSafeInteger(endings) || endings < 0)
    throw new RangeError(`Expected \`endings\` to be an integer of at least 0, got \`${endings}\``)
  if (endings > 0 && maxStaleness > 0)
    throw new RangeError(
      `Expected \`maxStaleness\` 0 with \`endings\`, which are drawn by the policy that played, got \`${maxStaleness}\``,
    )
  if (!(corrections >= 0 && Number.isFinite(corrections)))
    throw new RangeError(
      `Expected \`corrections\` to be a number of at least 0, got \`${corrections}\``,
    )
  for (const [on, name] of [
    [hindsight !== undefined, 'hindsight'],
    [corrections > 0, 'corrections'],
  ] as const)
    if (on && accuracy === unmeasured)
      throw new RangeError(
        `Expected \`accuracy\` with \`${name}\`, which learns from who was right`,
      )
  if (corrections > 0 && maxStaleness > 0)
    throw new RangeError(
      `Expected \`maxStaleness\` 0 with \`corrections\`, which are of the policy that played, got \`${maxStaleness}\``,
    )
  if (hindsight && maxStaleness > 0)
    throw new RangeError(
      `Expected \`maxStaleness\` 0 with \`hindsight\`, whose steps make versions of their own, got \`${maxStaleness}\``,
    )
  if (groupSize < 2 && policy.baseline === 'siblings')
    throw new RangeError(
      `Expected \`groupSize\` to be at least 2, got \`${groupSize}\`: a group of one has no baseline`,
    )
  if (advantages.per === 'greedy' && maxStaleness > 0)
    throw new RangeError(
      `Expected \`maxStaleness\` 0 with a greedy baseline, which is the step's own policy, got \`${maxStaleness}\``,
    )
}

/**
 * Trains with GRPO. Only the backend, the cases, the env, the reward and `steps` are required; defaults are those of a
 * recipe (`defaults.ts`).
 * @throws RangeError for options that contradict one another, before any episode
 */
export async function trainGrpo(options: GrpoOptions): Promise<LoopSummary> {
  const settings = resolveOptions(options)
  assertOptions(settings)
  const { backend, firstStep = 1, maxStaleness, temperature } = settings
  await using source =
    maxStaleness > 0
      ? openGroupSource({
          ...settings,
          play: settings,
          sampler: () => backend.sampler({ temperature }),
          name: backend.name,
          ...{ firstStep, begun: settings.begun },
          versionsPerStep: settings.epochs,
        })
      : undefined
  return await runSteps(settings, (step) => trainStep(settings, step, source))
}
