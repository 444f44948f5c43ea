/**
 * Creates an engine's Python environment: interpreter, empty environment, locked distributions, import check. The
 * stamp is written last, so an interrupted environment never counts as complete.
 */
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { Fault, rethrowAsFault } from '../../error.js'
import { writeFileAtomically } from '../../storage/atomic-write.js'
import type { EngineName } from './environment.js'
import {
  engineModules,
  engineVersions,
  environmentFolder,
  findPython,
  interpreterPath,
  pinsHash,
  requirementsFile,
  stampFile,
} from './environment.js'
import type { InstallProgress } from './installer.js'
import { checkImports, chooseInstaller, createVenv, installPins } from './installer.js'
import { chooseInterpreter, type Interpreter } from './interpreter.js'
import type { EnvironmentVariables } from './program.js'

/** Phases of a set-up, in order. */
export type SetupPhase = 'python' | 'environment' | 'packages' | 'imports'

/** Options of {@link makeEnvironment}. */
export interface SetupOptions {
  readonly engine: EngineName
  /** Interpreter to create it with. @default the first on `PATH` of a supported version */
  readonly python?: string
  /** @default `environmentFolder` */
  readonly folder?: string
  readonly env: EnvironmentVariables
  readonly signal?: AbortSignal
  /** Called when a phase begins, with a description. */
  readonly onBegin?: (phase: SetupPhase, note: string) => void
  /** Called within the phases `packages` and `imports`. */
  readonly onProgress?: (phase: SetupPhase, at: InstallProgress) => void
  /** Called when a phase is done, with its outcome. */
  readonly onEnd?: (phase: SetupPhase, note: string, seconds: number) => void
  /** @default the locked requirements of the engine */
  readonly requirements?: string
  /** Modules that must import, each with its distribution. @default those of the engine */
  readonly modules?: Readonly<Record<string, string>>
}

/** A complete Python environment of an engine. */
export interface PythonEnvironment {
  readonly engine: EngineName
  readonly folder: string
  readonly python: string
  readonly pythonVersion: string
  /** False if it existed already and was complete. */
  readonly made: boolean
  readonly versions: Readonly<Record<string, string>>
  /** Device that torch reports; absent if nothing was imported. */
  readonly device?: string
}

const alive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Empties an environment's folder and marks it as unfinished. @throws Fault `bad-input` for any other folder */
async function prepareFolder(folder: string): Promise<void> {
  const stamp = await readFile(stampFile(folder), 'utf8').catch(() => undefined)
  const entries = existsSync(folder) ? readdirSync(folder) : []
  if (stamp === undefined && entries.length > 0)
    throw new Fault(
      'bad-input',
      `${folder}: expected no such folder, an empty one, or an environment made by this command; found ${entries.length} entries of something else. Remove it, or choose another with \`--env DIR\``,
    )
  const other = Number(/^unfinished (\d+)/.exec(stamp ?? '')?.[1])
  if (other && other !== process.pid && alive(other))
    throw new Fault(
      'bad-input',
      `${folder}: another set-up is under way there (process ${other}); wait for it, or remove the folder where that is none`,
    )
  const unwritable = `${folder}: expected a folder that can be written; choose one with \`--env DIR\``
  await rethrowAsFault('bad-input', unwritable, async () => {
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder, { recursive: true })
    await writeFile(stampFile(folder), `unfinished ${process.pid}\n`)
  })
  // Environments are often created inside a repository, and must not be committed to it.
  const ignore = join(dirname(folder), '.gitignore')
  if (basename(dirname(folder)) === '.venvs' && !existsSync(ignore)) await writeFile(ignore, '*\n')
}

/** Runs one phase and reports its begin and end. */
async function runPhase<T>(
  name: SetupPhase,
  begins: string,
  { onBegin, onEnd }: SetupOptions,
  work: () => Promise<readonly [T, string]>,
): Promise<T> {
  onBegin?.(name, begins)
  const started = performance.now()
  const [made, note] = await work()
  onEnd?.(name, note, (performance.now() - started) / 1000)
  return made
}

async function buildEnvironment(
  folder: string,
  requirements: string,
  interpreter: Interpreter,
  options: SetupOptions,
) {
  const { engine, env, onProgress, modules = engineModules(engine) } = options
  const signal = options.signal ? { signal: options.signal } : {}
  const installer = chooseInstaller(env)
  const text = await rethrowAsFault('bad-input', 'the locked requirements', () =>
    readFile(requirements, 'utf8'),
  )
  const pins = text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length
  await runPhase('environment', `an empty environment in ${folder}`, options, async () => {
    await prepareFolder(folder)
    await createVenv(installer, { python: interpreter.python, folder }, { env, ...signal })
    return [undefined, `${folder}, with ${installer.name === 'uv' ? 'uv' : 'venv and pip'}`]
  })
  await runPhase('packages', `pinned versions, with ${installer.name}`, options, async () => {
    const count = await installPins(
      installer,
      { folder, requirements, pins },
      { env, ...signal, onProgress: (at) => onProgress?.('packages', at) },
    )
    return [count, `${count} distributions`]
  })
  const check = await runPhase('imports', Object.keys(modules).join(', '), options, async () => {
    const made = await checkImports(engine, interpreterPath(folder), modules, {
      ...{ env, ...signal },
      onProgress: (at) => onProgress?.('imports', at),
    })
    return [made, `everything imports; torch computes on ${made.device}`] as const
  })
  await writeFileAtomically(stampFile(folder), `${pinsHash(interpreter.build, text)}\n`)
  return check
}

/** The existing environment, if it is complete and has the pins of this version of Bedside. */
async function findExisting(
  folder: string,
  options: SetupOptions,
): Promise<PythonEnvironment | undefined> {
  const { engine, env, python } = options
  if (options.requirements !== undefined) return undefined
  const found = await findPython(engine, { folder, env })
  if (!found.found) return undefined
  if (python !== undefined) {
    const { build } = await chooseInterpreter(env, { python })
    const text = await readFile(requirementsFile(engine), 'utf8')
    const stamp = await readFile(stampFile(folder), 'utf8')
    if (stamp.trim() !== pinsHash(build, text)) return undefined
  }
  const { version: pythonVersion, versions } = found
  return { engine, folder, python: found.python, pythonVersion, made: false, versions }
}

/**
 * Creates the environment of an engine, or finds it complete.
 * @throws Fault `bad-input` for an unsuitable interpreter or folder
 * @throws Fault `model-unavailable` for failures of network, disk or permissions
 * @throws the signal's reason; the environment is then unfinished, and created afresh the next time
 */
export async function makeEnvironment(options: SetupOptions): Promise<PythonEnvironment> {
  const { engine, env, python, folder = environmentFolder(engine, env) } = options
  const existing = await findExisting(folder, options)
  if (existing) return existing
  const { path: uv } = chooseInstaller(env)
  const interpreter = await runPhase('python', 'an interpreter', options, async () => {
    const found = await chooseInterpreter(env, {
      ...(python === undefined ? {} : { python }),
      ...(uv === undefined ? {} : { uv }),
    })
    return [found, `${found.version} at ${found.python}`]
  })
  const { requirements = requirementsFile(engine) } = options
  const check = await buildEnvironment(folder, requirements, interpreter, options)
  return {
    engine,
    folder,
    python: resolve(interpreterPath(folder)),
    pythonVersion: interpreter.version,
    made: true,
    versions: options.modules ? check.versions : engineVersions(folder, engine),
    device: check.device,
  }
}
