/** A training run: a recipe and a directory in; a trained policy, its curves and its report out. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Backend } from '../backend.js'
import type { GraderView } from '../case.js'
import { graderView } from '../case.js'
import { Fault } from '../error.js'
import type { PlayedCase } from '../evaluation/play-cases.js'
import { playCases } from '../evaluation/play-cases.js'
import type { Evaluation, Labels, Reference } from '../evaluation/report.js'
import { evaluationOf, referencesOf } from '../evaluation/report.js'
import type { Group } from '../group.js'
import type { SavedEpisode } from '../storage/episode-files.js'
import type { Task } from '../tasks/task.js'
import type { TrainingEmitter } from '../trainers/events.js'
import { trainingEmitter } from '../trainers/events.js'
import { episodeTrajectories } from '../trainers/trajectories/trajectory.js'
import { trajectoryWriter } from '../trainers/trajectories/writer.js'
import { openBackend } from './backends.js'
import { drawCurves } from './curves.js'
import type { RunDirectory } from './directory.js'
import { checkpointName, lastCheckpoint, openRunDirectory } from './directory.js'
import type { Course } from './loop-options.js'
import { courseOf } from './loop-options.js'
import type { LoopParts, TrainingStep } from './loops.js'
import { runLoop } from './loops.js'
import type { OwnParts } from './own-parts.js'
import { assertParts, ofItsCase, taskPartsOf, withOwn } from './own-parts.js'
import type { Recipe, RecipeInput } from './recipe.js'
import { resolveRecipe } from './recipe.js'
import type { TrainingReport } from './report.js'
import { bestOf, hasStalled, lastStep, reportOf } from './report.js'
import { taskOf } from './task-of-recipe.js'

export type { TrainingReport } from './report.js'

/** Where a run is kept, who follows it, and what it is given in place of what its recipe names. */
export interface TrainOptions extends OwnParts {
  /** The run directory; made if missing, and refused if it holds another recipe's run. */
  readonly out: string
  /** Called after each step with what it made; `'stop'` ends the run there, and it can be gone on with. */
  readonly onStep?: LoopParts['afterStep']
  readonly events?: TrainingEmitter
  readonly signal?: AbortSignal | undefined
}

/** What `train` gives back: the report, and every held-out case played before and after. */
export interface TrainingResult {
  readonly report: TrainingReport
  readonly before: readonly PlayedCase[]
  readonly after: readonly PlayedCase[]
  readonly task: Task
}

/** Everything the parts of one run share. */
interface TrainingRun {
  readonly recipe: Recipe
  readonly task: Task
  readonly course: Course
  readonly backend: Backend
  readonly directory: RunDirectory
  readonly events: TrainingEmitter
  readonly signal: AbortSignal | undefined
  readonly references: Reference
  readonly seconds: () => number
  readonly onStep: TrainOptions['onStep']
}

/** How often in a row a backend may be lost with no new checkpoint in between. */
const patience = 3

/**
 * Trains, or goes on with, the run in `out`; a stopped run keeps its finished steps. What the options give wins over
 * the recipe, whose missing keys have defaults. Where the process that holds the weights dies, another is started and
 * goes on from the last checkpoint; a backend that was given open cannot be.
 * @throws Fault `bad-input` for a recipe that cannot be run, and for a run whose own parts are not given again
 */
export async function train(input: RecipeInput, options: TrainOptions): Promise<TrainingResult> {
  const recipe = resolveRecipe(input)
  const { out, events = trainingEmitter() } = options
  await assertParts(recipe, out, options)
  let reached = await lastCheckpoint(out)
  for (let lost = 0; ; ) {
    try {
      return await trainOnce(withOwn(recipe, options), { ...options, events })
    } catch (error) {
      const done = await lastCheckpoint(out)
      lost = done > reached ? 1 : lost + 1
      reached = done
      if (!Fault.is(error) || error.code !== 'backend-lost' || lost > patience) throw error
      if (typeof options.backend === 'object') throw error
      events.emit('backend-status', `${error.message}; going on from step ${done} with another`)
    }
  }
}

