/**
 * Group-relative policy optimisation: groups of consultations in, gradient steps out. The loop, on one screen.
 *
 * What is drawn at a step depends on the run's seed and the step's number alone, so a run that was
 * interrupted and resumed makes the same weights as one that was not.
 */
import type { Agent } from '../agent.js'
import type { Backend, StepReport } from '../backend.js'
import type { AdamSettings, Loss, NormaliserKind, TrainBatch } from '../batch.js'
import { normalise } from '../batch.js'
import type { Case } from '../case.js'
import { graderView } from '../case.js'
import type { Env } from '../env.js'
import type { Episode } from '../episode.js'
import { Fault } from '../error.js'
import type { StepMetrics, TrainingEmitter } from '../event.js'
import type { AdvantageEstimator, Group } from '../group.js'
import { formGroup } from '../group.js'
import { mapPool } from '../pool.js'
import type { Reward, Score } from '../reward.js'
import { rollout } from '../rollout.js'
import { fork } from '../seed.js'
import { episodeSegments } from './segments.js'

export interface GrpoOptions {
  readonly backend: Backend
  /** The n-th training case; n counts groups from the start of the run. */
  readonly caseAt: (n: number) => Case
  readonly makeEnv: () => Env
  readonly reward: Reward
  /** Measured beside the reward, for the curves. */
  readonly accuracy: Reward
  readonly estimator: AdvantageEstimator
  readonly loss: Loss
  readonly normaliser: NormaliserKind
  readonly adam: AdamSettings
  readonly steps: number
  /** The first step to run; steps before it are in the loaded checkpoint. @default 1 */
  readonly firstStep?: number
  /** @default 0 */
  readonly seed?: number
  /** @default 32 */
  readonly groupsPerStep?: number
  /** @default 8 */
  readonly groupSize?: number
  /** Passes over the same rollouts; from the second on the clipped ratio is at work. @default 1 */
  readonly epochs?: number
  /** @default 1 */
  readonly temperature?: number
  /** Episodes under way at once. @default 16 */
  readonly concurrency?: number
  /** For the dr-grpo normaliser: the most tokens an episode can draw. */
  readonly maxTokens?: number
  readonly events: TrainingEmitter
  readonly signal?: AbortSignal | undefined
  /** Runs after every step, before the next begins: evaluation, checkpoints. */
  readonly afterStep?: (step: number) => Promise<void>
}

interface Member {
  readonly place: number
  readonly episode: Episode
  readonly score: Score
  readonly right: number | null
}

/** One member of one group, to be played. */
interface Job {
  readonly step: number
  readonly place: number
  readonly member: number
  readonly truth: Case
}

/** Plays and scores one member of one group; gives the fault when its world failed. */
async function playMember(
  options: GrpoOptions,
  agent: Agent,
  { step, place, member, truth }: Job,
): Promise<Member | Fault> {
  const { makeEnv, reward, accuracy, seed = 0, signal } = options
  signal?.throwIfAborted()
  const groupSeed = fork(seed, 'group', step, place)
  await using env = makeEnv()
  try {
    const episode = await rollout(env, agent, {
      seed: groupSeed,
      agentSeed: fork(groupSeed, 'member', member),
      options: { case: truth },
      agentName: options.backend.name,
      id: `${step}/${place}/${member}`,
      signal,
    })
    const view = graderView(truth)
    const score = await reward(episode, view, { signal })
    return { place, episode, score, right: (await accuracy(episode, view)).total }
  } catch (error) {
    if (!Fault.is(error) || signal?.aborted) throw error
    options.events.emit('fault-met', error, `step ${step}, group ${place}, member ${member}`)
    return error
  }
}

/**
 * Plays every member of every group of a step; groups come back in the order of their places.
 * @throws Fault when every one failed: going on would make a run of nothing
 */
