/** Environment registry: `make('consultation', options)`, typed by declaration merging. */
import type { Env } from '../env.js'
import { suggestNames } from '../platform/did-you-mean.js'
import type { MakeConsultationOptions } from './consultation.js'
import type { QuestionOptions } from './question.js'

/**
 * The names `make` knows, each with its options and its env; open for declaration merging.
 *
 *     declare module 'bedside' {
 *       interface EnvRegistry { triage: { options: TriageOptions; env: Env } }
 *     }
 *     register('triage', makeTriage)
 */
export interface EnvRegistry {
  consultation: { options: MakeConsultationOptions; env: Env }
  question: { options: QuestionOptions; env: Env }
}

/** A registered name. */
export type EnvId = keyof EnvRegistry & string

type RegistryEntry<K extends EnvId> = EnvRegistry[K] extends infer E extends {
  options: object
  env: object
}
  ? E
  : never
/** The arguments of `make` after the name; optional where all options are. */
type MakeArguments<K extends EnvId> =
  Record<never, never> extends RegistryEntry<K>['options']
    ? [options?: RegistryEntry<K>['options']]
    : [options: RegistryEntry<K>['options']]
type EnvMaker<K extends EnvId> = (...options: MakeArguments<K>) => RegistryEntry<K>['env']

const makers = new Map<string, (...options: readonly unknown[]) => unknown>()

/**
 * Registers an env under a name for `make`.
 * @throws TypeError when the name is taken
 */
export function register<K extends EnvId>(id: K, maker: EnvMaker<K>): void {
  if (makers.has(id))
    throw new TypeError(`Expected a new name to register, got \`${id}\`, which is taken`)
  // A map cannot tie the type of a value to its key; `make` hands over the same key's arguments.
  makers.set(id, maker as (...options: readonly unknown[]) => unknown)
}

/**
 * Makes an env by its registered name.
 * @throws RangeError for an unregistered name, listing the registered ones
 */
export function make<K extends EnvId>(
  id: K,
  ...options: MakeArguments<K>
): RegistryEntry<K>['env'] {
  const maker = makers.get(id)
  if (!maker) {
    const known = [...makers.keys()].sort().join(', ') || 'none so far'
    const [near] = suggestNames(String(id), [...makers.keys()], 1)
    const hint = near === undefined ? '' : `; did you mean \`${near}\`?`
    throw new RangeError(`Expected a registered environment (${known}), got \`${id}\`${hint}`)
  }
  return maker(...options) as RegistryEntry<K>['env'] // registered under the same key
}