/** Where a run evaluates and trains, with a program's parts in both. */
async function placesOf(
  recipe: Recipe,
  { env, ...options }: OwnParts,
): Promise<{ readonly task: Task; readonly course: Course }> {
  const parts = taskPartsOf(options)
  const made = await taskOf(recipe, parts)
  const task = env ? { ...made, makeEnv: () => ofItsCase(env()) } : made
  return { task, course: await courseOf(recipe, task, { ...parts, ...(env ? { env } : {}) }) }
}

async function trainOnce(
  recipe: Recipe,
  options: TrainOptions & Required<Pick<TrainOptions, 'events'>>,
): Promise<TrainingResult> {
  const { out, events, signal, onStep, backend: own } = options
  const started = performance.now()
  const seconds = () => (performance.now() - started) / 1000
  // First, so that a recipe of which nothing can be made leaves no directory behind.
  const { task, course } = await placesOf(recipe, options)
  await using opened = await openBackend(recipe, task, {
    ...(own === undefined ? {} : { backend: own }),
    folder: out,
    signal,
    tell: (line) => events.emit('backend-status', line),
  })
  const { backend } = opened
  if (recipe.init !== undefined) await backend.load(recipe.init)
  backend.keepReference?.()
  const directory = await openRunDirectory(out, recipe)
  const references = await referencesOf(task, { seed: recipe.seed, signal })
  const run: TrainingRun = {
    ...{ recipe, task, course, backend, directory, events, signal, references, seconds, onStep },
  }
  const before = await playHeldOut(run, { signal })
  if (directory.done > 0) await backend.load(directory.checkpoint(directory.done))
  else await scoreHeldOut(run, 0)
  await runSteps(run)
  const after = await playHeldOut(run, { signal })
  await directory.saveEpisodes('held-out', saved(after, lastStep(directory, recipe)))
  const report = reportOf({
    ...{ recipe, backend, directory, seconds },
    heldOut: evaluationIn(run, after),
    before: evaluationIn(run, before),
  })
  await directory.writeReport(report)
  await drawRun(run)
  return { report, before, after, task }
}

/** Plays held-out cases with the likeliest moves. */
const playHeldOut = (
  { task, backend, recipe }: TrainingRun,
  { count, signal }: { readonly count?: number; readonly signal?: AbortSignal | undefined },
): Promise<PlayedCase[]> =>
  playCases({
    cases: task.heldOut.slice(0, count),
    makeEnv: task.makeEnv,
    agent: backend.sampler({ temperature: 0 }),
    agentName: backend.name,
    measures: task.measures,
    seed: recipe.seed,
    signal,
  })

const evaluationIn = (run: TrainingRun, played: readonly PlayedCase[]): Evaluation => {
  const { task, backend, recipe, references } = run
  const labels: Labels = {
    agent: backend.name,
    tier: task.tier,
    lang: task.language,
    split: 'heldout',
    seed: recipe.seed,
  }
  return evaluationOf(played, {
    ...labels,
    references,
    rewardBounds: task.measures.reward.bounds,
  })
}

/** Not until the signal: what follows a step is part of it, so that a stopped run has it whole or not at all. */
async function scoreHeldOut(run: TrainingRun, step: number): Promise<void> {
  const played = await playHeldOut(run, { count: run.recipe.training.evaluateCases })
  const { reward, accuracy } = evaluationIn(run, played)
  const line = { step, reward: reward.mean, accuracy: accuracy.mean, seconds: run.seconds() }
  const before = bestOf(run.directory)
  await run.directory.log({ type: 'held-out', ...line })
  if ((line.accuracy ?? -1) > (before?.accuracy ?? -1)) await run.directory.saveBest(run.backend)
  run.events.emit('held-out-scored', line)
}

