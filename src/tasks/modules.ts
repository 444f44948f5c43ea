/** Loads parts from a user's modules, checks their shapes, and keeps registries of named parts, for recipes and flags. */
import { existsSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { Fault, rethrowAsFault } from '../error.js'
import { suggestNames } from '../platform/did-you-mean.js'

/** Kind of a part; a module exports a part under the name of its kind. */
export type PartKind = 'patient' | 'exams' | 'reward' | 'agent' | 'backend'

/** Where users name each kind, for messages: the flag, and the recipe's key where it differs. */
export const partPlaces: Readonly<Record<PartKind, string>> = {
  patient: '--patient (env.patient)',
  exams: '--exams (env.exams)',
  reward: '--reward',
  agent: '--agent',
  backend: '--backend',
}

/** Whether the name of a part is a module file; every other name is a registered one. */
export const isModule = (name: string): boolean => /\.[cm]?[jt]s$/.test(name)

/** Exports of a module, by name. */
export type ModuleExports = Readonly<Record<string, unknown>>

/**
 * Loads a module from a path relative to the current directory.
 * @param at the flag or recipe key that names it, for messages
 * @throws Fault `bad-input` for a file that is missing, cannot be read, throws, or is TypeScript where Node runs none
 */
export async function loadModule(file: string, at: string): Promise<ModuleExports> {
  const place = `${at} ${file}`
  if (!existsSync(file))
    throw new Fault('bad-input', `${place}: expected a module, there is no such file`)
  if (/\.[cm]?ts$/.test(file) && !Reflect.get(process.features, 'typescript'))
    throw new Fault(
      'bad-input',
      `${place}: expected a .mjs module, or Node 22.18 or later, which runs TypeScript; got Node ${process.versions.node}`,
    )
  return rethrowAsFault('bad-input', place, () => import(pathToFileURL(file).href))
}

/**
 * Loads a module and returns its export of one kind.
 * @param problemOf describes what is wrong with a value ("expected …, got …"); undefined where nothing is
 * @throws Fault `bad-input` naming the place, the file, what was expected and what the module exports
 */
export async function loadPart(
  kind: PartKind,
  file: string,
  {
    at,
    problemOf,
  }: { readonly at: string; readonly problemOf: (value: unknown) => string | undefined },
): Promise<unknown> {
  const module = await loadModule(file, at)
  const problem = problemOf(module[kind])
  if (problem === undefined) return module[kind]
  const found = Object.keys(module).join(', ') || '(none)'
  throw new Fault(
    'bad-input',
    `${at} ${file}: export \`${kind}\`: ${problem} among the exports ${found}`,
  )
}

/** Describes what is expected in place of an unknown name: all names, a module, and similar names. */
export function expectedPart(kind: PartKind, name: string, names: readonly string[]): string {
  const near = suggestNames(name, names).map((known) => `\`${known}\``)
  const hint = near.length > 0 ? ` (did you mean ${near.join(' or ')}?)` : ''
  return `expected ${[...names, `or a module (.mjs) that exports \`${kind}\``].join(', ')}${hint}`
}

/** Fault `bad-input` for an unknown part name, with similar names. */
export const unknownPart = (
  kind: PartKind,
  name: string,
  { at, names }: { readonly at: string; readonly names: readonly string[] },
): Fault => new Fault('bad-input', `${at}: ${expectedPart(kind, name, names)}, got \`${name}\``)

/** Factories of one kind of part, by name. */
export interface PartRegistry<Make> {
  /** @throws TypeError for a name that is taken, empty, or reads as a module file */
  register(name: string, make: Make): void
  /** The factory of a name; undefined where none is registered. */
  get(name: string): Make | undefined
  /** Names in the order of registration. */
  names(): readonly string[]
}

/** Creates an empty registry; `taken` are the built-in names. */
export function partRegistry<Make>(kind: PartKind, taken: readonly string[]): PartRegistry<Make> {
  const makers = new Map<string, Make>()
  return {
    register(name, make) {
      if (name === '' || isModule(name))
        throw new TypeError(
          `Expected a name (${kind}) that is no module file to register, got \`${name}\``,
        )
      if (makers.has(name) || taken.includes(name))
        throw new TypeError(
          `Expected a new name (${kind}) to register, got \`${name}\`, which is taken`,
        )
      if (typeof make !== 'function')
        throw new TypeError(`Expected a function that makes \`${name}\` (${kind}), got \`${make}\``)
      makers.set(name, make)
    },
    get: (name) => makers.get(name),
    names: () => [...makers.keys()],
  }
}

const got = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'an array' : typeof value

const isFunction = (value: unknown): boolean => typeof value === 'function'

/** Checks a patient, a reward, or a backend factory. */
export const functionProblem = (value: unknown): string | undefined =>
  isFunction(value) ? undefined : `expected a function, got ${got(value)}`

/** Whether a value is an examination simulator: a function, or one that is told the diagnosis. */
export const isExamSimulator = (value: unknown): boolean =>
  isFunction(value) || isFunction(Object(value).informed)

/** Checks examination simulators: a function, or a non-empty array of them. */
export function examsProblem(value: unknown): string | undefined {
  if (isExamSimulator(value)) return undefined
  if (!Array.isArray(value)) return `expected a function or an array of them, got ${got(value)}`
  const wrong = value.findIndex((one) => !isExamSimulator(one))
  if (wrong >= 0) return `expected functions, got ${got(value[wrong])} at ${wrong}`
  return value.length > 0 ? undefined : 'expected at least one function, got an empty array'
}

/** Checks an agent: a function, or a privileged agent with `forCase`. */
export const agentProblem = (value: unknown): string | undefined =>
  isFunction(value) ||
  (typeof value === 'object' && value !== null && 'forCase' in value && isFunction(value.forCase))
    ? undefined
    : `expected a function, got ${got(value)}`

const required = ['sampler', 'step', 'save', 'load', 'export'] as const
const optional = ['logprobs', 'keepReference', 'values', 'demonstrate', 'conclude'] as const

function capabilityProblems(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return ['capabilities (an object)']
  const lists = ['losses', 'normalisers', 'exports'].flatMap((key) =>
    Array.isArray(Reflect.get(value, key)) ? [] : [`capabilities.${key} (an array)`],
  )
  const { entropy }: { entropy?: unknown } = value
  return typeof entropy === 'boolean' ? lists : [...lists, 'capabilities.entropy (a boolean)']
}

/** Checks a backend; lists every member that is missing or of another type. */
export function backendProblem(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return `expected a backend, got ${got(value)}`
  const has = (key: string | symbol): unknown => Reflect.get(value, key)
  const missing = [
    ...(typeof has('name') === 'string' ? [] : ['name (a string)']),
    ...(typeof has('policyVersion') === 'number' ? [] : ['policyVersion (a number)']),
    ...capabilityProblems(has('capabilities')),
    ...required.flatMap((key) => (isFunction(has(key)) ? [] : [`${key}()`])),
    ...optional.flatMap((key) =>
      has(key) === undefined || isFunction(has(key)) ? [] : [`${key}() or no ${key} at all`],
    ),
    ...(isFunction(has(Symbol.asyncDispose)) ? [] : ['[Symbol.asyncDispose]()']),
  ]
  return missing.length === 0
    ? undefined
    : `expected a backend, got one without ${missing.join(', ')}`
}
