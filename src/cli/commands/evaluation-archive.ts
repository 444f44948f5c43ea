/** Folder of an evaluation: plan, finished episodes, token usage and report. A stopped evaluation can resume. */
import { mkdir, open, readFile, rm, rmdir, truncate } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { parse, stringify } from 'yaml'
import { z } from 'zod'
import { type Case, graderView } from '../../case.js'
import { addUsageByRole, type UsageByRole } from '../../chats/account.js'
import { Fault, rethrowAsFault } from '../../error.js'
import { type Measures, type PlayedCase, repeatOf } from '../../evaluation/play-cases.js'
import { scoreEpisode } from '../../reward.js'
import { lockRun, type RunLock } from '../../runs/lock.js'
import { readUsage, writeUsage } from '../../runs/models/usage-file.js'
import { assertTrustedModules, recipeModules } from '../../runs/own-parts.js'
import { StoredRecipe } from '../../runs/recipe.js'
import { pathFrom, pathIn, readFrom, storedIn } from '../../runs/recipe-paths.js'
import { writeFileAtomically } from '../../storage/atomic-write.js'
import { readSavedEpisodes } from '../../storage/episode-files.js'
import { schemaName } from '../../storage/episode-row.js'
import { isModule } from '../../tasks/modules.js'
import type { PlayPlan } from './play-plan.js'
import { isRunFolder } from './run-folder.js'

const PlanFile = z.strictObject({
  agent: z.string(),
  split: z.enum(['train', 'heldout', 'all']),
  patient: z.string().exactOptional(),
  exams: z.array(z.string()).exactOptional(),
  persona: z.string().exactOptional(),
  baseUrl: z.string().exactOptional(),
  model: z.string().exactOptional(),
  questionsOnly: z.boolean().exactOptional(),
  repeats: z.number().int().min(1).exactOptional(),
  temperature: z.number().min(0).exactOptional(),
  recipe: StoredRecipe,
})

const planName = 'evaluation.yaml'
const episodesName = 'episodes.jsonl'

/** Cuts off an incomplete last line, left when the process died while writing. */
async function truncateTornLine(path: string): Promise<void> {
  const bytes = await readFile(path).catch(() => undefined)
  if (bytes && bytes.length > 0 && bytes.at(-1) !== 10)
    await truncate(path, bytes.lastIndexOf(10) + 1)
}

/** Names one consultation of an evaluation. */
export const consultationKey = (caseId: string, repeat = 0): string => `${repeat}/${caseId}`

async function readDone(
  path: string,
  { cases, measures, seed }: ArchiveParts & { readonly seed: number },
): Promise<Map<string, PlayedCase>> {
  const byId = new Map(cases.map((truth) => [truth.id, truth] as const))
  const done = new Map<string, PlayedCase>()
  await truncateTornLine(path)
  const there = await readFile(path, 'utf8').catch(() => '')
  if (there.trim() === '') return done
  for await (const { episode } of readSavedEpisodes(path)) {
    const truth = byId.get(episode.caseId)
    if (!truth) continue
    const scores = await scoreEpisode(episode, graderView(truth), measures)
    const repeat = repeatOf(episode, seed)
    done.set(consultationKey(truth.id, repeat), { truth, repeat, episode, scores })
  }
  return done
}

/** A plan with each path of its flags replaced; an agent that is a run begins with a dot or is absolute. */
function withFlagPaths(plan: PlayPlan, replace: (file: string) => string): PlayPlan {
  const { agent, patient, exams } = plan
  const replaced = (part: string): string => (isModule(part) ? replace(part) : part)
  const isRun = isAbsolute(agent) || agent.startsWith('.')
  return {
    ...plan,
    agent: isRun ? replace(agent) : replaced(agent),
    ...(patient === undefined ? {} : { patient: replaced(patient) }),
    ...(exams === undefined ? {} : { exams: exams.map(replaced) }),
  }
}

/** A plan as it is stored in a folder, which its relative paths are then relative to. */
function storedPlan(folder: string, plan: PlayPlan): PlayPlan {
  const inFolder = (file: string): string => {
    const path = pathIn(folder, file)
    return isAbsolute(path) || path.startsWith('.') ? path : `./${path}`
  }
  const stored = withFlagPaths(plan, inFolder)
  return {
    ...stored,
    agent: isRunFolder(plan.agent) ? inFolder(plan.agent) : stored.agent,
    recipe: storedIn(folder, plan.recipe),
  }
}

