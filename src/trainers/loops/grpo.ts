/**
 * Group-relative policy optimisation: groups of consultations in, gradient steps out. The loop, on one screen.
 *
 * What is drawn at a step depends on the run's seed and the step's number alone, so a run that was
 * interrupted and resumed makes the same weights as one that was not; with `maxStaleness` above 0 consultations are
 * played ahead of the steps, and that no longer holds.
 */
import type { Backend, StepReport } from '../../backend.js'
import { Fault } from '../../error.js'
import type { AdvantageEstimator, BatchEstimator, Group, GroupPolicy } from '../../group.js'
import { estimateTogether } from '../../group.js'
import { mapPool } from '../../platform/concurrency.js'
import { remaxAdvantages } from '../advantages/per-group.js'
import type { BatchOptions } from '../batches/group-batch.js'
import { completed, toTrainBatch } from '../batches/group-batch.js'
import type { StepMetrics } from '../events.js'
import type { RolloutQueue } from '../rollouts/async-rollouts.js'
import { openRolloutQueue } from '../rollouts/async-rollouts.js'
import { shouldResample } from '../rollouts/dynamic-sampling.js'
import type { Job, Member, PlayOptions } from '../rollouts/group-rollouts.js'
import { groupAt, jobsOf, playMember } from '../rollouts/group-rollouts.js'
import type { Played } from './metrics.js'
import { metricsOf } from './metrics.js'

export interface GrpoOptions extends PlayOptions, BatchOptions {
  readonly backend: Backend
  readonly estimator: AdvantageEstimator
  /** Estimates over all groups of a step together, in place of `estimator`. */
  readonly together?: BatchEstimator
  /** Measures each member from a greedy rollout of its case, in place of `estimator` (ReMax). @default false */
  readonly greedy?: boolean
  /** Who counts in a group, and what a group must be to teach. */
  readonly policy?: GroupPolicy
  readonly steps: number
  /** The first step to run; steps before it are in the loaded checkpoint. @default 1 */
  readonly firstStep?: number
  /** @default 32 */
  readonly groupsPerStep?: number
  /** @default 8 */
  readonly groupSize?: number
  /** Draws groups on until `groupsPerStep` of them teach, at most so many in all (DAPO). @default no more */
  readonly resample?: { readonly most: number }
  /**
   * Plays ahead, by policies at most so many versions old; 0 plays each step's groups with its own policy.
   * @default 0
   */
  readonly maxStaleness?: number
  /** Passes over the same rollouts; from the second on the clipped ratio is at work. @default 1 */
  readonly epochs?: number
  /** @default 1 */
  readonly temperature?: number
  /** Episodes under way at once. @default 16 */
  readonly concurrency?: number
  /** Runs after every step, before the next begins: evaluation, checkpoints. `stop` ends the run there. */
  readonly afterStep?: (step: number) => Promise<'stop' | undefined>
}

/** Plays jobs at a temperature by the policy of this moment. */
function playJobs(options: GrpoOptions, jobs: readonly Job[], temperature: number) {
  const { backend, concurrency = 16 } = options
  const by = { agent: backend.sampler({ temperature }), name: backend.name }
  return mapPool(jobs, concurrency, (job) => playMember(options, by, job))
}

/** The total of a greedy rollout at each place, where it has one. */
async function greedyTotals(options: GrpoOptions, jobs: readonly Job[]) {
  const first = jobs.filter(({ member }) => member === 0)
  // A member of its own, after the last: what it draws is nobody else's.
  const { groupSize = 8 } = options
  const played = await playJobs(
    options,
    first.map((job) => ({ ...job, member: groupSize })),
    0,
  )
  return new Map(
    played.flatMap((one) =>
      Fault.is(one) || one.score.total === null ? [] : [[one.place, one.score.total] as const],
    ),
  )
}

/** Plays the groups at some places of a step. */
async function playPlaces(options: GrpoOptions, step: number, places: readonly number[]) {
  const { groupsPerStep = 32, groupSize = 8, estimator, policy, greedy, temperature = 1 } = options
  const jobs = jobsOf(options, { step, places, groupsPerStep, groupSize })
  const played = await playJobs(options, jobs, temperature)
  const baselines = greedy ? await greedyTotals(options, jobs) : undefined
  const members = played.flatMap((one) => (Fault.is(one) ? [] : [one]))
  const groups = places.flatMap((place) => {
    const own = members.filter((member) => member.place === place)
    const id = `${step}/${place}`
    if (!baselines) return groupAt(id, own, estimator, policy) ?? []
    const total = baselines.get(place)
    if (total === undefined) return []
    return groupAt(id, own, remaxAdvantages(total), { ...policy, baseline: 'elsewhere' }) ?? []
  })
  return { members, groups, faults: played.filter((one) => Fault.is(one)) }
}

