/**
 * A training run: a recipe and a run directory in, a trained policy, its curves and its report out.
 *
 * The directory holds `config.yaml`, `metrics.jsonl`, `episodes/`, `checkpoints/`, `curves.png`, `curves.svg`
 * and `report.json`. A run that stopped goes on from its last checkpoint to the same weights.
 */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import type { Backend } from './backend.js'
import type { Loss } from './batch.js'
import { graderView } from './case.js'
import type { SavedEpisode } from './episode-file.js'
import { episodeWriter } from './episode-file.js'
import { Fault } from './error.js'
import type { Played } from './evaluate.js'
import { play } from './evaluate.js'
import type { Evaluation, Reference } from './evaluation.js'
import { evaluationOf, referencesOf } from './evaluation.js'
import type { HeldOutMetrics, StepMetrics, TrainingEmitter } from './event.js'
import { trainingEmitter } from './event.js'
import type { Group } from './group.js'
import type { Recipe } from './recipe.js'
import { parseRecipe } from './recipe.js'
import type { Setting } from './registry.js'
import { settingOf } from './registry.js'
import { advantageEstimators } from './trainers/advantages.js'
import { drawCurves } from './trainers/curves.js'
import { embedded } from './trainers/embedded/embedded.js'
import { trainGrpo } from './trainers/grpo.js'

export interface TrainOptions {
  /** The run directory; made if missing, and refused if it holds another run. */
  readonly out: string
  readonly events?: TrainingEmitter
  readonly signal?: AbortSignal | undefined
}

export interface TrainingReport {
  readonly backend: string
  readonly recipe: string
  readonly seed: number
  readonly steps: number
  readonly policyVersion: number
  readonly heldOut: Evaluation
  readonly before: Evaluation
  readonly groups: {
    readonly formed: number
    readonly zeroVariance: number
    readonly dropped: number
  }
  readonly samples: {
    readonly used: number
    readonly stale: number
    readonly unavailable: number
    readonly forks: number
  }
  readonly checkpoint: string
  readonly timing: { readonly seconds: number }
}

/** What `train` gives back: the report, and one case played before and after. */
export interface TrainingResult {
  readonly report: TrainingReport
  readonly before: readonly Played[]
  readonly after: readonly Played[]
  readonly setting: Setting
}

/** One line of `metrics.jsonl`. */
type MetricsLine =
  | ({ readonly type: 'step' } & StepMetrics)
  | ({ readonly type: 'held-out' } & HeldOutMetrics)

/** The folder of a run's checkpoint after `step`, under `checkpoints/`. */
export const checkpointName = (step: number): string => `step-${String(step).padStart(6, '0')}`

/** Writes beside its place, then renames. */
async function writeWhole(path: string, text: string): Promise<void> {
  await writeFile(`${path}.tmp`, text)
  await rename(`${path}.tmp`, path)
}

/** The newest checkpoint of a run, by its step; step 0 when there is none. */
export async function lastCheckpoint(out: string): Promise<number> {
  const names = await readdir(join(out, 'checkpoints')).catch(() => [])
  return Math.max(0, ...names.flatMap((name) => Number(/^step-(\d+)$/.exec(name)?.[1] ?? [])))
}

async function readMetrics(out: string): Promise<MetricsLine[]> {
  const text = await readFile(join(out, 'metrics.jsonl'), 'utf8').catch(() => '')
  return text.split('\n').flatMap((line) => {
    try {
      return line ? [JSON.parse(line) as MetricsLine] : [] // written by this file
    } catch {
      return [] // a line that was being written when the run was killed
    }
  })
}

const lossOf = ({ loss }: Recipe['training']): Loss =>
  loss.kind === 'ppo-clip'
    ? { kind: 'ppo-clip', low: loss.low, high: loss.high, entropy: loss.entropy }
    : { kind: 'policy-gradient', entropy: loss.entropy }

/** Reads a run directory's recipe. @throws Fault `bad-input` when it is not one */
export async function recipeOfRun(out: string): Promise<Recipe> {
  const path = join(out, 'config.yaml')
  const text = await readFile(path, 'utf8').catch(() => {
    throw new Fault(
      'bad-input',
      `--resume ${out}: expected a run directory with config.yaml, found none`,
    )
  })
  return parseRecipe(text, path)
}

