/** Modules named by a recipe. Those of a stored run are executed only with `trust`. */
import { Fault } from '../error.js'
import { isModule } from '../tasks/modules.js'
import type { Recipe } from './recipe.js'

/** Recipe keys whose value can be a module file. */
export const partKeys = [
  'reward',
  'env.patient',
  'env.exams',
  'backend',
  'training.sft.agent',
] as const
/** A recipe key whose value can be a module file. */
export type PartKey = (typeof partKeys)[number]

/** The module files that a recipe names, each with its key. */
export function recipeModules(
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

/** Which modules of a stored recipe may be executed. */
export interface TrustOptions {
  /** Whether modules named by the stored recipe may be executed. @default false */
  readonly trust?: boolean
  /** Keys whose parts the caller will load; others are not checked. @default all */
  readonly keys?: readonly PartKey[]
}

/** Refuses modules named by a stored run in `folder` unless `trust` is given. @throws Fault `bad-input` */
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

/** Refuses a stored recipe that names modules unless `trust` is given. @throws Fault `bad-input` */
export const assertTrusted = (
  folder: string,
  recipe: Recipe,
  { trust = false, keys }: TrustOptions,
): void =>
  assertTrustedModules(
    folder,
    recipeModules(recipe).filter(({ key }) => keys?.includes(key) ?? true),
    trust,
  )
