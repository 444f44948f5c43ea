/** The Python environments of the engines: where they lie, what they must hold, and whether they do. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { packageFolder } from '../../platform/package-root.js'
import { askPython } from './interpreter.js'
import type { Variables } from './program.js'

/** What computes gradients: PEFT on any machine, Unsloth on an NVIDIA GPU. */
export type EngineName = 'peft' | 'unsloth'

/** Every engine, the one for any machine first. */
export const engineNames: readonly EngineName[] = ['peft', 'unsloth']

/** What an engine's environment is called and must be able to import, as distribution by module, in order. */
interface EnvironmentKind {
  readonly name: string
  readonly modules: Readonly<Record<string, string>>
}

const server = { starlette: 'starlette', uvicorn: 'uvicorn', 'google.protobuf': 'protobuf' }
const weights = { torch: 'torch', transformers: 'transformers', peft: 'peft' }

const kinds: Readonly<Record<EngineName, EnvironmentKind>> = {
  peft: { name: 'sidecar', modules: { ...weights, ...server } },
  // Unsloth patches the others, so it comes first.
  unsloth: {
    name: 'unsloth',
    modules: {
      unsloth: 'unsloth',
      ...weights,
      trl: 'trl',
      bitsandbytes: 'bitsandbytes',
      ...server,
    },
  },
}

/** The modules an engine's environment must import, in order, each with its distribution. */
export const modulesOf = (engine: EngineName): Readonly<Record<string, string>> =>
  kinds[engine].modules

/** The folder of the Python package that is shipped with this one; it goes onto `PYTHONPATH`. */
export const pythonPackage = (): string => join(packageFolder(), 'src', 'trainers', 'python')

/** The locked requirements of an engine. */
export const requirementsOf = (engine: EngineName): string =>
  join(pythonPackage(), `requirements-${kinds[engine].name}.txt`)

/** Where an engine's environment lies: under `BEDSIDE_VENVS`, else `.venvs` of the current directory. */
export const environmentFolder = (engine: EngineName, env: Variables): string =>
  join(env.BEDSIDE_VENVS || '.venvs', kinds[engine].name)

/** The interpreter of an environment. */
export const interpreterIn = (folder: string): string =>
  process.platform === 'win32'
    ? join(folder, 'Scripts', 'python.exe')
    : join(folder, 'bin', 'python')

/** The file that says what an environment holds: the hash of its pins, written when all of it is there. */
export const stampIn = (folder: string): string => join(folder, 'pins.sha256')

/**
 * The hash of an interpreter's build and its pins, comments and order aside.
 * `scripts/python-env.sh` stamps what it makes in the same way.
 */
export function pinsHash(build: string, requirements: string): string {
  const pins = requirements.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return createHash('sha256')
    .update(`${build}\n${pins.sort().join('\n')}\n`)
    .digest('hex')
}

const named = (distribution: string): string => distribution.toLowerCase().replace(/[-_.]+/g, '-')

/** The versions of the distributions in an environment, by normalised name, read without importing. */
export function installed(folder: string): ReadonlyMap<string, string> {
  const list = (path: string): string[] => (existsSync(path) ? readdirSync(path) : [])
  const homes = [
    join(folder, 'Lib', 'site-packages'),
    ...list(join(folder, 'lib')).map((python) => join(folder, 'lib', python, 'site-packages')),
  ]
  const found = homes.flatMap(list).flatMap((entry) => {
    const [, name, version] = /^(.+)-([^-]+)\.dist-info$/.exec(entry) ?? []
    return name && version ? [[named(name), version] as const] : []
  })
  return new Map(found)
}

/** An environment that is whole, or why there is none and what makes it. */
export type FoundPython =
  | {
      readonly found: true
      readonly folder: string
      readonly python: string
      readonly version: string
      /** Of what the engine imports, by distribution. */
      readonly versions: Readonly<Record<string, string>>
    }
  | {
      readonly found: false
      readonly folder: string
      readonly state: 'missing' | 'broken' | 'unfinished' | 'other-pins'
      /** What is the matter, with the command that mends it. */
      readonly reason: string
    }

/** What a folder without a whole environment is, in words. */
const troubles = {
  missing: 'there is no Python environment',
  broken: 'its Python does not run',
  unfinished: 'its set-up was not finished, or was not by `bedside sidecar setup`',
  'other-pins': 'it holds other versions than this version of Bedside is made for',
} as const

/** The versions an engine's environment holds of what the engine imports, by distribution. */
export function versionsIn(folder: string, engine: EngineName): Readonly<Record<string, string>> {
  const versions = installed(folder)
  const found = Object.values(modulesOf(engine)).flatMap((name) => {
    const version = versions.get(named(name))
    return version === undefined ? [] : [[name, version] as const]
  })
  return Object.fromEntries(found)
}

export interface FindOptions {
  /** The folder of environments. @default `BEDSIDE_VENVS`, else `.venvs` of the current directory */
  readonly root?: string
  /** The environment's own folder, wherever it is. */
  readonly folder?: string
  /** @default process.env */
  readonly env?: Variables
}

/** Looks for an engine's environment; nothing is imported and nothing thrown. */
export async function findPython(
  engine: EngineName,
  { root, folder: own, env = process.env }: FindOptions = {},
): Promise<FoundPython> {
  const variables = root === undefined ? env : { ...env, BEDSIDE_VENVS: root }
  const folder = own ?? environmentFolder(engine, variables)
  const mend = ['npx bedside sidecar setup', ...(engine === 'peft' ? [] : [`--engine ${engine}`])]
  if (own !== undefined) mend.push(`--env ${own}`)
  const not = (state: keyof typeof troubles): FoundPython => ({
    found: false,
    folder,
    state,
    reason: `${folder}: ${troubles[state]}; run \`${mend.join(' ')}\``,
  })
  const python = resolve(interpreterIn(folder))
  if (!existsSync(folder)) return not('missing')
  if (!existsSync(stampIn(folder))) return not(existsSync(python) ? 'unfinished' : 'missing')
  const stamp = readFileSync(stampIn(folder), 'utf8').trim()
  if (!/^[\da-f]{64}$/.test(stamp)) return not('unfinished')
  const asked = await askPython(python, env)
  if (!asked) return not('broken')
  if (stamp !== pinsHash(asked.build, readFileSync(requirementsOf(engine), 'utf8')))
    return not('other-pins')
  const versions = versionsIn(folder, engine)
  return { found: true, folder, python, version: asked.version, versions }
}
