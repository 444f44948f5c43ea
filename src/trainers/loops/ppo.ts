/**
 * PPO training loop: proximal policy optimisation (Schulman et al. 2017) with a critic.
 *
 * All draws of a step depend on the run's seed and the step number alone, so a run that was interrupted and resumed has
 * the same weights as one that was not.
 */
import type { StepReport } from '../../backend.js'
import { makeNormaliser, type TokenSegment, type TrainBatch } from '../../batch.js'
import type { Case } from '../../case.js'
import type { Episode } from '../../episode.js'
import { Fault } from '../../error.js'
import type { Score } from '../../reward.js'
import { shuffle } from '../../seed.js'
import { type AdamSchedule, adamSettingsAt } from '../batches/adam-schedule.js'
import type { CriticExample, CriticOptions } from '../batches/critic-batch.js'
import { assertCriticOptions, criticBatch } from '../batches/critic-batch.js'
import { assertCounts } from '../counts.js'
import { loopDefaults, ppoDefaults } from '../defaults.js'
import { noRolloutFault, rolloutJobs } from '../rollouts/group-rollouts.js'
import type { LoopSummary, PlayingOptions, StepResult } from './loop.js'
import {
  maxEpisodeTokens,
  noGroups,
  playJobs,
  resolvePlaying,
  rolloutMetrics,
  runSteps,
  stepMetrics,
} from './loop.js'

/** Result of one PPO step. */
export interface PpoStep extends StepResult {
  /** Episodes played to the end, in the order of their places. */
  readonly episodes: readonly Episode[]
  /** One per episode, as of `cases`. */
  readonly scores: readonly Score[]
  readonly cases: readonly Case[]
  /** What was learned from: the scored episodes' segments, with the advantage of every token. */
  readonly segments: readonly TokenSegment[]
}

/** Options of the critic's training. */
export interface PpoCriticOptions {
  /** @default a learning rate of 0.05 */
  readonly adam?: AdamSchedule
  /** Weight of the value loss relative to the policy loss. @default 0.1, as HuatuoGPT-o1 */
  readonly coefficient?: number
  /** Clip range: how far a value may move from the rollout's prediction; Infinity for no clipping. @default 0.2 */
  readonly range?: number
}

/** Options of {@link trainPpo}. */
export interface PpoOptions
  extends PlayingOptions<PpoStep>,
    Omit<CriticOptions, 'loss' | 'backend'> {
  readonly critic?: PpoCriticOptions
  /** Each episode plays a case of its own. @default 64 */
  readonly episodesPerStep?: number
  /** Gradient steps per pass, each on its share of the episodes. @default 4 */
  readonly minibatches?: number
}

/** Fills in the defaults. */
function resolveOptions({
  critic: {
    adam: criticAdam = { learningRate: ppoDefaults.learningRate },
    coefficient = ppoDefaults.coefficient,
    range = ppoDefaults.range,
  } = {},
  gamma = ppoDefaults.gamma,
  lambda = ppoDefaults.lambda,
  episodesPerStep = ppoDefaults.episodesPerStep,
  minibatches = ppoDefaults.minibatches,
  ...rest
}: PpoOptions) {
  const critic = { adam: criticAdam, coefficient, range }
  return { ...resolvePlaying(rest), ...{ critic, gamma, lambda, episodesPerStep, minibatches } }
}
type PpoSettings = ReturnType<typeof resolveOptions>

/**
 * Plays a step's episodes.
 * @throws Fault if every episode failed: the run could learn nothing
 */
async function playStep(options: PpoSettings, step: number) {
  const { episodesPerStep } = options
  const places = Array.from({ length: episodesPerStep }, (_, place) => place)
  const jobs = rolloutJobs(
    options,
    { step, places },
    { groupsPerStep: episodesPerStep, groupSize: 1 },
  )
  const played = await playJobs(options, jobs)
  const members = played.flatMap((one) => (Fault.is(one) ? [] : [one]))
  const [first] = played
  if (members.length === 0 && Fault.is(first))
    throw noRolloutFault(`step ${step}: none of its ${jobs.length}`, first)
  return { members, faults: jobs.length - members.length }
}

/** Makes the training batch of some episodes. */
function ppoBatch(
  { backend, loss, normaliser, adam, critic }: PpoSettings,
  { step, maxTokens }: { readonly step: number; readonly maxTokens: number },
  examples: readonly CriticExample[],
): TrainBatch {
  const segments = examples.flatMap((example) => example.segments)
  return {
    step,
    policyVersion: backend.policyVersion,
    segments,
    normaliser: makeNormaliser(normaliser, segments, { maxTokens }),
    loss,
    adam: adamSettingsAt(adam, step),
    critic: {
      returns: examples.flatMap(({ returns }) => returns),
      oldValues: examples.flatMap(({ oldValues }) => oldValues),
      range: critic.range,
      coefficient: critic.coefficient,
      adam: adamSettingsAt(critic.adam, step),
    },
  }
}

/** Makes a step's passes over its episodes in shuffled minibatches; returns the last gradient step's report. */
async function learn(
  options: PpoSettings,
  at: { readonly step: number; readonly maxTokens: number },
  examples: readonly CriticExample[],
) {
  const { backend, seed = loopDefaults.seed, epochs, minibatches } = options
  const parts = Math.min(minibatches, examples.length)
  const end = (part: number) => Math.floor((part * examples.length) / parts)
  const rolloutVersion = backend.policyVersion
  let update: StepReport | undefined
  for (let epoch = 0; epoch < epochs; epoch++) {
    const order = shuffle(examples, seed, 'minibatch', at.step, epoch)
    for (let part = 0; part < parts; part++) {
      const batch = ppoBatch(options, at, order.slice(end(part), end(part + 1)))
      update = await backend.step({ ...batch, maxStaleness: batch.policyVersion - rolloutVersion })
    }
  }
  return update
}

async function trainStep(options: PpoSettings, step: number): Promise<PpoStep> {
  const started = performance.now()
  const { members, faults } = await playStep(options, step)
  options.assertScored(step, members)
  const episodes = members.map(({ episode }) => episode)
  const examples = await criticBatch(options, members)
  const forks = examples.reduce((sum, { segments }) => sum + segments.length - 1, 0)
  const maxTokens = maxEpisodeTokens(options, episodes)
  const update = await learn(options, { step, maxTokens }, examples)
  const played = rolloutMetrics({ members, faults, ...noGroups }, forks)
  const measured = { ...played, samples: { ...played.samples, used: examples.length } }
  const metrics = stepMetrics(options, { step, started }, measured, update)
  const scores = members.map(({ score }) => score)
  const cases = members.map(({ truth }) => truth)
  const segments = examples.flatMap((example) => example.segments)
  return { step, metrics, episodes, scores, cases, segments }
}

/**
 * Trains with PPO. Metrics have no groups, `samples.used` counts episodes, and `update` reports the step's last gradient
 * step, over its share of the episodes. Only the backend, the cases, the env, the reward and `steps` are required;
 * defaults are those of a recipe (`defaults.ts`).
 * @throws before any episode: what `assertCriticOptions` throws, and RangeError for counts that are no positive integers
 */
export async function trainPpo(options: PpoOptions): Promise<LoopSummary> {
  const settings = resolveOptions(options)
  assertCriticOptions(settings)
  const { episodesPerStep, epochs, minibatches } = settings
  assertCounts({ episodesPerStep, epochs, minibatches })
  return runSteps(settings, (step) => trainStep(settings, step))
}
