/** The three loops, each set up as a recipe asks: GRPO, PPO, supervised fine-tuning. */
import { existsSync } from 'node:fs'
import type { Backend } from '../backend.js'
import type { Case } from '../case.js'
import { Fault } from '../error.js'
import type { SavedEpisode } from '../storage/episode-files.js'
import { readSaved } from '../storage/episode-files.js'
import type { Task } from '../tasks/task.js'
import type { TrainingEmitter } from '../trainers/events.js'
import type { GrpoOptions } from '../trainers/loops/grpo.js'
import { trainGrpo } from '../trainers/loops/grpo.js'
import { trainPpo } from '../trainers/loops/ppo.js'
import { trainSft } from '../trainers/loops/sft.js'
import type { Demonstrations } from '../trainers/rollouts/demonstrations.js'
import { fromAgent, rejectionSampled } from '../trainers/rollouts/demonstrations.js'
import type { Course } from './loop-options.js'
import { adamOf, estimatorOf, lossOf } from './loop-options.js'
import type { Recipe } from './recipe.js'

/** What a loop is run with. */
export interface LoopParts {
  readonly recipe: Recipe
  readonly task: Task
  readonly course: Course
  readonly backend: Backend
  readonly firstStep: number
  readonly events: TrainingEmitter
  readonly signal: AbortSignal | undefined
  /** Is told of every training case as it is drawn. */
  readonly drawn: (truth: Case) => void
  readonly afterStep: NonNullable<GrpoOptions['afterStep']>
}

/** The most tokens an episode can draw: a turn of the embedded policy is one. */
const mostTokens = ({ backend, policy }: Recipe, { maxTurns }: Course): number =>
  maxTurns * (backend === 'embedded' ? 1 : policy.maxTokens)

/** What every loop that plays is told. */
const playing = ({ recipe, task, course, backend, drawn, ...parts }: LoopParts) => ({
  backend,
  caseAt: (n: number, step: number): Case => {
    const truth = course.caseAt(n, step)
    drawn(truth)
    return truth
  },
  makeEnv: course.makeEnv,
  reward: task.reward,
  accuracy: task.measures.accuracy,
  loss: lossOf(recipe.training),
  normaliser: recipe.training.normaliser,
  adam: adamOf(recipe.training),
  steps: recipe.training.steps,
  seed: recipe.seed,
  epochs: recipe.training.epochs,
  temperature: recipe.training.temperature,
  concurrency: recipe.training.concurrency,
  maxTokens: mostTokens(recipe, course),
  firstStep: parts.firstStep,
  events: parts.events,
  signal: parts.signal,
  afterStep: parts.afterStep,
})

function runGrpo(parts: LoopParts): Promise<void> {
  const { training } = parts.recipe
  const { resampleMost, groupsPerStep, groupSize, maxStaleness } = training
  return trainGrpo({
    ...playing(parts),
    ...estimatorOf(training),
    ...{ groupsPerStep, groupSize, maxStaleness },
    ...(resampleMost === undefined ? {} : { resample: { most: resampleMost } }),
  })
}

function runPpo(parts: LoopParts): Promise<void> {
  const { learningRate, coefficient, range, rewardKl, ...ppo } = parts.recipe.training.ppo
  return trainPpo({
    ...playing(parts),
    ...ppo,
    ...(rewardKl ? { rewardKl } : {}),
    critic: { adam: { learningRate }, coefficient, range },
  })
}

/** Saved episodes but for those of held-out cases, which nobody may learn from. */
async function* unseen(
  saved: AsyncIterable<SavedEpisode>,
  { heldOut }: Task,
): AsyncGenerator<SavedEpisode> {
  const kept = new Set(heldOut.map(({ id }) => id))
  for await (const one of saved) if (!kept.has(one.episode.caseId)) yield one
}

/**
 * The demonstrations of a recipe, from its file or its doctor, chosen by reward where it says so.
 * @throws Fault `bad-input` for a file or a doctor there is not
 */
async function demonstrationsOf({
  recipe: {
    seed,
    training: { sft, concurrency },
  },
  task,
  events,
  signal,
}: LoopParts): Promise<Demonstrations> {
  const { demonstrations: file, agent, cases, times, minReward, bestOf } = sft
  const chosen = {
    ...(minReward === undefined ? {} : { minReward }),
    ...(bestOf === undefined ? {} : { bestOf }),
  }
  if (file !== undefined) {
    if (!existsSync(file))
      throw new Fault('bad-input', `training.sft.demonstrations: there is no file ${file}`)
    return rejectionSampled(unseen(readSaved(file), task), chosen)
  }
  const make = task.agents[agent]
  if (!make)
    throw new Fault(
      'bad-input',
      `training.sft.agent: expected one of ${Object.keys(task.agents).join(', ')}, got \`${agent}\``,
    )
  const played = await fromAgent({
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
  return picky ? rejectionSampled(played.kept, chosen) : played
}

async function runSft(parts: LoopParts): Promise<void> {
  const { recipe, backend, course, firstStep, events, signal, afterStep } = parts
  const { kept } = await demonstrationsOf(parts)
  await trainSft({
    ...{ backend, firstStep, events, signal, afterStep, seed: recipe.seed },
    demonstrations: kept.map(({ episode }) => episode),
    normaliser: recipe.training.normaliser,
    maxTokens: mostTokens(recipe, course),
    adam: adamOf(recipe.training),
    steps: recipe.training.steps,
    episodesPerStep: recipe.training.sft.episodesPerStep,
  })
}

/** Runs the loop that a recipe names. */
export const runLoop = (parts: LoopParts): Promise<void> =>
  ({ grpo: runGrpo, ppo: runPpo, sft: runSft })[parts.recipe.training.algorithm](parts)