async function openRun(recipe: Recipe, out: string): Promise<number> {
  const text = stringify(recipe)
  const there = await readFile(join(out, 'config.yaml'), 'utf8').catch(() => undefined)
  if (there !== undefined && there !== text)
    throw new Fault(
      'bad-input',
      `--out ${out}: the directory holds a run of another recipe; choose another, or go on with --resume ${out}`,
    )
  await mkdir(join(out, 'checkpoints'), { recursive: true })
  await mkdir(join(out, 'episodes'), { recursive: true })
  if (there === undefined) await writeWhole(join(out, 'config.yaml'), text)
  return lastCheckpoint(out)
}

/** Trains, or goes on with, the run in `out`. */
export async function train(
  recipe: Recipe,
  { out, events = trainingEmitter(), signal }: TrainOptions,
): Promise<TrainingResult> {
  const started = performance.now()
  // First, so that a recipe of which nothing can be made leaves no directory behind.
  const world = await settingOf(recipe)
  const done = await openRun(recipe, out)
  await using backend = embedded({ vocabulary: world.vocabulary })
  const playHeldOut = ({ count, until }: { count?: number; until?: AbortSignal | undefined }) =>
    play({
      cases: world.heldOut.slice(0, count),
      makeEnv: world.makeEnv,
      agent: backend.sampler({ temperature: 0 }),
      agentName: backend.name,
      measures: world.measures,
      seed: recipe.seed,
      signal: until,
    })
  const references = await referencesOf(world, { seed: recipe.seed, signal })
  const before = await playHeldOut({ until: signal })
  if (done > 0) await backend.load(join(out, 'checkpoints', checkpointName(done)))
  const metrics = done > 0 ? (await readMetrics(out)).filter(({ step }) => step <= done) : []
  const log = async (line: MetricsLine) => {
    metrics.push(line)
    await writeFile(join(out, 'metrics.jsonl'), `${JSON.stringify(line)}\n`, { flag: 'a' })
  }
  await writeWhole(
    join(out, 'metrics.jsonl'),
    metrics.map((line) => `${JSON.stringify(line)}\n`).join(''),
  )

  const score = async (step: number) => {
    // Not until the signal: what follows a step is part of it, so that a stopped run has it whole or not at all.
    const summary = evaluationOf(await playHeldOut({ count: recipe.training.evaluateCases }), {
      ...labels(recipe, world, backend.name),
      references,
    })
    const line: HeldOutMetrics = {
      step,
      reward: summary.reward.mean ?? 0,
      accuracy: summary.accuracy.mean ?? 0,
      seconds: (performance.now() - started) / 1000,
    }
    await log({ type: 'held-out', ...line })
    events.emit('held-out-scored', line)
  }
  if (done === 0) await score(0)
  await runSteps({ recipe, world, backend, out, events, signal, firstStep: done + 1, log, score })

  const after = await playHeldOut({ until: signal })
  await saveEpisodes(join(out, 'episodes', 'held-out.parquet'), after, recipe.training.steps)
  const steps = metrics.filter((line) => line.type === 'step')
  const sum = (of: (line: StepMetrics) => number): number =>
    steps.reduce((total, line) => total + of(line), 0)
  const evaluate = (played: readonly Played[]) =>
    evaluationOf(played, { ...labels(recipe, world, backend.name), references })
  const report: TrainingReport = {
    backend: backend.name,
    recipe: recipe.recipe,
    seed: recipe.seed,
    steps: recipe.training.steps,
    policyVersion: backend.policyVersion,
    heldOut: evaluate(after),
    before: evaluate(before),
    groups: {
      formed: sum(({ groups }) => groups.formed),
      zeroVariance: sum(({ groups }) => groups.zeroVariance),
      dropped: sum(({ groups }) => groups.dropped),
    },
    samples: {
      used: sum(({ samples }) => samples.used),
      stale: sum(({ samples }) => samples.stale),
      unavailable: sum(({ samples }) => samples.unavailable),
      forks: sum(({ samples }) => samples.forks),
    },
    checkpoint: join(out, 'checkpoints', checkpointName(recipe.training.steps)),
    timing: { seconds: (performance.now() - started) / 1000 },
  }
  await writeWhole(join(out, 'report.json'), `${JSON.stringify(report, null, 2)}\n`)
  await drawCurves(
    {
      steps: steps.map(({ step, reward }) => ({ step, reward })),
      heldOut: metrics.filter((line) => line.type === 'held-out'),
    },
    {
      floor: { name: 'random', ...references.floor },
      ceiling: { name: world.ceiling.name, ...references.ceiling },
      title: `${recipe.recipe}, seed ${recipe.seed}`,
      out,
    },
  )
  return { report, before, after, setting: world }
}