async function playStep(options: GrpoOptions, step: number) {
  const { backend, caseAt, estimator, events, groupsPerStep = 32, groupSize = 8 } = options
  const agent = backend.sampler({ temperature: options.temperature ?? 1 })
  const jobs = Array.from({ length: groupsPerStep }, (_, place) => {
    const truth = caseAt((step - 1) * groupsPerStep + place)
    return Array.from({ length: groupSize }, (_, member): Job => ({ step, place, member, truth }))
  }).flat()
  const played = await mapPool(jobs, options.concurrency ?? 16, (job) =>
    playMember(options, agent, job),
  )
  const members = played.flatMap((one) => (Fault.is(one) ? [] : [one]))
  const [first] = played
  if (members.length === 0 && Fault.is(first))
    throw new Fault(
      first.code,
      `step ${step}: none of its ${jobs.length} consultations could be played: ${first.message}`,
      { cause: first },
    )
  const groups = Array.from({ length: groupsPerStep }, (_, place) => place).flatMap((place) => {
    const own = members.filter((member) => member.place === place)
    if (own.length === 0) return []
    const group = formGroup(
      `${step}/${place}`,
      own.map(({ episode }) => episode),
      own.map(({ score }) => score),
      estimator,
    )
    events.emit('group-formed', group)
    return group
  })
  return { members, groups, faults: jobs.length - members.length }
}

/** The batch of all groups that teach something; `undefined` when none does. */
export function batchOf(
  groups: readonly Group[],
  step: number,
  policyVersion: number,
  {
    loss,
    normaliser,
    adam,
    maxTokens,
  }: Pick<GrpoOptions, 'loss' | 'normaliser' | 'adam' | 'maxTokens'>,
): { readonly batch: TrainBatch; readonly forks: number } | undefined {
  let forks = 0
  const segments = groups
    .filter(({ status }) => status === 'learns')
    .flatMap((group) =>
      group.episodes.flatMap((episode, i) => {
        if (group.scores[i]?.total === null) return []
        const made = episodeSegments(episode, group.advantages[i] ?? 0, group.id)
        forks += made.forks
        return made.segments
      }),
    )
  if (segments.length === 0) return undefined
  const perSegment = normalise(normaliser, segments, maxTokens === undefined ? {} : { maxTokens })
  return { batch: { step, policyVersion, segments, normaliser: perSegment, loss, adam }, forks }
}

const mean = (values: readonly number[]): number | null =>
  values.length > 0 ? values.reduce((sum, value) => sum + value, 0) / values.length : null

async function oneStep(options: GrpoOptions, step: number): Promise<StepMetrics> {
  const started = performance.now()
  const { backend, groupsPerStep = 32, epochs = 1 } = options
  const { members, groups, faults } = await playStep(options, step)
  const made = batchOf(groups, step, backend.policyVersion, options)
  let update: StepReport | undefined
  for (let epoch = 0; made && epoch < epochs; epoch++)
    update = await backend.step({ ...made.batch, policyVersion: backend.policyVersion })
  const totals = members.flatMap(({ score }) => score.total ?? [])
  const count = (...statuses: readonly Group['status'][]): number =>
    groups.filter(({ status }) => statuses.includes(status)).length
  const learning = groups.filter(({ status }) => status === 'learns')
  return {
    step,
    steps: options.steps,
    policyVersion: backend.policyVersion,
    reward: mean(totals),
    accuracy: mean(members.flatMap(({ right }) => right ?? [])),
    turns: mean(members.map(({ episode }) => episode.turns.length)),
    groups: {
      formed: groups.length,
      zeroVariance: count('zero-variance'),
      dropped: groupsPerStep - groups.length + count('singleton', 'too-few-scored'),
    },
    samples: {
      used: learning.flatMap(({ scores }) => scores.flatMap(({ total }) => total ?? [])).length,
      unavailable: faults + members.length - totals.length,
      stale: 0,
      forks: made?.forks ?? 0,
    },
    ...(update ? { update } : {}),
    seconds: (performance.now() - started) / 1000,
  }
}

/** Runs the steps in order and tells each one's metrics as `step-end`. */
export async function trainGrpo(options: GrpoOptions): Promise<void> {
  const { steps, firstStep = 1, groupSize = 8 } = options
  if (groupSize < 2)
    throw new RangeError(
      `Expected \`groupSize\` to be at least 2, got \`${groupSize}\`: a group of one has no baseline`,
    )
  for (let step = firstStep; step <= steps; step++) {
    options.signal?.throwIfAborted()
    options.events.emit('step-end', await oneStep(options, step))
    await options.afterStep?.(step)
  }
}
