/**
 * Before `bedside train`: makes the files that a recipe reads and that are missing, as its `prepare` says. So a recipe
 * that begins from another's doctor, or from patients that a program makes, is still one command.
 */
import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Fault } from '../../error.js'
import { withoutUndefined } from '../../platform/without-undefined.js'
import { lastCheckpoint, readRecipe } from '../../runs/directory.js'
import type { Recipe } from '../../runs/recipe.js'
import { runProgram } from '../../trainers/sidecar/program.js'
import { output, type PrintFlags, type Terminal } from '../print/output.js'

/** What {@link prepareRecipe} needs beside the recipe. */
export interface PrepareOptions {
  readonly flags: PrintFlags
  readonly terminal: Terminal
  /** Trains a recipe into a run directory, or goes on with it; false where it was stopped by Ctrl-C. */
  readonly trainInto: (recipe: Recipe, folder: string) => Promise<boolean>
}

/** Whether a folder holds a model. */
const isModelFolder = (path: string): boolean => existsSync(join(path, 'config.json'))

/** The run directory of a checkpoint, `RUN/checkpoints/NAME`. */
const runOf = (init: string): string => dirname(dirname(init))

/** Whether a checkpoint is there for good: the best of a run that has not ended may become another. */
const isReady = (init: string): boolean =>
  existsSync(init) && (basename(init) !== 'best' || existsSync(join(runOf(init), 'report.json')))

/** The files that a recipe's `prepare` makes and that are missing, with what makes each. */
export function missingFiles({
  prepare,
  cases,
  policy,
  init,
}: Recipe): ReadonlyMap<string, string> {
  const missing = new Map<string, string>()
  if (prepare?.cases !== undefined && cases.file !== undefined && !existsSync(cases.file))
    missing.set(cases.file, prepare.cases)
  if (prepare?.run !== undefined && init !== undefined) {
    if (!isReady(init)) missing.set(init, prepare.run)
    return missing
  }
  const maker = prepare?.run ?? (prepare?.tiny && 'a small model of random weights')
  if (maker !== undefined && policy?.model !== undefined && !isModelFolder(policy.model))
    missing.set(policy.model, maker)
  return missing
}

/** The folder of the run whose model `prepare.run` exports. */
const folderOf = ({ recipe }: Recipe): string => join('runs', recipe.replace(/[^\w.-]+/g, '-'))

/** Makes a file or folder under another name first: what was stopped half way is not there. */
async function makeWhole(path: string, make: (making: string) => Promise<void>): Promise<void> {
  const making = `${path}-making-${process.pid}`
  await mkdir(dirname(path), { recursive: true })
  try {
    await make(making)
    await rename(making, path)
  } finally {
    await rm(making, { recursive: true, force: true })
  }
}

/** Runs a program that writes a case file. @throws Fault `bad-input` with its last words */
async function makeCases(program: string, file: string, { terminal, flags }: PrepareOptions) {
  await output(terminal, flags).note(`${file} is missing: made by ${program}`)
  const { env, signal } = terminal
  await makeWhole(file, async (making) => {
    const ended = await runProgram(process.execPath, [program, making], { env, signal })
    signal.throwIfAborted()
    if (ended.code === 0 && existsSync(making)) return
    const last = ended.error ?? ended.lines.at(-1) ?? 'it said nothing'
    throw new Fault(
      'bad-input',
      `prepare.cases: expected ${program} to write ${file} at the path in its argument, got none (exit code ${ended.code}): ${last}`,
    )
  })
}

/** The texts of saved demonstrations, for the words of a model that is to imitate them. */
async function demonstrationTexts({ training }: Recipe) {
  const files = training.algorithm === 'sft' ? training.sft.demonstrations : undefined
  if (files === undefined) return undefined
  const { readTexts } = await import('./sidecar/tiny-model.js')
  return readTexts(files)
}

