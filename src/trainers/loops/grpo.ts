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
import type { Group } from '../../group.js'
import { withoutUndefined } from '../../platform/without-undefined.js'
import { estimateBatch, groupEstimator } from '../advantages/method.js'
import { remaxAdvantages } from '../advantages/per-group.js'
import { type Corrections, correctSiblings } from '../batches/corrections.js'
import {
  addCredits,
  attachLogprobs,
  correctOffPolicy,
  toTrainBatch,
} from '../batches/group-batch.js'
import { learnInHindsight, lookBack, understoodGroups } from '../batches/hindsight.js'
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
import {
  assertGrpo,
  type GrpoOptions,
  type GrpoSettings,
  type GrpoStep,
  resolveGrpo,
} from './grpo-options.js'
import type { LoopSummary, PlayedStep } from './loop.js'
import {
  maxEpisodeTokens,
  playBranchedJobs,
  playJobs,
  rolloutMetrics,
  runSteps,
  stepMetrics,
} from './loop.js'

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

/**
 * Trains with GRPO. Only the backend, the cases, the env, the reward and `steps` are required; defaults are those of a
 * recipe (`defaults.ts`).
 * @throws RangeError for options that contradict one another, before any episode
 */
export async function trainGrpo(options: GrpoOptions): Promise<LoopSummary> {
  const settings = resolveGrpo(options)
  assertGrpo(settings)
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
