/** Runs the training loop of a recipe: GRPO, PPO or supervised fine-tuning. */
import { existsSync } from 'node:fs'
import type { Backend } from '../backend.js'
import type { AdamSettings, Loss } from '../batch.js'
import { Fault } from '../error.js'
import { withoutUndefined } from '../platform/without-undefined.js'
import { readSavedEpisodes, type SavedEpisode } from '../storage/episode-files.js'
import { resolveAgent } from '../tasks/parts.js'
import type { Task } from '../tasks/task.js'
import { namedAdvantages } from '../trainers/advantages/method.js'
import { learningRateFactor } from '../trainers/batches/adam-schedule.js'
import type { TrainingEmitter } from '../trainers/events.js'
import { trainGrpo } from '../trainers/loops/grpo.js'
import type { GrpoStep } from '../trainers/loops/grpo-options.js'
import type { LoopOptions, LoopSummary, StepResult } from '../trainers/loops/loop.js'
import { type PpoStep, trainPpo } from '../trainers/loops/ppo.js'
import { trainSft } from '../trainers/loops/sft.js'
import {
  type Demonstrations,
  playDemonstrations,
  rejectionSample,
} from '../trainers/rollouts/demonstrations.js'
import type { GrpoTraining, PpoTraining, SftTraining, Training } from './recipe-training.js'
import type { Curriculum } from './task-of-recipe.js'

/** Result of a step of any loop, with its groups where the loop forms them (GRPO), and what else it played (PPO). */
export interface TrainingStep
  extends StepResult,
    Partial<Pick<GrpoStep, 'groups'>>,
    Partial<Omit<PpoStep, keyof StepResult>> {}

/** What a loop needs beside the recipe's `training`. */
export interface LoopParts {
  readonly task: Task
  readonly curriculum: Curriculum
  readonly backend: Backend
  readonly seed: number
  /** Begins the ids of episodes and groups. */
  readonly runId: string
  readonly firstStep: number
  readonly events: TrainingEmitter
  readonly signal: AbortSignal | undefined
  /** Groups begun before, where they are played ahead of their steps. */
  readonly begun: number | undefined
  readonly afterStep: NonNullable<LoopOptions<TrainingStep>['afterStep']>
}

/** Adam settings of a recipe by step, with learning-rate warm-up and decay applied. */
export function adamSchedule({
  adam,
  steps,
}: Pick<Training, 'adam' | 'steps'>): (step: number) => AdamSettings {
  const { learningRate, warmup, decay, ...rest } = adam
  return (step) => ({
    ...rest,
    learningRate: learningRate * learningRateFactor(step, { steps, warmup, decay }),
  })
}

/** Options of every loop. */
const loopOptions = (
  { backend, curriculum, seed, firstStep, events, signal, afterStep }: LoopParts,
  training: Training,
) => ({
  ...{ backend, seed, firstStep, events, signal, afterStep },
  normaliser: training.normaliser,
  adam: adamSchedule(training),
  steps: training.steps,
  // Most tokens that the policy can sample in an episode, over all stages of the curriculum.
  maxTokens: curriculum.maxTurns * (backend.capabilities.maxMoveTokens ?? 1),
})

/**
 * The loss of a run. Where sampler and trainer differ by the rounding of 16 bits and the recipe names no importance
 * correction, the ratio of their probabilities, truncated at 2, weighs each token (truncated importance sampling).
 */
export function lossOn(
  loss: Loss,
  { capabilities: { coarse, correction } }: Pick<Backend, 'capabilities'>,
): Loss {
  if (!coarse || !correction || loss.correction) return loss
  return { ...loss, correction: { level: 'token', mode: 'truncate', min: 0, max: 2 } }
}