const labels = (recipe: Recipe, world: Setting, agent: string) => ({
  agent,
  tier: world.tier,
  lang: world.language,
  split: 'heldout' as const,
  seed: recipe.seed,
})

async function saveEpisodes(path: string, played: readonly Played[], step: number): Promise<void> {
  const writer = episodeWriter(path)
  for (const { episode, truth, scores } of played)
    if (episode && scores)
      await writer.write({ episode, truth: graderView(truth), score: scores.reward, step })
  await writer.close()
}

interface Steps {
  readonly recipe: Recipe
  readonly world: Setting
  readonly backend: Backend
  readonly out: string
  readonly events: TrainingEmitter
  readonly signal: AbortSignal | undefined
  readonly firstStep: number
  readonly log: (line: MetricsLine) => Promise<void>
  readonly score: (step: number) => Promise<void>
}

/** The loop with everything that happens between steps: metrics, evaluations, checkpoints, episodes. */
async function runSteps({
  recipe,
  world,
  backend,
  out,
  events,
  signal,
  firstStep,
  log,
  score,
}: Steps) {
  const { training } = recipe
  const truths = new Map<string, SavedEpisode['truth']>()
  let groups: Group[] = []
  let latest: StepMetrics | undefined
  let finished = firstStep - 1
  let saved = finished
  const keepGroup = (group: Group) => groups.push(group)
  const keepMetrics = (metrics: StepMetrics) => {
    latest = metrics
  }
  events.on('group-formed', keepGroup)
  events.on('step-end', keepMetrics)
  try {
    await trainGrpo({
      backend,
      caseAt: (n) => {
        const truth = world.caseAt(n)
        truths.set(truth.id, graderView(truth))
        return truth
      },
      makeEnv: world.makeEnv,
      reward: world.reward,
      accuracy: world.measures.accuracy,
      estimator: advantageEstimators[training.advantages],
      loss: lossOf(training),
      normaliser: training.normaliser,
      adam: {
        learningRate: training.adam.learningRate,
        beta1: training.adam.beta1,
        beta2: training.adam.beta2,
        ...(training.adam.maxGradNorm === undefined
          ? {}
          : { maxGradNorm: training.adam.maxGradNorm }),
      },
      steps: training.steps,
      firstStep,
      seed: recipe.seed,
      groupsPerStep: training.groupsPerStep,
      groupSize: training.groupSize,
      epochs: training.epochs,
      temperature: training.temperature,
      concurrency: training.concurrency,
      maxTokens: recipe.env.maxTurns ?? 10,
      events,
      signal,
      afterStep: async (step) => {
        const last = step === training.steps
        if (latest) await log({ type: 'step', ...latest })
        if (last || step % training.evaluateEvery === 0) await score(step)
        if (last || step % training.episodesEvery === 0)
          await saveGroups(
            join(out, 'episodes', `${checkpointName(step)}.parquet`),
            groups,
            truths,
            step,
          )
        if (last || step % training.checkpointEvery === 0) {
          await saveCheckpoint(backend, out, step, events)
          saved = step
        }
        finished = step
        groups = []
        truths.clear()
      },
    })
  } catch (error) {
    // A step that was stopped has not touched the weights.
    if (signal?.aborted && finished > saved) await saveCheckpoint(backend, out, finished, events)
    throw error
  } finally {
    events.off('group-formed', keepGroup)
    events.off('step-end', keepMetrics)
  }
}

async function saveGroups(
  path: string,
  groups: readonly Group[],
  truths: ReadonlyMap<string, SavedEpisode['truth']>,
  step: number,
): Promise<void> {
  const writer = episodeWriter(path)
  for (const group of groups)
    for (const [i, episode] of group.episodes.entries()) {
      const truth = truths.get(group.caseId)
      const score = group.scores[i]
      if (truth && score) await writer.write({ episode, truth, score, group: group.id, step })
    }
  await writer.close()
}

/** Saves the new checkpoint first and only then removes the older ones. */
async function saveCheckpoint(
  backend: Backend,
  out: string,
  step: number,
  events: TrainingEmitter,
): Promise<void> {
  const folder = join(out, 'checkpoints', checkpointName(step))
  await backend.save(folder)
  for (const name of await readdir(join(out, 'checkpoints')))
    if (name !== checkpointName(step))
      await rm(join(out, 'checkpoints', name), { recursive: true, force: true })
  events.emit('checkpoint-saved', folder, step)
}

export type { Reference }