/**
 * Plays a step's groups; groups come back in the order of their places.
 * @throws Fault when every member of the first ones failed: going on would make a run of nothing
 */
async function playStep(options: GrpoOptions, step: number): Promise<Played> {
  const { groupsPerStep = 32, resample } = options
  const members: Member[] = []
  const groups: Group[] = []
  let [drawn, faults, wanted] = [0, 0, groupsPerStep]
  while (wanted > 0) {
    const places = Array.from({ length: wanted }, (_, i) => drawn + i)
    const played = await playPlaces(options, step, places)
    const [fault] = played.faults
    if (fault && members.length + played.members.length === 0)
      throw new Fault(
        fault.code,
        `step ${step}: none of its ${played.faults.length} consultations could be played: ${fault.message}`,
        { cause: fault },
      )
    members.push(...played.members)
    groups.push(...played.groups)
    faults += played.faults.length
    drawn += wanted
    wanted = resample
      ? shouldResample(groups, { wanted: groupsPerStep, most: resample.most, drawn }).draw
      : 0
  }
  return { members, groups, drawn, lost: drawn - groups.length, faults, stale: 0, staleGroups: 0 }
}

/** Takes a step's groups from those that are played ahead. */
async function takeStep(options: GrpoOptions, flow: RolloutQueue): Promise<Played> {
  const { groupsPerStep = 32, estimator, policy } = options
  const { groups: taken, lost, stale, staleGroups } = await flow.take(groupsPerStep)
  const groups = taken.flatMap(
    ({ step, place, members }) => groupAt(`${step}/${place}`, members, estimator, policy) ?? [],
  )
  return {
    members: taken.flatMap(({ members }) => members),
    groups,
    drawn: groups.length + lost.length + staleGroups,
    lost: lost.length,
    faults: [...taken, ...lost].reduce((sum, { faults }) => sum + faults.length, 0),
    stale,
    staleGroups,
  }
}

async function oneStep(
  options: GrpoOptions,
  step: number,
  flow: RolloutQueue | undefined,
): Promise<StepMetrics> {
  const started = performance.now()
  const { backend, epochs = 1, together, events, maxStaleness = 0 } = options
  const played = flow ? await takeStep(options, flow) : await playStep(options, step)
  const groups = together ? estimateTogether(played.groups, together) : played.groups
  for (const group of groups) events.emit('group-formed', group)
  const made = toTrainBatch(groups, step, backend.policyVersion, options)
  let update: StepReport | undefined
  if (made) {
    const segments = await completed(backend, options.loss, made.batch.segments)
    for (let epoch = 0; epoch < epochs; epoch++)
      update = await backend.step({
        ...made.batch,
        segments,
        policyVersion: backend.policyVersion,
        maxStaleness: maxStaleness + epoch,
      })
  }
  return {
    step,
    steps: options.steps,
    policyVersion: backend.policyVersion,
    ...metricsOf({ ...played, groups }, made?.forks ?? 0),
    ...(update ? { update } : {}),
    seconds: (performance.now() - started) / 1000,
  }
}

/** Runs the steps in order and tells each one's metrics as `step-end`. */
export async function trainGrpo(options: GrpoOptions): Promise<void> {
  const { backend, steps, firstStep = 1, groupsPerStep = 32, groupSize = 8 } = options
  const { maxStaleness = 0, temperature = 1, concurrency = 16 } = options
  if (groupSize < 2 && options.policy?.baseline !== 'elsewhere')
    throw new RangeError(
      `Expected \`groupSize\` to be at least 2, got \`${groupSize}\`: a group of one has no baseline`,
    )
  if (options.greedy && maxStaleness > 0)
    throw new RangeError(
      `Expected \`maxStaleness\` 0 with a greedy baseline, which is the step's own policy, got \`${maxStaleness}\``,
    )
  const flow =
    maxStaleness > 0
      ? openRolloutQueue({
          play: options,
          sampler: () => backend.sampler({ temperature }),
          name: backend.name,
          version: () => backend.policyVersion,
          ...{ firstStep, groupsPerStep, groupSize, concurrency, maxStaleness },
          versionsPerStep: options.epochs ?? 1,
        })
      : undefined
  try {
    for (let step = firstStep; step <= steps; step++) {
      options.signal?.throwIfAborted()
      options.events.emit('step-end', await oneStep(options, step, flow))
      if ((await options.afterStep?.(step)) === 'stop') break
    }
  } finally {
    await flow?.close()
  }
}