/** Options of the loops that roll out the policy (GRPO, PPO). */
const playOptions = (parts: LoopParts, training: GrpoTraining | PpoTraining) => ({
  ...loopOptions(parts, training),
  caseAt: parts.curriculum.caseAt,
  makeEnv: parts.curriculum.makeEnv,
  runId: parts.runId,
  reward: parts.task.reward,
  accuracy: parts.task.measures.accuracy,
  loss: lossOn(training.loss, parts.backend),
  epochs: training.epochs,
  temperature: training.temperature,
  concurrency: training.concurrency,
  maxUnscored: training.maxUnscored,
})

/** Options of hindsight labels; their learning rate follows the schedule of the policy's. */
function hindsightOf({ hindsight, adam, ...rest }: GrpoTraining | SftTraining) {
  if (!hindsight) return undefined
  const { learningRate, ...weights } = hindsight
  return { ...weights, adam: adamSchedule({ ...rest, adam: { ...adam, learningRate } }) }
}

function runGrpo(training: GrpoTraining, parts: LoopParts): Promise<LoopSummary> {
  const { resampleMost, groupsPerStep, groupSize, maxStaleness, endings, corrections, offPolicy } =
    training
  return trainGrpo({
    ...playOptions(parts, training),
    ...{ groupsPerStep, groupSize, maxStaleness, endings, corrections },
    ...withoutUndefined({ begun: parts.begun, offPolicy, hindsight: hindsightOf(training) }),
    advantages: namedAdvantages(training.advantages),
    policy: training.groups,
    ...(resampleMost === undefined ? {} : { resample: { most: resampleMost } }),
  })
}

function runPpo(training: PpoTraining, parts: LoopParts): Promise<LoopSummary> {
  const { learningRate, coefficient, range, ...ppo } = training.ppo
  return trainPpo({
    ...playOptions(parts, training),
    ...ppo,
    critic: { adam: { learningRate }, coefficient, range },
  })
}

/** Drops saved episodes of held-out patients, which must not be trained on, whatever the tier they were played in. */
async function* withoutHeldOut(
  saved: AsyncIterable<SavedEpisode>,
  { isHeldOut }: Task,
): AsyncGenerator<SavedEpisode> {
  for await (const one of saved) {
    const { caseId } = one.episode
    if (!isHeldOut({ ...one.truth, caseId })) yield one
  }
}

/**
 * Collects the demonstrations of a recipe from its file or its doctor, filtered by reward where it says so.
 * @throws Fault `bad-input` for a file or a doctor that does not exist
 */
async function collectDemonstrations(
  { sft, concurrency }: SftTraining,
  { seed, task, events, signal }: LoopParts,
): Promise<Demonstrations> {
  const { demonstrations: file, agent, cases, times, minReward, bestOf } = sft
  const chosen = withoutUndefined({ minReward, bestOf })
  if (file !== undefined) {
    if (!existsSync(file))
      throw new Fault('bad-input', `training.sft.demonstrations: there is no file ${file}`)
    return rejectionSample(withoutHeldOut(readSavedEpisodes(file), task), chosen)
  }
  const make = await resolveAgent(agent, task.agents, 'training.sft.agent')
  const { makeEnv, reward } = task
  const played = await playDemonstrations({
    ...{ agent: make(), agentName: agent, cases: task.train(cases), makeEnv, reward },
    ...{ times, seed, concurrency, events, signal },
  })
  return Object.keys(chosen).length > 0 ? rejectionSample(played.kept, chosen) : played
}

async function runSft(training: SftTraining, parts: LoopParts): Promise<LoopSummary> {
  const { kept } = await collectDemonstrations(training, parts)
  return trainSft({
    ...loopOptions(parts, training),
    demonstrations: kept.map(({ episode }) => episode),
    episodesPerStep: training.sft.episodesPerStep,
    ...withoutUndefined({ hindsight: hindsightOf(training) }),
  })
}

/** Runs the loop that a recipe's `training` names. */
export function runLoop(training: Training, parts: LoopParts): Promise<LoopSummary> {
  switch (training.algorithm) {
    case 'grpo':
      return runGrpo(training, parts)
    case 'ppo':
      return runPpo(training, parts)
    case 'sft':
      return runSft(training, parts)
  }
}
