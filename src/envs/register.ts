/** Environments by name: `make('consultation', options)`, typed by whoever registered the name. */

import type { Env } from '../env.js'
import { nearNames } from '../platform/did-you-mean.js'
import type { MakeConsultation } from './consultation.js'
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
  consultation: { options: MakeConsultation; env: Env }
  question: { options: QuestionOptions; env: Env }
}

/** A registered name. */
export type EnvId = keyof EnvRegistry & string

type Entry<K extends EnvId> = EnvRegistry[K] extends infer E extends {
  options: object
  env: object
}
  ? E
  : never
/** The options of a registered env; needed where one of them is. */
type Arguments<K extends EnvId> =
  Record<never, never> extends Entry<K>['options']
    ? [options?: Entry<K>['options']]
    : [options: Entry<K>['options']]
type Maker<K extends EnvId> = (...options: Arguments<K>) => Entry<K>['env']

const makers = new Map<string, (...options: readonly unknown[]) => unknown>()

/**
 * Makes a name known to `make`.
 * @throws TypeError when it is taken
 */
export function register<K extends EnvId>(id: K, maker: Maker<K>): void {
  if (makers.has(id))
    throw new TypeError(`Expected a new name to register, got \`${id}\`, which is taken`)
  // A map cannot tie the type of a value to its key; `make` hands over the same key's arguments.
  makers.set(id, maker as (...options: readonly unknown[]) => unknown)
}

/**
 * Makes an env by its registered name.
 * @throws RangeError for a name that nobody registered, listing those there are
 */
export function make<K extends EnvId>(id: K, ...options: Arguments<K>): Entry<K>['env'] {
  const maker = makers.get(id)
  if (!maker) {
    const known = [...makers.keys()].sort().join(', ') || 'none so far'
    const [near] = nearNames(String(id), [...makers.keys()], 1)
    const hint = near === undefined ? '' : `; did you mean \`${near}\`?`
    throw new RangeError(`Expected a registered environment (${known}), got \`${id}\`${hint}`)
  }
  return maker(...options) as Entry<K>['env'] // registered under the same key
}
