/** Runs the training loop of a recipe: GRPO, PPO or supervised fine-tuning. */
import { existsSync } from 'node:fs'
import type { Backend } from '../backend.js'
import type { Case } from '../case.js'
import { Fault } from '../error.js'
import type { Group } from '../group.js'
import { readSavedEpisodes, type SavedEpisode } from '../storage/episode-files.js'
import { resolveAgent } from '../tasks/parts.js'
import type { Task } from '../tasks/task.js'
import type { TrainingEmitter } from '../trainers/events.js'
import { trainGrpo } from '../trainers/loops/grpo.js'
import type { LoopOptions, LoopSummary, StepResult } from '../trainers/loops/loop.js'
import { trainPpo } from '../trainers/loops/ppo.js'
import { trainSft } from '../trainers/loops/sft.js'
import type { Demonstrations } from '../trainers/rollouts/demonstrations.js'
import { playDemonstrations, rejectionSample } from '../trainers/rollouts/demonstrations.js'
import { adamSchedule, advantageOptions, type Curriculum } from './loop-options.js'
import type { Recipe } from './recipe.js'
import type { GrpoTraining, PpoTraining, SftTraining } from './recipe-training.js'

/** Result of a step of any loop, with its groups where the loop forms them (GRPO). */
export interface TrainingStep extends StepResult {
  readonly groups?: readonly Group[]
}

/** Inputs of `runLoop`. */
export interface LoopParts {
  readonly recipe: Recipe
  readonly task: Task
  readonly curriculum: Curriculum
  readonly backend: Backend
  readonly firstStep: number
  readonly events: TrainingEmitter
  readonly signal: AbortSignal | undefined
  /** Called with every training case as it is drawn. */
  readonly onCase: (truth: Case) => void
  readonly afterStep: NonNullable<LoopOptions<TrainingStep>['afterStep']>
}

/** Most tokens the policy can sample in an episode, over all stages of the curriculum. */
const maxEpisodeTokens = ({ backend, curriculum }: LoopParts): number =>
  curriculum.maxTurns * (backend.capabilities.maxMoveTokens ?? 1)

/** Options shared by the loops that roll out the policy (GRPO, PPO). */
const playOptions = (parts: LoopParts, training: GrpoTraining | PpoTraining) => ({
  backend: parts.backend,
  caseAt: (n: number, step: number): Case => {
    const truth = parts.curriculum.caseAt(n, step)
    parts.onCase(truth)
    return truth
  },
  makeEnv: parts.curriculum.makeEnv,
  reward: parts.task.reward,
  accuracy: parts.task.measures.accuracy,
  loss: training.loss,
  normaliser: training.normaliser,
  adam: adamSchedule(training),
  steps: training.steps,
  seed: parts.recipe.seed,
  epochs: training.epochs,
  temperature: training.temperature,
  concurrency: training.concurrency,
  maxTokens: maxEpisodeTokens(parts),
  firstStep: parts.firstStep,
  events: parts.events,
  signal: parts.signal,
  afterStep: parts.afterStep,
})

function runGrpo(parts: LoopParts, training: GrpoTraining): Promise<LoopSummary> {
  const { resampleMost, groupsPerStep, groupSize, maxStaleness } = training
  return trainGrpo({
    ...playOptions(parts, training),
    ...advantageOptions(training),
    ...{ groupsPerStep, groupSize, maxStaleness },
    ...(resampleMost === undefined ? {} : { resample: { most: resampleMost } }),
  })
}

function runPpo(parts: LoopParts, training: PpoTraining): Promise<LoopSummary> {
  const { learningRate, coefficient, range, ...ppo } = training.ppo
  return trainPpo({
    ...playOptions(parts, training),
    ...ppo,
    critic: { adam: { learningRate }, coefficient, range },
  })
}

/** Drops saved episodes of held-out cases, which must not be trained on. */
async function* withoutHeldOut(
  saved: AsyncIterable<SavedEpisode>,
  { heldOut }: Task,
): AsyncGenerator<SavedEpisode> {
  const kept = new Set(heldOut.map(({ id }) => id))
  for await (const one of saved) if (!kept.has(one.episode.caseId)) yield one
}

/**
 * Collects the demonstrations of a recipe from its file or its doctor, filtered by reward where it says so.
 * @throws Fault `bad-input` for a file or a doctor that does not exist
 */
async function collectDemonstrations(
  { recipe: { seed }, task, events, signal }: LoopParts,
  { sft, concurrency }: SftTraining,
): Promise<Demonstrations> {
  const { demonstrations: file, agent, cases, times, minReward, bestOf } = sft
  const chosen = {
    ...(minReward === undefined ? {} : { minReward }),
    ...(bestOf === undefined ? {} : { bestOf }),
  }
  if (file !== undefined) {
    if (!existsSync(file))
      throw new Fault('bad-input', `training.sft.demonstrations: there is no file ${file}`)
    return rejectionSample(withoutHeldOut(readSavedEpisodes(file), task), chosen)
  }
  const make = await resolveAgent(agent, task.agents, 'training.sft.agent')
  const played = await playDemonstrations({
    ...{ agent: make(), agentName: agent, cases: task.train(cases) },
    ...{
      makeEnv: task.makeEnv,
      reward: task.reward,
      times,
      seed,
      concurrency,
      events,
      signal,
    },
  })
  const picky = minReward !== undefined || bestOf !== undefined
  return picky ? rejectionSample(played.kept, chosen) : played
}

async function runSft(parts: LoopParts, training: SftTraining): Promise<LoopSummary> {
  const { recipe, backend, firstStep, events, signal, afterStep } = parts
  const { kept } = await collectDemonstrations(parts, training)
  return trainSft({
    ...{ backend, firstStep, events, signal, afterStep, seed: recipe.seed },
    demonstrations: kept.map(({ episode }) => episode),
    normaliser: training.normaliser,
    maxTokens: maxEpisodeTokens(parts),
    adam: adamSchedule(training),
    steps: training.steps,
    episodesPerStep: training.sft.episodesPerStep,
  })
}

/** Runs the loop that a recipe names. */
export function runLoop(parts: LoopParts): Promise<LoopSummary> {
  const { training } = parts.recipe
  switch (training.algorithm) {
    case 'grpo':
      return runGrpo(parts, training)
    case 'ppo':
      return runPpo(parts, training)
    case 'sft':
      return runSft(parts, training)
  }
}
