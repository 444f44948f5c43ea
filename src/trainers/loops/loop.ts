/** Shared by the training loops: options and their defaults, the step loop with its events, and metrics. */
import type { Learner, Sampler, StepReport } from '../../backend.js'
import type { Episode } from '../../episode.js'
import { Fault } from '../../error.js'
import type { Group } from '../../group.js'
import { mapPool } from '../../platform/concurrency.js'
import { type Reward, unavailableReason } from '../../reward.js'
import type { BatchOptions } from '../batches/group-batch.js'
import { assertCounts } from '../counts.js'
import { adamDefaults, defaultLoss, loopDefaults } from '../defaults.js'
import { type StepMetrics, type TrainingEmitter, trainingEmitter } from '../events.js'
import { playBranches } from '../rollouts/endings.js'
import type { GroupMember, PlayOptions, RolloutJob } from '../rollouts/group-rollouts.js'
import { playMember } from '../rollouts/group-rollouts.js'

/** Result of one training step. */
export interface StepResult {
  readonly step: number
  readonly metrics: StepMetrics
}

/** Result of a training loop. */
export interface LoopSummary {
  /** The last completed step; `firstStep - 1` if none was. */
  readonly steps: number
  /** One entry per completed step, in order. */
  readonly metrics: readonly StepMetrics[]
}

/** Options shared by all loops; `Made` is the loop's step result. */
export interface LoopOptions<Made extends StepResult> {
  /** The first step to run; steps before it are in the loaded checkpoint. @default 1 */
  readonly firstStep?: number
  /** Emitter for listeners; the loop itself reads no event. @default one without listeners */
  readonly events?: TrainingEmitter
  readonly signal?: AbortSignal | undefined
  /** Called with every step's result before the next step: logging, evaluation, checkpoints. `'stop'` ends the run. */
  readonly afterStep?: (made: Made) => 'stop' | undefined | Promise<'stop' | undefined>
}

/** World options of a loop: cases, env, reward and seed. */
export interface WorldOptions
  extends Omit<PlayOptions, 'accuracy' | 'runId' | 'events' | 'signal'> {
  /** Accuracy measure, for the learning curves. @default not measured */
  readonly accuracy?: Reward
  /** Begins the ids of episodes and groups. @default a random one, for ids that no other run has */
  readonly runId?: string
}

/** Accuracy measure of a run without one: every total is null. */
export const unmeasured: Reward = Object.freeze(
  Object.assign(async () => ({ total: null, parts: {} }), {
    rewardName: 'unmeasured',
    bounds: [0, 1] as const,
    source: 'none',
  }),
)

/** Options shared by the loops that play. */
export interface PlayingOptions<Made extends StepResult>
  extends WorldOptions,
    LoopOptions<Made>,
    Partial<BatchOptions> {
  readonly backend: Sampler & Learner
  readonly steps: number
  /** Passes over the same rollouts; ratio clipping applies from the second gradient step on. @default 1 */
  readonly epochs?: number
  /** Sampling temperature. @default 1 */
  readonly temperature?: number
  /** Episodes under way at once. @default 16 */
  readonly concurrency?: number
  /** The run ends with a fault when no consultation of so many steps in a row could be scored. @default 3 */
  readonly maxUnscored?: number
}

/** Fills in the defaults that the loops that play share. */
export const resolvePlaying = <Options extends PlayingOptions<never>>({
  epochs = loopDefaults.epochs,
  temperature = loopDefaults.temperature,
  concurrency = loopDefaults.concurrency,
  maxUnscored = loopDefaults.maxUnscored,
  loss = defaultLoss,
  normaliser = loopDefaults.normaliser,
  adam = adamDefaults,
  accuracy = unmeasured,
  runId = crypto.randomUUID().slice(-12),
  events = trainingEmitter(),
  ...rest
}: Options) => ({
  ...rest,
  ...{ epochs, temperature, concurrency, loss, normaliser, adam, accuracy, runId, events },
  assertScored: scoreGuard(maxUnscored),
})

/**
 * Makes a check of every step's members, before the step learns.
 * @returns a function that throws a Fault with the first reason at the `most`-th step in a row of which no consultation
 *   could be scored: the judge, the reward or the patient is down, and there is nothing to learn
 */
function scoreGuard(most: number) {
  assertCounts({ maxUnscored: most })
  let row: { readonly from: number; readonly reason: string; consultations: number } | undefined
  return (step: number, members: readonly GroupMember[]): void => {
    const reasons = members.flatMap(({ score }) => unavailableReason(score) ?? [])
    const [reason] = reasons
    if (reason === undefined || members.some(({ score }) => score.total !== null)) {
      row = undefined
      return
    }
    row ??= { from: step, reason, consultations: 0 }
    row.consultations += members.length
    if (step - row.from + 1 < most) return
    throw new Fault(
      'component-failed',
      `steps ${row.from} to ${step}: none of ${row.consultations} consultations could be scored; the first reason: ${row.reason}`,
    )
  }
}

