/** Modules that a recipe names: those of a stored run are executed only where somebody says so. */
import { Fault } from '../error.js'
import { isModule } from '../tasks/modules.js'
import type { Recipe } from './recipe.js'

/** The recipe's keys under which a part can be a module. */
export const partKeys = [
  'reward',
  'env.patient',
  'env.exams',
  'backend',
  'training.sft.agent',
] as const
/** A recipe's key under which a part can be a module. */
export type PartKey = (typeof partKeys)[number]

/** The modules that a recipe names, each with its key. */
export function modulesOf(
  recipe: Recipe,
): readonly { readonly key: PartKey; readonly file: string }[] {
  const { reward, env, backend, training } = recipe
  const named: readonly (readonly [PartKey, string | undefined])[] = [
    ['reward', reward],
    ['env.patient', env.patient],
    ...(env.exams ?? []).map((exams) => ['env.exams', exams] as const),
    ['backend', backend],
    ['training.sft.agent', training.algorithm === 'sft' ? training.sft.agent : undefined],
  ]
  return named.flatMap(([key, file]) =>
    file !== undefined && isModule(file) ? [{ key, file }] : [],
  )
}

/** What a stored recipe is read for. */
export interface TrustOptions {
  /** Allows the modules that the stored recipe names. @default false */
  readonly trust?: boolean
  /** The keys whose parts the reader loads. @default every one */
  readonly keys?: readonly PartKey[]
}

/** @throws Fault `bad-input` where there are modules that a stored run in `folder` names, and `trust` is not given */
export function assertTrustedModules(
  folder: string,
  modules: readonly { readonly key: string; readonly file: string }[],
  trust: boolean,
): void {
  if (trust || modules.length === 0) return
  const named = modules.map(({ key, file }) => `the module ${file} (${key})`).join(' and ')
  throw new Fault(
    'bad-input',
    `${folder}: what is stored here names ${named}; expected --trust, with which it is executed, got none`,
  )
}

/** @throws Fault `bad-input` where a stored recipe names a module and `trust` is not given */
export const assertTrusted = (
  folder: string,
  recipe: Recipe,
  { trust = false, keys }: TrustOptions,
): void =>
  assertTrustedModules(
    folder,
    modulesOf(recipe).filter(({ key }) => keys?.includes(key) ?? true),
    trust,
  )
