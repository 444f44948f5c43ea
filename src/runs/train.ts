/** Runs training from a recipe into a run directory: trained policy, curves and report. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Backend } from '../backend.js'
import { type Case, graderView } from '../case.js'
import { checkOptions } from '../envs/options.js'
import { countSpeech } from '../episode.js'
import { Fault } from '../error.js'
import { assertAnyScored } from '../evaluation/any-scored.js'
import {
  buildEvaluation,
  type Evaluation,
  evaluateReferences,
  type References,
} from '../evaluation/evaluate.js'
import { type PlayedCase, playCases } from '../evaluation/play-cases.js'
import { withoutUndefined } from '../platform/without-undefined.js'
import { readableFolder } from '../storage/atomic-write.js'
import type { SavedEpisode } from '../storage/episode-files.js'
import type { Task } from '../tasks/task.js'
import { type TrainingEmitter, trainingEmitter } from '../trainers/events.js'
import { openBackend } from './backends.js'
import { drawCurves } from './curves.js'
import { lastCheckpoint, readStoredRecipe } from './directory.js'
import { assertSameInputs, hashInputs } from './inputs.js'
import { lockRun } from './lock.js'
import { runLoop, type TrainingStep } from './loops.js'
import { openTrainingModels, type TrainingModels } from './models/training-models.js'
import { openRunDirectory, type RunDirectory } from './open-directory.js'
import { assertPartsGiven, givenParts, type OwnParts } from './own-parts.js'
import { ownPartNames, type Recipe, type RecipeInput, resolveRecipe } from './recipe.js'
import type { TrainingReport } from './report.js'
import { bestEvaluation, hasStalled, lastStep, trainingReport } from './report.js'
import { saveStep } from './step-files.js'
import { type Curriculum, openTask } from './task-of-recipe.js'
import { type TrainOptions, trainRules } from './train-options.js'

export type { TrainingReport } from './report.js'
export type { TrainOptions } from './train-options.js'

/** Result of `train`: the report, and every held-out case played before and after training. */
export interface TrainingResult {
  readonly report: TrainingReport
  readonly before: readonly PlayedCase[]
  readonly after: readonly PlayedCase[]
  readonly task: Task
}

/** State shared by the functions of one run. */
interface TrainingRun {
  readonly recipe: Recipe
  readonly task: Task
  readonly curriculum: Curriculum
  readonly backend: Backend
  readonly directory: RunDirectory
  readonly models: TrainingModels
  readonly events: TrainingEmitter
  readonly signal: AbortSignal | undefined
  readonly references: References
  readonly seconds: () => number
  readonly onStep: TrainOptions['onStep']
}

/** Most consecutive losses of a backend without a new checkpoint in between. */
const maxLosses = 3

/** Trains a run; `late-train.ts` says how. */
export async function train(input: RecipeInput, options: TrainOptions): Promise<TrainingResult> {
  checkOptions('train', options, trainRules)
  if (typeof input === 'string')
    throw new TypeError(
      `Expected a recipe, got \`${input}\`; \`await readRecipe(path)\` reads a file`,
    )
  const { out, events = trainingEmitter(), acceptChanges = false } = options
  const parts = givenParts(options)
  const own = ownPartNames.filter((name) => name in parts)
  const recipe = resolveRecipe(input, Object.keys(parts.agents ?? {}))
  const begun = existsSync(join(out, 'config.yaml')) ? [await readStoredRecipe(out)] : []
  for (const one of [recipe, ...begun])
    assertPartsGiven(one, own, `\`train(recipe, { out: '${out}', … })\``)
  const inputs = [...(await hashInputs(recipe))]
  if (!acceptChanges)
    for (const { inputs: before = [] } of begun) assertSameInputs(out, before, inputs)
  const whole = { ...recipe, ...(own.length === 0 ? {} : { own }), inputs }
  let reached = await lastCheckpoint(out)
  for (let lost = 0; ; ) {
    try {
      return await trainOnce(whole, parts, { ...options, events })
    } catch (error) {
      const done = await lastCheckpoint(out)
      lost = done > reached ? 1 : lost + 1
      reached = done
      if (!Fault.is(error) || error.code !== 'backend-lost' || lost > maxLosses) throw error
      if (typeof parts.backend === 'object') throw error
      events.emit('backend-status', `${error.message}; going on from step ${done} with another`)
    }
  }
}

