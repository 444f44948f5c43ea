/**
 * Makes an engine's Python environment: an interpreter, an empty environment, the locked distributions, and
 * everything imported once. The stamp is written last, so an environment that was interrupted never passes for whole.
 */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { boundary } from '../../error.js'
import { writeWhole } from '../../storage/atomic-write.js'
import type { EngineName } from './environment.js'
import {
  environmentFolder,
  findPython,
  interpreterIn,
  modulesOf,
  pinsHash,
  requirementsOf,
  stampIn,
  versionsIn,
} from './environment.js'
import { beginFolder } from './environment-folder.js'
import type { ImportCheck } from './import-check.js'
import { importAll } from './import-check.js'
import type { InstallProgress } from './installer.js'
import { chooseInstaller, installPins, makeVenv } from './installer.js'
import type { Interpreter } from './interpreter.js'
import { chooseInterpreter } from './interpreter.js'
import type { Variables } from './program.js'

/** The steps of a set-up, in order. */
export type SetupPhase = 'python' | 'environment' | 'packages' | 'imports'

export interface SetupOptions {
  readonly engine: EngineName
  /** The interpreter to make it with. @default the first on `PATH` that fits */
  readonly python?: string
  /** @default `environmentFolder` */
  readonly folder?: string
  readonly env: Variables
  readonly signal?: AbortSignal
  /** Called when a phase begins, with what it is about to do. */
  readonly onBegin?: (phase: SetupPhase, note: string) => void
  /** Called within the phases `packages` and `imports`. */
  readonly onProgress?: (phase: SetupPhase, at: InstallProgress) => void
  /** Called when a phase is done, with what came of it. */
  readonly onEnd?: (phase: SetupPhase, note: string, seconds: number) => void
  /** @default the locked requirements of the engine */
  readonly requirements?: string
  /** What must import, as distribution by module. @default what the engine imports */
  readonly modules?: Readonly<Record<string, string>>
}

export interface MadeEnvironment {
  readonly engine: EngineName
  readonly folder: string
  readonly python: string
  readonly pythonVersion: string
  /** False where it was there and whole. */
  readonly made: boolean
  readonly versions: Readonly<Record<string, string>>
  /** What torch computes on, as it says itself; absent where nothing was imported. */
  readonly device?: string
}

/** Runs the phases one after another, telling when each begins and ends. */
async function phase<T>(
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

/** Where the set-up happens, and with what. */
interface Site {
  readonly folder: string
  readonly requirements: string
  readonly interpreter: Interpreter
}

async function build({ folder, requirements, interpreter }: Site, options: SetupOptions) {
  const { engine, env, onProgress, modules = modulesOf(engine) } = options
  const signal = options.signal ? { signal: options.signal } : {}
  const installer = chooseInstaller(env)
  const text = await boundary('bad-input', 'the locked requirements', () =>
    readFile(requirements, 'utf8'),
  )
  const pins = text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length
  await phase('environment', `an empty environment in ${folder}`, options, async () => {
    await beginFolder(folder)
    await makeVenv(installer, { python: interpreter.python, folder }, { env, ...signal })
    return [undefined, `${folder}, with ${installer.name === 'uv' ? 'uv' : 'venv and pip'}`]
  })
  await phase('packages', `pinned versions, with ${installer.name}`, options, async () => {
    const count = await installPins(
      installer,
      { folder, requirements, pins },
      { env, ...signal, onProgress: (at) => onProgress?.('packages', at) },
    )
    return [count, `${count} distributions`]
  })
  const check = await phase('imports', Object.keys(modules).join(', '), options, async () => {
    const made = await importAll(
      { python: interpreterIn(folder), engine, modules },
      { env, ...signal, onProgress: (at) => onProgress?.('imports', at) },
    )
    return [made, `everything imports; torch computes on ${made.device}`] as const
  })
  await writeWhole(stampIn(folder), `${pinsHash(interpreter.build, text)}\n`)
  return check
}

/** What is there already, whole and with the pins of this version. */
async function asItIs(folder: string, options: SetupOptions): Promise<MadeEnvironment | undefined> {
  const { engine, env, python } = options
  if (options.requirements !== undefined) return undefined
  const found = await findPython(engine, { folder, env })
  if (!found.found) return undefined
  if (python !== undefined) {
    const { build } = await chooseInterpreter(env, { python })
    const text = await readFile(requirementsOf(engine), 'utf8')
    const stamp = await readFile(stampIn(folder), 'utf8')
    if (stamp.trim() !== pinsHash(build, text)) return undefined
  }
  const { version, versions } = found
  return {
    engine,
    folder,
    python: found.python,
    pythonVersion: version,
    made: false,
    versions,
  }
}

/**
 * Makes the environment of an engine, or finds it whole.
 * @throws Fault `bad-input` for an interpreter or a folder that cannot be it
 * @throws Fault `model-unavailable` for what the world refuses: network, disk, permission
 * @throws the signal's reason, after which the environment is unfinished and made afresh the next time
 */
export async function makeEnvironment(options: SetupOptions): Promise<MadeEnvironment> {
  const { engine, env, python, folder = environmentFolder(engine, env) } = options
  const there = await asItIs(folder, options)
  if (there) return there
  const { path: uv } = chooseInstaller(env)
  const interpreter = await phase('python', 'an interpreter', options, async () => {
    const found = await chooseInterpreter(env, {
      ...(python === undefined ? {} : { python }),
      ...(uv === undefined ? {} : { uv }),
    })
    return [found, `${found.version} at ${found.python}`]
  })
  const { requirements = requirementsOf(engine) } = options
  const check: ImportCheck = await build({ folder, requirements, interpreter }, options)
  return {
    engine,
    folder,
    python: resolve(interpreterIn(folder)),
    pythonVersion: interpreter.version,
    made: true,
    versions: options.modules ? check.versions : versionsIn(folder, engine),
    device: check.device,
  }
}
