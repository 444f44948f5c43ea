/**
 * Group-relative policy optimisation: groups of consultations in, gradient steps out. The loop, on one screen.
 *
 * What is drawn at a step depends on the run's seed and the step's number alone, so a run that was
 * interrupted and resumed makes the same weights as one that was not; with `maxStaleness` above 0 consultations are
 * played ahead of the steps, and that no longer holds.
 */
import type { Backend, StepReport } from '../../backend.js'
import { Fault } from '../../error.js'
import type { AdvantageEstimator, Group, GroupPolicy } from '../../group.js'
import { mapPool } from '../../platform/concurrency.js'
import type { AdvantageMethod } from '../advantages/method.js'
import { baselineOf, estimateBatch, groupEstimator, namedAdvantages } from '../advantages/method.js'
import { remaxAdvantages } from '../advantages/per-group.js'
import type { BatchOptions } from '../batches/group-batch.js'
import { attachLogprobs, toTrainBatch } from '../batches/group-batch.js'
import { adamDefaults, defaultLoss, grpoDefaults, loopDefaults } from '../defaults.js'
import { trainingEmitter } from '../events.js'
import type { RolloutQueue } from '../rollouts/async-rollouts.js'
import { openRolloutQueue } from '../rollouts/async-rollouts.js'
import { shouldResample } from '../rollouts/dynamic-sampling.js'
import type { GroupMember, RolloutJob } from '../rollouts/group-rollouts.js'
import { groupAt, jobsOf, playMember } from '../rollouts/group-rollouts.js'
import type { LoopOptions, LoopSummary, StepResult, WorldOptions } from './loop.js'
import { mostTokens, runSteps, unmeasured } from './loop.js'
import type { Played } from './metrics.js'
import { metricsOf } from './metrics.js'

/** What a step of GRPO made. */
export interface GrpoStep extends StepResult {
  /** In the order of their places; those that teach nothing too. */
  readonly groups: readonly Group[]
}

export interface GrpoOptions extends WorldOptions, LoopOptions<GrpoStep>, Partial<BatchOptions> {
  readonly backend: Backend
  /** How advantages are estimated; a function is an estimator of each group by itself. @default Dr. GRPO */
  readonly advantages?: AdvantageMethod | AdvantageEstimator
  /** Who counts in a group, and what a group must be to teach. */
  readonly policy?: Omit<GroupPolicy, 'baseline'>
  readonly steps: number
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
}

/** The options with their defaults. */
function resolved({
  advantages: given = namedAdvantages(grpoDefaults.advantages),
  policy = {},
  groupsPerStep = grpoDefaults.groupsPerStep,
  groupSize = grpoDefaults.groupSize,
  maxStaleness = grpoDefaults.maxStaleness,
  epochs = loopDefaults.epochs,
  temperature = loopDefaults.temperature,
  concurrency = loopDefaults.concurrency,
  loss = defaultLoss,
  normaliser = loopDefaults.normaliser,
  adam = adamDefaults,
  accuracy = unmeasured,
  events = trainingEmitter(),
  ...rest
}: GrpoOptions) {
  const advantages: AdvantageMethod =
    typeof given === 'function' ? { per: 'group', estimate: given } : given
  return {
    ...rest,
    ...{ advantages, policy: { ...policy, baseline: baselineOf(advantages) } },
    ...{ groupsPerStep, groupSize, maxStaleness, epochs, temperature, concurrency },
    ...{ loss, normaliser, adam, accuracy, events },
  }
}
type GrpoSettings = ReturnType<typeof resolved>

/** Plays jobs at a temperature by the policy of this moment. */
function playJobs(options: GrpoSettings, jobs: readonly RolloutJob[], temperature: number) {
  const { backend, concurrency } = options
  const by = { agent: backend.sampler({ temperature }), name: backend.name }
  return mapPool(jobs, concurrency, (job) => playMember(options, by, job))
}

