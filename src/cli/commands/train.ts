/** `bedside train`: trains by a recipe and flags into a run directory. */
import { stringify } from 'yaml'
import { usageLine } from '../../chats/ledger.js'
import { Fault, rethrowAsFault } from '../../error.js'
import { withoutUndefined } from '../../platform/without-undefined.js'
import { lastCheckpoint, readRecipe, recipeOfRun } from '../../runs/directory.js'
import { isJobBackend } from '../../runs/jobs/cluster.js'
import { recipeModules } from '../../runs/own-parts.js'
import { parseRecipe, type Recipe } from '../../runs/recipe.js'
import { train as run, type TrainingResult } from '../../runs/train.js'
import { type HeldOutMetrics, type StepMetrics, trainingEmitter } from '../../trainers/events.js'
import type { CaseFlags } from '../flags/flags.js'
import { isBadInput, reportStop } from '../print/failure.js'
import { commandLine, numberText, type Output, output, type Terminal } from '../print/output.js'
import { startProgress } from '../print/progress.js'
import { showPair, showResult } from '../print/training-text.js'
import { trainingWork } from '../print/training-work.js'
import { clinicKnowledge } from './play-plan.js'
import { runFolder } from './run-folder.js'

interface TrainFlags extends CaseFlags {
  readonly backend?: string
  readonly steps?: number
  readonly set?: readonly string[]
  readonly out?: string
  readonly resume?: string
  readonly printCommand?: boolean
  readonly trust?: boolean
  readonly acceptChanges?: boolean
  readonly standIn?: boolean
}

/** Flags as `--set` assignments, in the order in which they override the recipe. */
function assignments(flags: TrainFlags): string[] {
  const { seed, lang, tier, cases, clinic: groups, backend, steps, set = [] } = flags
  const short: Readonly<Record<string, unknown>> = {
    seed,
    language: lang,
    'cases.tier': tier,
    'cases.file': cases?.file,
    'cases.heldOut': cases?.count,
    'cases.clinic': groups,
    backend,
    'training.steps': steps,
  }
  const given = Object.entries(short).filter(([, value]) => value !== undefined)
  return [...given.map(([path, value]) => `${path}=${JSON.stringify(value)}`), ...set]
}

async function readTrainRecipe(file: string | undefined, flags: TrainFlags): Promise<Recipe> {
  const { resume } = flags
  const laid = assignments(flags)
  if (resume !== undefined) {
    const given = file ?? laid[0] ?? (flags.out === undefined ? undefined : `--out ${flags.out}`)
    if (given !== undefined)
      throw new Fault(
        'bad-input',
        `--resume ${resume}: a run goes on with its own recipe; expected no other beside it, got \`${given}\``,
      )
    return recipeOfRun(resume, { trust: flags.trust ?? false })
  }
  if (file !== undefined) return readRecipe(file, laid)
  const source = 'the default recipe'
  return rethrowAsFault('bad-input', source, () => parseRecipe('', source, laid))
}

function trainCommand(file: string | undefined, flags: TrainFlags, out: string): string {
  const given = assignments(flags).flatMap((assignment) => ['--set', assignment])
  return commandLine('train', ...(file === undefined ? [] : [file]), ...given, '--out', out)
}

/** Shows a run's events on the progress bar, and counts its faults, keeping the first. */
function followTraining(
  recipe: Recipe,
  at: (done: number, note: string) => void,
  tell: (line: string) => void,
) {
  const events = trainingEmitter()
  const faults = { count: 0, first: '' }
  events.on('fault-met', (fault, where) => {
    if (faults.count++ === 0) faults.first = `${where}: ${fault.message}`
  })
  events.on('backend-status', tell)
  let heldOut: HeldOutMetrics | undefined
  let used = ''
  events.on('models-used', (usage) => {
    used = usageLine(usage)
  })
  const note = ({ reward, accuracy }: StepMetrics): string => {
    const tested = heldOut ? ` · held-out accuracy ${numberText(heldOut.accuracy, 2)}` : ''
    const spent = used === '' ? '' : ` · ${used}`
    return `reward ${numberText(reward, 2)} · accuracy ${numberText(accuracy, 2)}${tested}${spent}`
  }
  events.on('held-out-scored', (metrics) => {
    heldOut = metrics
  })
  events.on('step-end', (metrics) =>
    at(Math.min(metrics.step, recipe.training.steps), note(metrics)),
  )
  return { events, faults }
}

/** Options of {@link runWithProgress}. */
interface RunOptions {
  readonly terminal: Terminal
  readonly out: Output
  /** Interpreter of a stand-in. */
  readonly python?: string | undefined
}

/** Trains with a progress bar; returns undefined when stopped by Ctrl-C. */
async function runWithProgress(
  recipe: Recipe,
  folder: string,
  flags: TrainFlags,
  { terminal, out, python }: RunOptions,
): Promise<TrainingResult | undefined> {
  const { signal } = terminal
  const from = await lastCheckpoint(folder)
  const total = recipe.training.steps
  const workAt = trainingWork(recipe)
  const bar = await startProgress(terminal, { ...flags, label: 'training', total, from, workAt })
  const { events, faults } = followTraining(recipe, bar.update, (line) => void out.note(line))
  try {
    const { acceptChanges = false } = flags
    if (isJobBackend(recipe.backend))
      return await (await import('./train-job.js')).runJob(
        recipe,
        { out: folder, python, events },
        terminal,
      )
    return await run(recipe, { out: folder, events, signal, acceptChanges })
  } catch (error) {
    if (!signal.aborted) throw error
    return undefined
  } finally {
    bar.stop()
    if (faults.count > 0)
      await out.note(`${faults.count} consultations were left out; the first: ${faults.first}`)
  }
}