async function makeTiny(recipe: Recipe, model: string, { terminal, flags }: PrepareOptions) {
  const out = output(terminal, flags)
  await out.note(`${model} is missing: made as a small model of random weights`)
  const { makeTinyModel, findInterpreter } = await import('./sidecar/make-tiny-model.js')
  const python = await findInterpreter('peft', { env: terminal.env })
  const texts = withoutUndefined({ texts: await demonstrationTexts(recipe) })
  const shape = recipe.prepare?.tiny ?? {}
  await makeWhole(model, async (making) => {
    const { signal } = terminal
    const made = await makeTinyModel({ recipe, out: making, shape, python, signal, ...texts })
    await out.note(`${model}: ${Math.round(made.parameters / 1000)} thousand parameters`)
  })
}

/** Trains a recipe to its end in a folder, unless it was; false where it was stopped. */
async function trainWhole(recipe: Recipe, folder: string, options: PrepareOptions) {
  if (!(await prepareRecipe(recipe, options))) return false
  const { steps } = recipe.training
  const whole = existsSync(join(folder, 'report.json')) && (await lastCheckpoint(folder)) === steps
  return whole || options.trainInto(recipe, folder)
}

/** What a recipe and the one it begins from must have in common, as `--set` takes it. */
const shared = ({ seed, language, cases: { clinic }, policy }: Recipe): readonly string[] => [
  ...[`seed=${seed}`, `language=${language}`],
  ...(clinic === undefined ? [] : [`cases.clinic=${JSON.stringify(clinic)}`]),
  ...(policy?.model === undefined ? [] : [`policy.model=${JSON.stringify(policy.model)}`]),
]

/** Trains the recipe at `file`, with the seed, language, clinic and model of the one that begins there. */
async function makeInit(
  file: string,
  init: string,
  { recipe, options }: { recipe: Recipe; options: PrepareOptions },
): Promise<boolean> {
  const { terminal, flags } = options
  const before = await readRecipe(file, shared(recipe))
  const folder = runOf(init)
  await output(terminal, flags).note(`${init} is missing: trained by ${file} in ${folder}`)
  if (!(await trainWhole(before, folder, options))) return false
  if (!existsSync(init))
    throw new Fault(
      'bad-input',
      `init: expected a checkpoint that ${file} leaves in ${folder}, got ${init}, which it does not`,
    )
  return true
}

/** Trains the recipe at `file` to its end and writes its doctor as `model`; false where it was stopped. */
async function makeByRun(file: string, model: string, options: PrepareOptions): Promise<boolean> {
  const { terminal, flags } = options
  const { findInterpreter } = await import('./sidecar/make-tiny-model.js')
  // Said before minutes are spent.
  await findInterpreter('peft', { env: terminal.env })
  const recipe = await readRecipe(file, [])
  const folder = folderOf(recipe)
  await output(terminal, flags).note(`${model} is missing: trained by ${file} in ${folder}`)
  if (!(await trainWhole(recipe, folder, options))) return false
  const { exportModel } = await import('./sidecar/export-model.js')
  await makeWhole(model, async (making) => {
    await exportModel(folder, { out: making }, terminal)
  })
  return true
}

/**
 * Makes the files of a recipe that are missing; says what and by what. Those that are there are left as they are.
 * @returns false where it was stopped by Ctrl-C
 * @throws Fault `bad-input` for what cannot be made, with the command that mends it
 */
export async function prepareRecipe(recipe: Recipe, options: PrepareOptions): Promise<boolean> {
  const { prepare, cases, policy, init } = recipe
  const missing = missingFiles(recipe)
  try {
    const { file } = cases
    if (prepare?.cases !== undefined && file !== undefined && missing.has(file))
      await makeCases(prepare.cases, file, options)
    if (prepare?.run !== undefined && init !== undefined)
      return !missing.has(init) || (await makeInit(prepare.run, init, { recipe, options }))
    const model = policy?.model
    if (model === undefined || !missing.has(model)) return true
    if (prepare?.run !== undefined) return await makeByRun(prepare.run, model, options)
    await makeTiny(recipe, model, options)
    return true
  } catch (error) {
    if (!options.terminal.signal.aborted) throw error
    return false
  }
}