/** Trains until the run ends or its backend is lost. */
async function trainOnce(
  recipe: Recipe,
  { backend: own, ...parts }: OwnParts,
  { out, events, signal, onStep }: TrainOptions & { readonly events: TrainingEmitter },
): Promise<TrainingResult> {
  const started = performance.now()
  const seconds = () => (performance.now() - started) / 1000
  // Before the directory is made, so that an invalid recipe leaves none behind.
  await using models = await openTrainingModels(recipe, out)
  const agents = { ...models.teachers, ...parts.agents }
  const { task, curriculum } = await openTask(recipe, { ...models.parts, ...parts, agents })
  const onStatus = (line: string) => void events.emit('backend-status', line)
  await using lock = await lockRun(out)
  if (lock.takenOver !== undefined) onStatus(lock.takenOver)
  await using opened = await openBackend(recipe, task, {
    ...withoutUndefined({ backend: own, signal }),
    ...{ folder: out, onStatus },
  })
  const { backend } = opened
  if (recipe.init !== undefined) await backend.load(await readableFolder(recipe.init))
  backend.keepReference?.()
  const directory = await openRunDirectory(out, recipe)
  const references = await evaluateReferences(task, { seed: recipe.seed, signal })
  const run: TrainingRun = {
    ...{ recipe, task, curriculum, backend, directory, models },
    ...{ events, signal, references, seconds, onStep },
  }
  const before = assertAnyScored(await playHeldOut(run, { signal }))
  if (directory.done > 0) await backend.load(directory.checkpoint(directory.done))
  else await scoreHeldOut(run, 0)
  // The run may have been killed before it had saved its best checkpoint.
  if (isBest(directory, directory.done)) await directory.saveBest(backend)
  await runSteps(run)
  // Awaited here: what this function uses is closed when it returns.
  return await finishRun(run, before)
}

/** Evaluates a trained policy, and writes report and curves. */
async function finishRun(run: TrainingRun, before: readonly PlayedCase[]): Promise<TrainingResult> {
  const { recipe, task, backend, directory, signal } = run
  const after = assertAnyScored(await playHeldOut(run, { signal }))
  const step = lastStep(directory, recipe.training.steps)
  await directory.saveEpisodes('held-out', savedEpisodes(after, step))
  const report = trainingReport(recipe, backend, directory, {
    heldOut: summariseHeldOut(run, after),
    before: summariseHeldOut(run, before),
    seconds: run.seconds(),
    usage: run.models.used(),
    notes: [...(backend.capabilities.notes ?? []), ...run.models.notes()],
  })
  await directory.writeReport(report)
  await drawRunCurves(run)
  return { report, before, after, task }
}

/** Plays held-out cases greedily (temperature 0). */
const playHeldOut = (
  { task, backend, recipe, directory }: TrainingRun,
  {
    cases = task.heldOut,
    signal,
  }: { readonly cases?: readonly Case[]; readonly signal?: AbortSignal | undefined },
): Promise<PlayedCase[]> =>
  playCases({
    cases,
    makeEnv: task.makeEnv,
    agent: backend.sampler({ temperature: 0 }),
    agentName: backend.name,
    measures: task.measures,
    seed: recipe.seed,
    concurrency: recipe.training.concurrency,
    runId: directory.runId,
    signal,
  })

/** Evaluation of the held-out cases played, against the run's references. */
const summariseHeldOut = (run: TrainingRun, played: readonly PlayedCase[]): Evaluation => {
  const { task, backend, recipe, references } = run
  return buildEvaluation(played, {
    ...{ agent: backend.name, tier: task.tier, lang: task.language, split: 'heldout' },
    ...{ seed: recipe.seed, references, rewardBounds: task.measures.reward.bounds },
  })
}

