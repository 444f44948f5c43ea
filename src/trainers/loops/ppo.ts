/**
 * Proximal policy optimisation (Schulman et al. 2017) of consultations, with a critic: episodes in, gradient steps
 * out. The loop, on one screen.
 *
 * What is drawn at a step depends on the run's seed and the step's number alone, so a run that was
 * interrupted and resumed makes the same weights as one that was not.
 */
import type { StepReport } from '../../backend.js'
import type { TrainBatch } from '../../batch.js'
import { normalise } from '../../batch.js'
import { Fault } from '../../error.js'
import { mapPool } from '../../platform/concurrency.js'
import { shuffle } from '../../seed.js'
import type { CriticExample, JudgeOptions } from '../batches/critic-batch.js'
import { assertJudge, criticBatch } from '../batches/critic-batch.js'
import type { BatchOptions } from '../batches/group-batch.js'
import type { StepMetrics } from '../events.js'
import type { PlayOptions } from '../rollouts/group-rollouts.js'
import { jobsOf, playMember } from '../rollouts/group-rollouts.js'
import type { AdamSchedule } from './adam-schedule.js'
import { settingsAt } from './adam-schedule.js'
import { metricsOf, noGroups } from './metrics.js'

export interface PpoOptions extends PlayOptions, BatchOptions, JudgeOptions {
  readonly critic: {
    readonly adam: AdamSchedule
    /** Weight of the value loss beside the policy's. @default 0.1, as HuatuoGPT-o1 */
    readonly coefficient?: number
    /** How far a prediction may move from the one its rollout was judged by; Infinity for freely. @default 0.2 */
    readonly range?: number
  }
  readonly steps: number
  /** The first step to run; steps before it are in the loaded checkpoint. @default 1 */
  readonly firstStep?: number
  /** Each plays a case of its own. @default 64 */
  readonly episodesPerStep?: number
  /** Passes over the same rollouts; from the second gradient step on the clipped ratio is at work. @default 4 */
  readonly epochs?: number
  /** Gradient steps of a pass, each on its share of the episodes. @default 4 */
  readonly minibatches?: number
  /** @default 1 */
  readonly temperature?: number
  /** Episodes under way at once. @default 16 */
  readonly concurrency?: number
  /** Runs after every step, before the next begins: evaluation, checkpoints. `stop` ends the run there. */
  readonly afterStep?: (step: number) => Promise<'stop' | undefined>
}

/**
 * Plays a step's episodes.
 * @throws Fault when every one failed: going on would make a run of nothing
 */
async function playStep(options: PpoOptions, step: number) {
  const { backend, episodesPerStep = 64, concurrency = 16, temperature = 1 } = options
  const by = { agent: backend.sampler({ temperature }), name: backend.name }
  const places = Array.from({ length: episodesPerStep }, (_, place) => place)
  const jobs = jobsOf(options, { step, places, groupsPerStep: episodesPerStep, groupSize: 1 })
  const played = await mapPool(jobs, concurrency, (job) => playMember(options, by, job))
  const members = played.flatMap((one) => (Fault.is(one) ? [] : [one]))
  const [first] = played
  if (members.length === 0 && Fault.is(first))
    throw new Fault(
      first.code,
      `step ${step}: none of its ${jobs.length} consultations could be played: ${first.message}`,
      { cause: first },
    )
  return { members, faults: jobs.length - members.length }
}

/** The batch of some episodes. */
function batchOf(
  { backend, loss, normaliser, adam, maxTokens, critic }: PpoOptions,
  step: number,
  lessons: readonly CriticExample[],
): TrainBatch {
  const segments = lessons.flatMap((lesson) => lesson.segments)
  const limit = maxTokens === undefined ? {} : { maxTokens }
  return {
    step,
    policyVersion: backend.policyVersion,
    segments,
    normaliser: normalise(normaliser, segments, limit),
    loss,
    adam: settingsAt(adam, step),
    critic: {
      returns: lessons.flatMap(({ returns }) => returns),
      oldValues: lessons.flatMap(({ oldValues }) => oldValues),
      range: critic.range ?? 0.2,
      coefficient: critic.coefficient ?? 0.1,
      adam: settingsAt(critic.adam, step),
    },
  }
}

/** Passes over the lessons in shares of an order of its own; gives the last gradient step's report. */
async function learn(options: PpoOptions, step: number, lessons: readonly CriticExample[]) {
  const { backend, seed = 0, epochs = 4, minibatches = 4 } = options
  const parts = Math.min(minibatches, lessons.length)
  const end = (part: number) => Math.floor((part * lessons.length) / parts)
  const drawnBy = backend.policyVersion
  let update: StepReport | undefined
  for (let epoch = 0; epoch < epochs; epoch++) {
    const order = shuffle(lessons, seed, 'minibatch', step, epoch)
    for (let part = 0; part < parts; part++) {
      const batch = batchOf(options, step, order.slice(end(part), end(part + 1)))
      update = await backend.step({ ...batch, maxStaleness: batch.policyVersion - drawnBy })
    }
  }
  return update
}

async function oneStep(options: PpoOptions, step: number): Promise<StepMetrics> {
  const started = performance.now()
  const { members, faults } = await playStep(options, step)
  const lessons = await criticBatch(options, members)
  const forks = lessons.reduce((sum, { segments }) => sum + segments.length - 1, 0)
  const update = await learn(options, step, lessons)
  const counts = { groups: [], drawn: 0, lost: 0, stale: 0, staleGroups: 0 }
  const told = metricsOf({ members, faults, ...counts }, forks)
  return {
    step,
    steps: options.steps,
    policyVersion: options.backend.policyVersion,
    ...told,
    groups: noGroups,
    samples: { ...told.samples, used: lessons.length },
    ...(update ? { update } : {}),
    seconds: (performance.now() - started) / 1000,
  }
}

/**
 * Runs the steps in order and tells each one's metrics as `step-end`: no groups, `samples.used` counts episodes,
 * `update` is the report of the step's last gradient step, over its share of the episodes.
 * @throws what `assertJudge` throws, and RangeError for counts that are none: before any episode
 */
export async function trainPpo(options: PpoOptions): Promise<void> {
  assertJudge(options)
  const { steps, firstStep = 1, episodesPerStep, epochs, minibatches } = options
  for (const [name, value] of Object.entries({ episodesPerStep, epochs, minibatches }))
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 1))
      throw new RangeError(`Expected \`${name}\` to be a positive integer, got \`${value}\``)
  for (let step = firstStep; step <= steps; step++) {
    options.signal?.throwIfAborted()
    options.events.emit('step-end', await oneStep(options, step))
    if ((await options.afterStep?.(step)) === 'stop') break
  }
}