/** Whether a recipe is run as a job. @throws Fault `bad-input` for a stand-in of any other backend */
function isJob({ backend }: Recipe, standIn: boolean): boolean {
  if (standIn && !isJobBackend(backend))
    throw new Fault(
      'bad-input',
      `--stand-in: expected backend slime or verl, whose place it takes, got \`${backend}\``,
    )
  return isJobBackend(backend)
}

/** The interpreter of a stand-in: looked for before anything else takes time. */
const interpreterOfStandIn = async (recipe: Recipe, terminal: Terminal) =>
  (await import('./train-job.js')).environmentsOfStandIn(recipe, terminal)

/** Makes the files of a recipe that are missing, other runs included; false where it was stopped by Ctrl-C. */
async function makeMissing(
  recipe: Recipe,
  { quiet }: TrainFlags,
  terminal: Terminal,
): Promise<boolean> {
  if (!recipe.prepare) return true
  const flags = withoutUndefined({ quiet })
  const out = output(terminal, flags)
  const { prepareRecipe } = await import('./prepare.js')
  return prepareRecipe(recipe, {
    ...{ flags, terminal },
    trainInto: async (other, folder) =>
      (await runWithProgress(other, folder, flags, { terminal, out })) !== undefined,
  })
}

/** Whether the world failed, which may be well again later; what was given wrong is to be put right first. */
const isOutage = (error: unknown): boolean => Fault.is(error) && !isBadInput(error)

/** Shows what would be run: the command, the recipe, and of slime and verl the trainer's own command. */
async function showPlan(
  recipe: Recipe,
  command: string,
  {
    folder,
    standIn,
    out,
  }: { readonly folder: string; readonly standIn: boolean; readonly out: Output },
): Promise<number> {
  const text = `${command}\n\n${stringify(recipe).trimEnd()}`
  if (!isJob(recipe, standIn)) return out.show(text, { command, out: folder, recipe })
  const { missingFiles } = await import('./prepare.js')
  const missing = [...missingFiles(recipe)]
  if (missing.length > 0) {
    // The trainer's command depends on the model's context and the longest first prompt.
    const made = missing.map(([file, maker]) => `  ${file}, by ${maker}`).join('\n')
    const note = `Without --print-command these are made first; the trainer's own command is shown once they are there:\n${made}`
    return out.show(`${text}\n\n${note}`, { command, out: folder, recipe })
  }
  const { showJobCommand } = await import('./train-job.js')
  const { text: own, ...job } = await showJobCommand(recipe, folder, standIn)
  return out.show(`${text}\n\n${own}`, { command, out: folder, recipe, job })
}

/** What is begun, in a line. @param trainer of a job */
const beginning = ({ recipe, backend, training }: Recipe, folder: string, trainer?: string) =>
  trainer === undefined
    ? `${recipe}: ${training.steps} steps on the ${backend} backend, into ${folder}; first the floor, the ceiling and the untrained doctor`
    : `${recipe}: ${training.steps} steps by ${trainer}, into ${folder}`

/** Runs `bedside train`: a recipe file, the default recipe, or a resumed run. @returns the exit code */
export async function train(
  file: string | undefined,
  flags: TrainFlags,
  terminal: Terminal,
): Promise<number> {
  const out = output(terminal, flags)
  const recipe = await readTrainRecipe(file, flags)
  await clinicKnowledge(recipe.cases.clinic, `${file ?? 'the recipe'}: cases.clinic`)
  const { standIn = false } = flags
  const folder = flags.resume ?? flags.out ?? runFolder(recipe.recipe)
  const trusted = recipeModules(recipe).length > 0 ? ['--trust'] : []
  const standing = standIn ? ['--stand-in'] : []
  const resume = commandLine('train', '--resume', folder, ...trusted, ...standing)
  if (flags.printCommand) {
    const command = flags.resume === undefined ? trainCommand(file, flags, folder) : resume
    return showPlan(recipe, command, { folder, standIn, out })
  }
  const job = isJob(recipe, standIn)
  const python = standIn ? await interpreterOfStandIn(recipe, terminal) : undefined
  if (flags.resume === undefined && !(await makeMissing(recipe, flags, terminal)))
    return reportStop(terminal, 'What is made is kept. Go on with the same command.')
  const { steps } = recipe.training
  const kept = async () =>
    `${await lastCheckpoint(folder)} of ${steps} steps are kept in ${folder}.`
  const by = `${standIn ? 'a stand-in for ' : ''}${recipe.backend}`
  await out.note(beginning(recipe, folder, job ? by : undefined))
  const result = await runWithProgress(recipe, folder, flags, { terminal, out, python }).catch(
    async (error) => {
      if (isOutage(error))
        await out.note(`${await kept()} Go on, once it is over, with:\n  ${resume}`)
      throw error
    },
  )
  if (!result) return reportStop(terminal, `${await kept()} Go on with:`, resume)
  await out.note('')
  await showResult(result, folder, out)
  if (recipe.showConsultations) await showPair(result, out)
  if (flags.json) await out.document(result.report)
  return 0
}
