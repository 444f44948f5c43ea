/** Python environments of the engines: locations, required distributions, and whether they are complete. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { packageRoot } from '../../platform/package-root.js'
import { queryPython } from './interpreter.js'
import type { EnvironmentVariables } from './program.js'

/** Engine that computes gradients: PEFT on any machine, Unsloth on an NVIDIA GPU. */
export type EngineName = 'peft' | 'unsloth'

/** Names of the engines, the one for any machine first. */
export const engineNames: readonly EngineName[] = ['peft', 'unsloth']

const server = { starlette: 'starlette', uvicorn: 'uvicorn', 'google.protobuf': 'protobuf' }
const weights = { torch: 'torch', transformers: 'transformers', peft: 'peft' }

const unsloth = { unsloth: 'unsloth', ...weights, trl: 'trl', bitsandbytes: 'bitsandbytes' }

/** Name of each engine's environment, and the modules it must import in order, each with its distribution. */
const kinds: Readonly<
  Record<EngineName, { readonly name: string; readonly modules: Readonly<Record<string, string>> }>
> = {
  peft: { name: 'sidecar', modules: { ...weights, ...server } },
  // Unsloth patches the others, so it comes first.
  unsloth: { name: 'unsloth', modules: { ...unsloth, ...server } },
}

/** Modules that an engine's environment must import, in order, each with its distribution. */
export const engineModules = (engine: EngineName): Readonly<Record<string, string>> =>
  kinds[engine].modules

/** Folder of the Python package that ships with Bedside, for `PYTHONPATH`. */
export const pythonPackage = (): string => join(packageRoot(), 'src', 'trainers', 'python')

/** Path of an engine's locked requirements file. */
export const requirementsFile = (engine: EngineName): string =>
  join(pythonPackage(), `requirements-${kinds[engine].name}.txt`)

/** Default folder of an engine's environment: in `BEDSIDE_VENVS`, else in `.venvs` of the current directory. */
export const environmentFolder = (engine: EngineName, env: EnvironmentVariables): string =>
  join(env.BEDSIDE_VENVS || '.venvs', kinds[engine].name)

/** Path of an environment's interpreter. */
export const interpreterPath = (folder: string): string =>
  process.platform === 'win32'
    ? join(folder, 'Scripts', 'python.exe')
    : join(folder, 'bin', 'python')

/** Path of an environment's stamp file: the hash of its pins, written when the environment is complete. */
export const stampFile = (folder: string): string => join(folder, 'pins.sha256')

/**
 * Hash of an interpreter's build and its pins, ignoring comments and order.
 * `scripts/python-env.sh` stamps its environments in the same way.
 */
export function pinsHash(build: string, requirements: string): string {
  const pins = requirements.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return createHash('sha256')
    .update(`${build}\n${pins.sort().join('\n')}\n`)
    .digest('hex')
}

const normaliseName = (distribution: string): string =>
  distribution.toLowerCase().replace(/[-_.]+/g, '-')

/** Versions of the distributions in an environment, by normalised name, read without importing. */
export function installedVersions(folder: string): ReadonlyMap<string, string> {
  const list = (path: string): string[] => (existsSync(path) ? readdirSync(path) : [])
  const homes = [
    join(folder, 'Lib', 'site-packages'),
    ...list(join(folder, 'lib')).map((python) => join(folder, 'lib', python, 'site-packages')),
  ]
  const found = homes.flatMap(list).flatMap((entry) => {
    const [, name, version] = /^(.+)-([^-]+)\.dist-info$/.exec(entry) ?? []
    return name && version ? [[normaliseName(name), version] as const] : []
  })
  return new Map(found)
}

/** Result of {@link findPython}: a complete environment, or why there is none and the command that makes it. */
export type PythonLookup =
  | {
      readonly found: true
      readonly folder: string
      readonly python: string
      readonly version: string
      /** Versions of the distributions the engine imports, by name. */
      readonly versions: Readonly<Record<string, string>>
    }
  | {
      readonly found: false
      readonly folder: string
      readonly state: 'missing' | 'broken' | 'unfinished' | 'other-pins'
      /** What is wrong, and the command that fixes it. */
      readonly reason: string
    }

/** Descriptions of the states of a folder without a complete environment. */
const stateTexts = {
  missing: 'there is no Python environment',
  broken: 'its Python does not run',
  unfinished: 'its set-up was not finished, or was not by `bedside sidecar setup`',
  'other-pins': 'it holds other versions than this version of Bedside is made for',
} as const

/** Installed versions of the distributions an engine imports, by name. */
export function engineVersions(
  folder: string,
  engine: EngineName,
): Readonly<Record<string, string>> {
  const versions = installedVersions(folder)
  const found = Object.values(engineModules(engine)).flatMap((name) => {
    const version = versions.get(normaliseName(name))
    return version === undefined ? [] : [[name, version] as const]
  })
  return Object.fromEntries(found)
}

/** Options of {@link findPython}. */
export interface FindPythonOptions {
  /** Parent folder of the environments. @default `BEDSIDE_VENVS`, else `.venvs` of the current directory */
  readonly root?: string
  /** Folder of the environment itself; overrides `root`. */
  readonly folder?: string
  /** @default process.env */
  readonly env?: EnvironmentVariables
}

/** Looks for an engine's environment, without importing anything or throwing. */
export async function findPython(
  engine: EngineName,
  { root, folder: own, env = process.env }: FindPythonOptions = {},
): Promise<PythonLookup> {
  const variables = root === undefined ? env : { ...env, BEDSIDE_VENVS: root }
  const folder = own ?? environmentFolder(engine, variables)
  const setup = ['npx bedside sidecar setup', ...(engine === 'peft' ? [] : [`--engine ${engine}`])]
  if (own !== undefined) setup.push(`--env ${own}`)
  const not = (state: keyof typeof stateTexts): PythonLookup => ({
    found: false,
    folder,
    state,
    reason: `${folder}: ${stateTexts[state]}; run \`${setup.join(' ')}\``,
  })
  const python = resolve(interpreterPath(folder))
  if (!existsSync(folder)) return not('missing')
  if (!existsSync(stampFile(folder))) return not(existsSync(python) ? 'unfinished' : 'missing')
  const stamp = readFileSync(stampFile(folder), 'utf8').trim()
  if (!/^[\da-f]{64}$/.test(stamp)) return not('unfinished')
  const asked = await queryPython(python, env)
  if (!asked) return not('broken')
  if (stamp !== pinsHash(asked.build, readFileSync(requirementsFile(engine), 'utf8')))
    return not('other-pins')
  const versions = engineVersions(folder, engine)
  return { found: true, folder, python, version: asked.version, versions }
}