/** Evaluates on the selection and logs. Not aborted by the signal: a stopped run has all that follows a step, or none of it. */
async function scoreHeldOut(run: TrainingRun, step: number): Promise<void> {
  const played = await playHeldOut(run, { cases: run.task.selection })
  const { reward, accuracy } = summariseHeldOut(run, played)
  const line = { step, reward: reward.mean, accuracy: accuracy.mean, seconds: run.seconds() }
  await run.directory.log({ type: 'held-out', ...line })
  run.events.emit('held-out-scored', line)
}

/** Runs the training loop, and between steps logs metrics, evaluates, and saves checkpoints and episodes. */
async function runSteps(run: TrainingRun): Promise<void> {
  const { recipe, task, curriculum, backend, directory, events, signal } = run
  // A run that stopped early is not continued.
  if (hasStalled(directory, recipe)) return
  let [finished, kept] = [directory.done, directory.done]
  let version = backend.policyVersion
  const checkpoint = async (step: number) => {
    kept = step
    events.emit('checkpoint-saved', await directory.save(backend, step), step)
    // After the checkpoint of its step, so that the best is always of a step that a resumed run still has.
    if (isBest(directory, step)) await directory.saveBest(backend)
  }
  try {
    await runLoop(recipe.training, {
      ...{ task, curriculum, backend, seed: recipe.seed, events, signal },
      runId: directory.runId,
      firstStep: directory.done + 1,
      begun: groupsBegun(directory),
      afterStep: async (made) => {
        await keepStep(run, made)
        events.emit('models-used', run.models.used())
        ;[finished, version] = [made.step, backend.policyVersion]
        const stops = (await run.onStep?.(made)) === 'stop' || hasStalled(directory, recipe)
        const due = isDue(recipe, made.step, recipe.training.checkpointEvery)
        if (due || stops || isBest(directory, made.step)) await checkpoint(made.step)
        return stops ? 'stop' : undefined
      },
    })
  } catch (error) {
    const stopped = signal?.aborted || (Fault.is(error) && error.code !== 'backend-lost')
    // The step that failed must not have changed the weights.
    if (stopped && finished > kept && backend.policyVersion === version) await checkpoint(finished)
    throw error
  }
}

/** Whether the best evaluation so far is that of `step`. */
const isBest = (directory: RunDirectory, step: number): boolean =>
  bestEvaluation(directory)?.step === step

/** Groups that the run has begun so far, where they are played ahead. */
const groupsBegun = ({ metrics }: RunDirectory): number | undefined =>
  metrics.findLast((line) => line.type === 'step')?.groups.begun

/** Whether an action that is due every `every` steps, and after the last step, is due after `step`. */
const isDue = ({ training }: Recipe, step: number, every: number): boolean =>
  step === training.steps || step % every === 0

/** Logs a step; when due, evaluates the policy and saves the step's episodes. */
async function keepStep(run: TrainingRun, made: TrainingStep): Promise<void> {
  const { recipe, directory } = run
  const { training } = recipe
  const { step, metrics } = made
  const { groups, episodes = groups?.flatMap((group) => group.episodes) ?? [] } = made
  const patient = countSpeech(episodes)
  await directory.log({ type: 'step', ...metrics, ...(patient ? { patient } : {}) })
  if (isDue(recipe, step, training.evaluateEvery)) await scoreHeldOut(run, step)
  // Fine-tuning plays nothing.
  if (training.algorithm !== 'sft' && isDue(recipe, step, training.episodesEvery))
    await saveStep(directory, made)
}

function* savedEpisodes(played: readonly PlayedCase[], step: number): Generator<SavedEpisode> {
  for (const { episode, truth, scores } of played)
    if (episode && scores) yield { episode, truth: graderView(truth), score: scores.reward, step }
}

const drawRunCurves = ({ recipe, task, directory, references }: TrainingRun) =>
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