/** Plays jobs with the current policy, at the loop's temperature or another. */
export function playJobs(
  options: PlayOptions & {
    readonly backend: Sampler
    readonly temperature: number
    readonly concurrency: number
  },
  jobs: readonly RolloutJob[],
  temperature = options.temperature,
): Promise<(GroupMember | Fault)[]> {
  const { backend, concurrency, signal } = options
  const by = { agent: backend.sampler({ temperature }), name: backend.name }
  const playJob = (job: RolloutJob, _: number, poolSignal: AbortSignal) =>
    playMember({ ...options, signal: poolSignal }, by, job)
  return mapPool(jobs, concurrency, playJob, signal)
}

/** Plays jobs with the current policy and branches each consultation at its conclusion into `endings` diagnoses. */
export async function playBranchedJobs(
  options: Parameters<typeof playJobs>[0] & { readonly endings: number },
  jobs: readonly RolloutJob[],
): Promise<(GroupMember | Fault)[]> {
  const { backend, concurrency, signal, temperature, endings } = options
  const by = { agent: backend.sampler({ temperature }), name: backend.name }
  const playJob = (job: RolloutJob, _: number, poolSignal: AbortSignal) =>
    playBranches({ ...options, signal: poolSignal }, by, job, endings)
  return (await mapPool(jobs, concurrency, playJob, signal)).flat()
}

/** Completes a step's metrics. @param started when the step began, by `performance.now` */
export const stepMetrics = (
  { backend, steps }: { readonly backend: Learner; readonly steps: number },
  { step, started }: { readonly step: number; readonly started: number },
  measured: Omit<StepMetrics, 'step' | 'steps' | 'policyVersion' | 'update' | 'seconds'>,
  update: StepReport | undefined,
): StepMetrics => ({
  ...{ step, steps, policyVersion: backend.policyVersion, ...measured },
  ...(update ? { update } : {}),
  seconds: (performance.now() - started) / 1000,
})

/** Runs the steps from `firstStep` on, emits each one's metrics as `step-end` and passes its result to `afterStep`. */
export async function runSteps<Made extends StepResult>(
  options: LoopOptions<Made> & { readonly steps: number },
  makeStep: (step: number) => Promise<Made>,
): Promise<LoopSummary> {
  const { firstStep = 1, steps, events, signal, afterStep } = options
  const metrics: StepMetrics[] = []
  let last = firstStep - 1
  for (let step = firstStep; step <= steps; step++) {
    signal?.throwIfAborted()
    const made = await makeStep(step)
    last = step
    metrics.push(made.metrics)
    events?.emit('step-end', made.metrics)
    if ((await afterStep?.(made)) === 'stop') break
  }
  return { steps: last, metrics }
}

/**
 * Maximum number of tokens an episode can draw, for the dr-grpo normaliser: `maxTokens` if given, else the largest turn
 * limit of the episodes times the maximum tokens of one move.
 */
export const maxEpisodeTokens = (
  { backend, maxTokens }: { readonly backend: Learner; readonly maxTokens?: number },
  episodes: readonly Pick<Episode, 'maxTurns'>[],
): number =>
  maxTokens ??
  episodes.reduce((most, { maxTurns }) => Math.max(most, maxTurns), 1) *
    (backend.capabilities.maxMoveTokens ?? 1)

/** Rollouts of one training step. */
export interface PlayedStep {
  readonly members: readonly GroupMember[]
  readonly groups: readonly Group[]
  /** Number of groups begun, and of those that lost every member to faults. */
  readonly drawn: number
  readonly lost: number
  /** Number of members lost to faults. */
  readonly faults: number
  /** Number of members, and of groups, whose policy version was too old. */
  readonly stale: number
  readonly staleGroups: number
  /** Number of groups that the run has begun, where they are played ahead. */
  readonly begun?: number
}

/** Mean of a list; null for an empty one. */
export const mean = (values: readonly number[]): number | null =>
  values.length > 0 ? values.reduce((sum, value) => sum + value, 0) / values.length : null

/** Computes a step's metrics from its rollouts. @param forks breaks in append-only token streams */
export function rolloutMetrics(
  { members, groups, drawn, ...counts }: PlayedStep,
  forks: number,
): Pick<StepMetrics, 'reward' | 'accuracy' | 'turns' | 'groups' | 'samples'> {
  const totals = members.flatMap(({ score }) => score.total ?? [])
  const count = (status: Group['status']): number =>
    groups.filter((group) => group.status === status).length
  const [singleton, tooFewScored] = [count('singleton'), count('too-few-scored')]
  const { lost, faults, stale, staleGroups, begun } = counts
  return {
    reward: mean(totals),
    accuracy: mean(members.flatMap(({ right }) => right ?? [])),
    turns: mean(members.map(({ episode }) => episode.turns.length)),
    groups: {
      drawn,
      formed: groups.length,
      zeroVariance: count('zero-variance'),
      dropped: lost + staleGroups + singleton + tooFewScored,
      reasons: { lost, stale: staleGroups, singleton, tooFewScored },
      ...(begun === undefined ? {} : { begun }),
    },
    samples: {
      used: groups.reduce(
        (sum, { status, standings }) =>
          status === 'learns' ? sum + standings.filter((one) => one === 'learns').length : sum,
        0,
      ),
      unavailable: faults + members.length - totals.length,
      stale,
      forks,
    },
  }
}

/** Groups of a step without groups. */
export const noGroups = { groups: [], drawn: 0, lost: 0, stale: 0, staleGroups: 0 } as const