/** Reads the plan of a folder, if it has one. @throws Fault `bad-input` when it cannot be parsed */
async function readPlanIfAny(folder: string): Promise<PlayPlan | undefined> {
  const path = join(folder, planName)
  const text = await readFile(path, 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const plan = await rethrowAsFault('bad-input', path, () => PlanFile.parse(parse(text)))
  return {
    ...withFlagPaths(plan, (file) => pathFrom(folder, file)),
    recipe: readFrom(folder, plan.recipe),
  }
}

/** The modules that an evaluation loads, each with its flag or recipe key. */
export function planModules({ agent, patient, exams, recipe }: PlayPlan) {
  const flags = [
    { key: '--agent', file: agent },
    ...(patient === undefined ? [] : [{ key: '--patient', file: patient }]),
    ...(exams ?? []).map((file) => ({ key: '--exams', file })),
  ]
  const idle: readonly string[] = [
    'training.sft.agent',
    ...(patient === undefined ? [] : ['env.patient']),
    ...(exams === undefined ? [] : ['env.exams']),
  ]
  return [
    ...flags.filter(({ file }) => isModule(file)),
    ...recipeModules(recipe).filter(({ key }) => !idle.includes(key)),
  ]
}

/**
 * Reads the plan of a stopped evaluation.
 * @throws Fault `bad-input` when the folder is not one, or names a module and `trust` is false
 */
export async function readPlan(folder: string, trust: boolean): Promise<PlayPlan> {
  const plan = await readPlanIfAny(folder)
  if (!plan)
    throw new Fault(
      'bad-input',
      `--resume ${folder}: expected the folder of an evaluation, with ${planName}; found none`,
    )
  assertTrustedModules(folder, planModules(plan), trust)
  return plan
}

/** Opens a file for appending lines in the order given. */
async function openAppender(path: string) {
  const file = await open(path, 'a')
  let written = Promise.resolve()
  return {
    add(line: string): void {
      written = written.then(() => file.appendFile(line))
      // `close` awaits it; until then a failed write must not end the process.
      written.catch(() => {})
    },
    async close(): Promise<void> {
      await written.finally(() => file.close())
    },
  }
}

/** Removes a folder in which no episode was kept, with the files made in it. */
async function removeUnused(folder: string): Promise<void> {
  for (const name of [planName, episodesName]) await rm(join(folder, name), { force: true })
  await rmdir(folder).catch(() => {})
}

/** Whether a folder holds this plan already. @throws Fault `bad-input` when it holds another */
async function holdsPlan(folder: string, plan: PlayPlan): Promise<boolean> {
  const there = await readPlanIfAny(folder)
  if (there && !isDeepStrictEqual(storedPlan(folder, there), storedPlan(folder, plan)))
    throw new Fault(
      'bad-input',
      `--out ${folder}: the folder holds an evaluation of other cases or another agent; choose another, or go on with --resume ${folder}`,
    )
  return there !== undefined
}

/** What an archive reads of its task. */
interface ArchiveParts {
  readonly cases: readonly Case[]
  readonly measures: Measures
}

async function openLocked(folder: string, plan: PlayPlan, parts: ArchiveParts, lock: RunLock) {
  let kept = await holdsPlan(folder, plan)
  const done = await readDone(join(folder, episodesName), { ...parts, seed: plan.recipe.seed })
  const usage = await readUsage(folder)
  await mkdir(folder, { recursive: true })
  if (!kept) await writeFileAtomically(join(folder, planName), stringify(storedPlan(folder, plan)))
  const episodes = await openAppender(join(folder, episodesName))
  return {
    folder,
    /** Says whose lock was taken over, if that was so. */
    takenOver: lock.takenOver,
    /** What earlier sittings played, by {@link consultationKey}. */
    done: done as ReadonlyMap<string, PlayedCase>,
    /** Appends one episode; a case that ended in a fault is left for the next sitting. */
    keep({ episode, truth, scores }: PlayedCase): void {
      if (!episode || !scores) return
      kept = true
      const line = { schema: schemaName, score: scores.reward, episode, truth: graderView(truth) }
      episodes.add(`${JSON.stringify(line)}\n`)
    },
    /** Waits for pending writes; returns the token usage of this and earlier sittings. */
    async close(now: UsageByRole): Promise<UsageByRole> {
      await episodes.close()
      if (!kept) await removeUnused(folder)
      const all = kept ? await writeUsage(folder, usage, now) : addUsageByRole(usage, now)
      await lock[Symbol.asyncDispose]()
      return all
    },
    writeReport: (report: unknown): Promise<void> =>
      writeFileAtomically(join(folder, 'report.json'), `${JSON.stringify(report, null, 2)}\n`),
  }
}

/**
 * Opens the folder of a new or resumed evaluation, for this process alone. `close` releases it, and removes it again if
 * no episode was kept.
 * @throws Fault `bad-input` when another process writes into it, or it holds an evaluation with another plan
 */
export async function openArchive(folder: string, plan: PlayPlan, parts: ArchiveParts) {
  const lock = await lockRun(folder)
  try {
    return await openLocked(folder, plan, parts, lock)
  } catch (error) {
    await lock[Symbol.asyncDispose]()
    throw error
  }
}

/** Stored progress of an evaluation. */
export type EvaluationArchive = Awaited<ReturnType<typeof openArchive>>
