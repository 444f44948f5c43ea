/**
 * Proximal policy optimisation (Schulman et al. 2017) of consultations, with a critic: episodes in, gradient steps
 * out. The loop, on one screen.
 *
 * What is drawn at a step depends on the run's seed and the step's number alone, so a run that was
 * interrupted and resumed makes the same weights as one that was not.
 */
import type { StepReport } from '../../backend.js'
import type { TrainBatch } from '../../batch.js'
import { makeNormaliser } from '../../batch.js'
import type { Episode } from '../../episode.js'
import { Fault } from '../../error.js'
import { mapPool } from '../../platform/concurrency.js'
import type { Score } from '../../reward.js'
import { shuffle } from '../../seed.js'
import type { CriticExample, CriticOptions } from '../batches/critic-batch.js'
import { assertCriticOptions, criticBatch } from '../batches/critic-batch.js'
import type { BatchOptions } from '../batches/group-batch.js'
import { adamDefaults, defaultLoss, loopDefaults, ppoDefaults } from '../defaults.js'
import { trainingEmitter } from '../events.js'
import { jobsOf, playMember } from '../rollouts/group-rollouts.js'
import type { AdamSchedule } from './adam-schedule.js'
import { settingsAt } from './adam-schedule.js'
import type { LoopOptions, LoopSummary, StepResult, WorldOptions } from './loop.js'
import { assertCounts, mostTokens, runSteps, unmeasured } from './loop.js'
import { metricsOf, noGroups } from './metrics.js'

/** What a step of PPO made. */
export interface PpoStep extends StepResult {
  /** Those that were played to the end, in the order of their places. */
  readonly episodes: readonly Episode[]
  /** One per episode. */
  readonly scores: readonly Score[]
}

/** How the critic is trained. */
export interface PpoCriticOptions {
  /** @default a learning rate of 0.05 */
  readonly adam?: AdamSchedule
  /** Weight of the value loss beside the policy's. @default 0.1, as HuatuoGPT-o1 */
  readonly coefficient?: number
  /** How far a prediction may move from the one its rollout was judged by; Infinity for freely. @default 0.2 */
  readonly range?: number
}

export interface PpoOptions
  extends WorldOptions,
    LoopOptions<PpoStep>,
    Partial<BatchOptions>,
    Omit<CriticOptions, 'loss'> {
  readonly critic?: PpoCriticOptions
  readonly steps: number
  /** Each plays a case of its own. @default 64 */
  readonly episodesPerStep?: number
  /** Passes over the same rollouts; from the second gradient step on the clipped ratio is at work. @default 1 */
  readonly epochs?: number
  /** Gradient steps of a pass, each on its share of the episodes. @default 4 */
  readonly minibatches?: number
  /** @default 1 */
  readonly temperature?: number
  /** Episodes under way at once. @default 16 */
  readonly concurrency?: number
}

/** The options with their defaults. */
function resolved({
  critic: {
    adam: criticAdam,
    coefficient = ppoDefaults.coefficient,
    range = ppoDefaults.range,
  } = {},
  gamma = ppoDefaults.gamma,
  lambda = ppoDefaults.lambda,
  episodesPerStep = ppoDefaults.episodesPerStep,
  minibatches = ppoDefaults.minibatches,
  epochs = loopDefaults.epochs,
  temperature = loopDefaults.temperature,
  concurrency = loopDefaults.concurrency,
  loss = defaultLoss,
  normaliser = loopDefaults.normaliser,
  adam = adamDefaults,
  accuracy = unmeasured,
  events = trainingEmitter(),
  ...rest
}: PpoOptions) {
  return {
    ...rest,
    critic: {
      adam: criticAdam ?? { learningRate: ppoDefaults.learningRate },
      ...{ coefficient, range },
    },
    ...{ gamma, lambda, episodesPerStep, minibatches, epochs, temperature, concurrency },
    ...{ loss, normaliser, adam, accuracy, events },
  }
}
type PpoSettings = ReturnType<typeof resolved>

/**
 * Plays a step's episodes.
 * @throws Fault when every one failed: going on would make a run of nothing
 */
async function playStep(options: PpoSettings, step: number) {
  const { backend, episodesPerStep, concurrency, temperature } = options
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
  { backend, loss, normaliser, adam, critic }: PpoSettings,
  { step, maxTokens }: { readonly step: number; readonly maxTokens: number },
  lessons: readonly CriticExample[],
): TrainBatch {
  const segments = lessons.flatMap((lesson) => lesson.segments)
  return {
    step,
    policyVersion: backend.policyVersion,
    segments,
    normaliser: makeNormaliser(normaliser, segments, { maxTokens }),
    loss,
    adam: settingsAt(adam, step),
    critic: {
      returns: lessons.flatMap(({ returns }) => returns),
      oldValues: lessons.flatMap(({ oldValues }) => oldValues),
      range: critic.range,
      coefficient: critic.coefficient,
      adam: settingsAt(critic.adam, step),
    },
  }
}

/** Passes over the lessons in shares of an order of its own; gives the last gradient step's report. */
async function learn(
  options: PpoSettings,
  at: { readonly step: number; readonly maxTokens: number },
  lessons: readonly CriticExample[],
) {
  const { backend, seed = loopDefaults.seed, epochs, minibatches } = options
  const parts = Math.min(minibatches, lessons.length)
  const end = (part: number) => Math.floor((part * lessons.length) / parts)
  const drawnBy = backend.policyVersion
  let update: StepReport | undefined
  for (let epoch = 0; epoch < epochs; epoch++) {
    const order = shuffle(lessons, seed, 'minibatch', at.step, epoch)
    for (let part = 0; part < parts; part++) {
      const batch = batchOf(options, at, order.slice(end(part), end(part + 1)))
      update = await backend.step({ ...batch, maxStaleness: batch.policyVersion - drawnBy })
    }
  }
  return update
}

async function oneStep(options: PpoSettings, step: number): Promise<PpoStep> {
  const started = performance.now()
  const { members, faults } = await playStep(options, step)
  const episodes = members.map(({ episode }) => episode)
  const lessons = await criticBatch(options, members)
  const forks = lessons.reduce((sum, { segments }) => sum + segments.length - 1, 0)
  const update = await learn(options, { step, maxTokens: mostTokens(options, episodes) }, lessons)
  const counts = { groups: [], drawn: 0, lost: 0, stale: 0, staleGroups: 0 }
  const told = metricsOf({ members, faults, ...counts }, forks)
  const metrics = {
    ...{ step, steps: options.steps, policyVersion: options.backend.policyVersion },
    ...told,
    groups: noGroups,
    samples: { ...told.samples, used: lessons.length },
    ...(update ? { update } : {}),
    seconds: (performance.now() - started) / 1000,
  }
  return { step, metrics, episodes, scores: members.map(({ score }) => score) }
}

/**
 * Runs the steps in order. Metrics have no groups, `samples.used` counts episodes, and `update` is the report of the
 * step's last gradient step, over its share of the episodes. Only the backend, the cases, the env, the reward and
 * `steps` must be given; defaults are those of a recipe (`defaults.ts`).
 * @throws what `assertCriticOptions` throws, and RangeError for counts that are none: before any episode
 */
export async function trainPpo(options: PpoOptions): Promise<LoopSummary> {
  const settings = resolved(options)
  assertCriticOptions(settings)
  const { episodesPerStep, epochs, minibatches } = settings
  assertCounts({ episodesPerStep, epochs, minibatches })
  return runSteps(settings, (step) => oneStep(settings, step))
}