/** The loop with everything that happens between steps: metrics, evaluations, checkpoints, episodes. */
async function runSteps(run: TrainingRun): Promise<void> {
  const { recipe, task, course, backend, directory, events, signal } = run
  // A run that had stopped early does not begin again.
  if (hasStalled(directory, recipe)) return
  const truths = new Map<string, GraderView>()
  let finished = directory.done
  let kept = finished
  const checkpoint = async (step: number) => {
    events.emit('checkpoint-saved', await directory.save(backend, step), step)
    kept = step
  }
  try {
    await runLoop({
      ...{ recipe, task, course, backend, events, signal, firstStep: directory.done + 1 },
      drawn: (truth) => truths.set(truth.id, graderView(truth)),
      afterStep: async (made) => {
        await keepStep(run, made, truths)
        truths.clear()
        finished = made.step
        const stops = (await run.onStep?.(made)) === 'stop' || hasStalled(directory, recipe)
        if (isDue(recipe, made.step, recipe.training.checkpointEvery) || stops)
          await checkpoint(made.step)
        return stops ? 'stop' : undefined
      },
    })
  } catch (error) {
    // A step that was stopped has not touched the weights.
    if (signal?.aborted && finished > kept) await checkpoint(finished)
    throw error
  }
}

/** Whether something that happens every so many steps, and after the last, happens after this one. */
const isDue = ({ training }: Recipe, step: number, every: number): boolean =>
  step === training.steps || step % every === 0

/** Logs a step, and where they are due evaluates it and saves its groups. */
async function keepStep(
  run: TrainingRun,
  { step, metrics, groups = [] }: TrainingStep,
  truths: ReadonlyMap<string, GraderView>,
): Promise<void> {
  const { recipe, directory } = run
  const { training } = recipe
  await directory.log({ type: 'step', ...metrics })
  if (isDue(recipe, step, training.evaluateEvery)) await scoreHeldOut(run, step)
  // Only GRPO forms groups.
  if (training.algorithm !== 'grpo' || !isDue(recipe, step, training.episodesEvery)) return
  if (groups.length === 0) return
  await directory.saveEpisodes(checkpointName(step), savedGroups(groups, truths, step))
  await saveTrajectories(join(directory.path, 'trajectories'), groups, step)
}

/** The tokens of a step's groups, with what they were taught by. */
async function saveTrajectories(
  folder: string,
  groups: readonly Group[],
  step: number,
): Promise<void> {
  await mkdir(folder, { recursive: true })
  await using writer = trajectoryWriter(join(folder, `${checkpointName(step)}.parquet`))
  for (const { id, episodes, scores, advantages } of groups)
    for (const [i, episode] of episodes.entries())
      await writer.append(
        episodeTrajectories(episode, {
          ...{ groupId: id, advantage: advantages[i] ?? 0, step },
          ...(scores[i] ? { score: scores[i] } : {}),
        }),
      )
  await writer.close()
}

function* saved(played: readonly PlayedCase[], step: number): Generator<SavedEpisode> {
  for (const { episode, truth, scores } of played)
    if (episode && scores) yield { episode, truth: graderView(truth), score: scores.reward, step }
}

function* savedGroups(
  groups: readonly Group[],
  truths: ReadonlyMap<string, GraderView>,
  step: number,
): Generator<SavedEpisode> {
  for (const { id, caseId, episodes, scores } of groups)
    for (const [i, episode] of episodes.entries()) {
      const truth = truths.get(caseId)
      const score = scores[i]
      if (truth && score) yield { episode, truth, score, group: id, step }
    }
}

const drawRun = ({ recipe, task, directory, references }: TrainingRun) =>
  drawCurves(
    {
      steps: directory.metrics.filter((line) => line.type === 'step'),
      heldOut: directory.metrics.filter((line) => line.type === 'held-out'),
    },
    {
      floor: { name: 'random', ...references.floor },
      ceiling: { name: task.ceiling.name, ...references.ceiling },
      title: `${recipe.recipe}, seed ${recipe.seed}`,
      out: directory.path,
    },
  )