/** The total of a greedy rollout at each place, where it has one. */
async function greedyTotals(options: GrpoSettings, jobs: readonly RolloutJob[]) {
  const first = jobs.filter(({ member }) => member === 0)
  // A member of its own, after the last: what it draws is nobody else's.
  const { groupSize } = options
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
async function playPlaces(options: GrpoSettings, step: number, places: readonly number[]) {
  const { advantages, policy, temperature } = options
  const jobs = jobsOf(options, { ...options, step, places })
  const played = await playJobs(options, jobs, temperature)
  const baselines = advantages.per === 'greedy' ? await greedyTotals(options, jobs) : undefined
  const members = played.flatMap((one) => (Fault.is(one) ? [] : [one]))
  const groups = places.flatMap((place) => {
    const own = members.filter((member) => member.place === place)
    const id = `${step}/${place}`
    if (!baselines) return groupAt(id, own, groupEstimator(advantages), policy) ?? []
    const total = baselines.get(place)
    return total === undefined ? [] : (groupAt(id, own, remaxAdvantages(total), policy) ?? [])
  })
  return { members, groups, faults: played.filter((one) => Fault.is(one)) }
}

/**
 * Plays a step's groups; groups come back in the order of their places.
 * @throws Fault when every member of the first ones failed: going on would make a run of nothing
 */
async function playStep(options: GrpoSettings, step: number): Promise<Played> {
  const { groupsPerStep, resample } = options
  const members: GroupMember[] = []
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
async function takeStep(options: GrpoSettings, flow: RolloutQueue): Promise<Played> {
  const { groupsPerStep, advantages, policy } = options
  const { groups: taken, lost, stale, staleGroups } = await flow.take(groupsPerStep)
  const groups = taken.flatMap(
    ({ step, place, members }) =>
      groupAt(`${step}/${place}`, members, groupEstimator(advantages), policy) ?? [],
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

/** Gradient steps on the groups of a step; none where they teach nothing. */
async function learn(options: GrpoSettings, step: number, groups: readonly Group[]) {
  const { backend, epochs, maxStaleness, loss } = options
  const episodes = groups.flatMap((group) => group.episodes)
  const made = toTrainBatch(groups, step, backend.policyVersion, {
    ...options,
    maxTokens: mostTokens(options, episodes),
  })
  let update: StepReport | undefined
  if (!made) return { update, forks: 0 }
  const segments = await attachLogprobs(backend, loss, made.batch.segments)
  for (let epoch = 0; epoch < epochs; epoch++)
    update = await backend.step({
      ...made.batch,
      segments,
      policyVersion: backend.policyVersion,
      maxStaleness: maxStaleness + epoch,
    })
  return { update, forks: made.forks }
}

async function oneStep(
  options: GrpoSettings,
  step: number,
  queue: RolloutQueue | undefined,
): Promise<GrpoStep> {
  const started = performance.now()
  const { backend, advantages, events, steps } = options
  const played = queue ? await takeStep(options, queue) : await playStep(options, step)
  const groups = estimateBatch(played.groups, advantages)
  for (const group of groups) events.emit('group-formed', group)
  const { update, forks } = await learn(options, step, groups)
  const metrics = {
    ...{ step, steps, policyVersion: backend.policyVersion },
    ...metricsOf({ ...played, groups }, forks),
    ...(update ? { update } : {}),
    seconds: (performance.now() - started) / 1000,
  }
  return { step, metrics, groups }
}

/** @throws RangeError for options that contradict one another */
function assertOptions({ groupSize, policy, advantages, maxStaleness }: GrpoSettings): void {
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
 * Runs the steps in order. Only the backend, the cases, the env, the reward and `steps` must be given; defaults are
 * those of a recipe (`defaults.ts`).
 * @throws RangeError for options that contradict one another, before any episode
 */
export async function trainGrpo(options: GrpoOptions): Promise<LoopSummary> {
  const settings = resolved(options)
  assertOptions(settings)
  const { backend, firstStep = 1, maxStaleness, temperature } = settings
  const queue =
    maxStaleness > 0
      ? openRolloutQueue({
          ...settings,
          play: settings,
          sampler: () => backend.sampler({ temperature }),
          name: backend.name,
          version: () => backend.policyVersion,
          firstStep,
          versionsPerStep: settings.epochs,
        })
      : undefined
  try {
    return await runSteps(settings, (step) => oneStep(settings, step, queue))
  } finally {
    await queue?.close()
  }
}
