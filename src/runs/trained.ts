/** A training run as an agent: its recipe, its checkpoint, its policy. */
import { existsSync, statSync } from 'node:fs'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import { Fault, rethrowAsFault } from '../error.js'
import { readableFolder } from '../storage/atomic-write.js'
import type { Task } from '../tasks/task.js'
import { type OpenedBackend, openBackend } from './backends.js'
import { checkpointName, lastCheckpoint, recipeOfRun } from './directory.js'
import { isJobBackend } from './jobs/cluster.js'
import { assertPartsGiven } from './own-parts.js'
import { type OwnPartName, ownPartNames, parseRecipe, type Recipe } from './recipe.js'
import { type PartKey, partKeys } from './recipe-paths.js'
import { Policy } from './recipe-policy.js'

/** A training run's folder and the checkpoint in it that an agent's name means. */
export interface Trained {
  readonly run: string
  readonly checkpoint: string
}

export async function trainedAt(path: string): Promise<Trained | undefined> {
  const isCheckpoint = /^(step-\d+|best)$/.test(basename(path))
  const place = isCheckpoint ? await readableFolder(path) : path
  if (!statSync(place, { throwIfNoEntry: false })?.isDirectory()) return undefined
  if (isCheckpoint) return { run: dirname(dirname(path)), checkpoint: place }
  const step = await lastCheckpoint(path)
  if (step > 0) return { run: path, checkpoint: join(path, 'checkpoints', checkpointName(step)) }
  throw new Fault(
    'bad-checkpoint',
    `--agent ${path}: expected a run directory with checkpoints, or one of its checkpoints/step-… folders; found neither`,
  )
}

/** The flags that lay over a run's recipe, as far as they replace parts of it. */
interface BaseFlags {
  readonly agent: string
  readonly patient?: string
  readonly exams?: readonly string[]
  readonly reward?: string
  readonly trust?: boolean
}

/**
 * The recipe that flags lay over: a checkpoint's own, or the default one.
 * @throws Fault `bad-input` where the run's recipe names a module that no flag replaces, without `--trust`
 */
export async function baseRecipe({
  agent,
  patient,
  exams,
  reward,
  trust = false,
}: BaseFlags): Promise<Recipe> {
  const trained = await trainedAt(agent)
  if (!trained) return parseRecipe('', 'the default recipe')
  const replaced: readonly (OwnPartName | PartKey)[] = [
    // Nobody is taught here.
    ...(['agents', 'training.sft.agent'] as const),
    ...(patient === undefined ? [] : (['patient', 'env.patient'] as const)),
    ...(exams === undefined ? [] : (['exams', 'env.exams'] as const)),
    ...(reward === undefined ? [] : (['reward'] as const)),
  ]
  const keys = partKeys.filter((key) => !replaced.includes(key))
  const recipe = await recipeOfRun(trained.run, { trust, keys })
  const hint = 'in a program, or of patient, exams and reward another by its flag'
  assertPartsGiven(
    recipe,
    ownPartNames.filter((part) => replaced.includes(part)),
    hint,
  )
  return recipe
}

/** What marks a run by a job as done, in its checkpoint. */
const JobMark = z.looseObject({ model: z.string().nullable(), trainer: z.string() })

/**
 * The recipe by which the sidecar serves what a job has trained: the model folder that its trainer left.
 * @throws Fault `bad-checkpoint` where the trainer left none
 */
async function servedRecipe(checkpoint: string, recipe: Recipe): Promise<Recipe> {
  const path = join(checkpoint, 'job.json')
  const { model, trainer } = await rethrowAsFault('bad-checkpoint', path, async () =>
    JobMark.parse(JSON.parse(await readFile(path, 'utf8'))),
  )
  if (model === null || !existsSync(join(model, 'config.json')))
    throw new Fault(
      'bad-checkpoint',
      `${checkpoint}: expected a model folder that its trainer has left, got ${model ?? 'none'}; what it has kept is in ${trainer}`,
    )
  const { cluster: _, policy, ...rest } = recipe
  return { ...rest, backend: 'sidecar', policy: { ...Policy.parse({}), ...policy, model } }
}

/** A training run's policy, as it was at its checkpoint; a server started for it says so on stderr. */
export async function openTrained(
  { checkpoint }: Trained,
  recipe: Recipe,
  task: Task,
): Promise<OpenedBackend> {
  if (isJobBackend(recipe.backend)) {
    const served = await servedRecipe(checkpoint, recipe)
    const folder = await mkdtemp(join(tmpdir(), 'bedside-'))
    const onStatus = (line: string) => void process.stderr.write(`${line}\n`)
    return openBackend(served, task, { folder, onStatus })
  }
  // A server's files; other backends have none.
  const folder = recipe.backend === 'sidecar' ? await mkdtemp(join(tmpdir(), 'bedside-')) : ''
  const tell = (line: string) => void process.stderr.write(`${line}\n`)
  const opened = await openBackend(recipe, task, { folder, onStatus: tell })
  try {
    await opened.backend.load(checkpoint)
    return opened
  } catch (error) {
    // A server that goes on would keep this process from ending.
    await opened[Symbol.asyncDispose]()
    throw error
  }
}
