/** The paths in a recipe: which of its keys hold one, and what each is relative to. */
import { isAbsolute, join, relative, resolve } from 'node:path'
import { isModule } from '../tasks/modules.js'
import { valueAt } from './recipe-problems.js'

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

/** Recipe keys whose value is always a path. */
const fileKeys = [
  ...(['cases.file', 'policy.model', 'training.sft.demonstrations', 'init'] as const),
  ...(['models.cassette.file', 'prepare.cases', 'prepare.run'] as const),
] as const

/** A path in a recipe, and the keys and indices that lead to it. */
export interface RecipePath {
  readonly at: readonly (string | number)[]
  readonly file: string
}

/** The paths in an unchecked or checked recipe. */
export function recipePaths(raw: unknown): readonly RecipePath[] {
  const strings = (at: readonly (string | number)[]): RecipePath[] => {
    const value = valueAt(raw, at)
    if (typeof value === 'string') return [{ at, file: value }]
    return Array.isArray(value) ? value.flatMap((_, i) => strings([...at, i])) : []
  }
  const inputs = valueAt(raw, ['inputs'])
  const count = Array.isArray(inputs) ? inputs.length : 0
  return [
    ...fileKeys.flatMap((key) => strings(key.split('.'))),
    ...partKeys.flatMap((key) => strings(key.split('.')).filter(({ file }) => isModule(file))),
    ...Array.from({ length: count }, (_, i) => strings(['inputs', i, 'file'])).flat(),
  ]
}

/** A copy of a recipe with each of its paths replaced. */
function withPaths<R extends object>(recipe: R, replace: (file: string) => string): R {
  const copy = structuredClone(recipe)
  for (const { at, file } of recipePaths(recipe))
    Reflect.set(Object(valueAt(copy, at.slice(0, -1))), at.at(-1) ?? '', replace(file))
  return copy
}

/** A path that is relative to a folder, as one that is relative to the shell's folder. */
export const pathFrom = (folder: string, file: string): string =>
  isAbsolute(file) ? file : join(folder, file)

/** A path that is relative to the shell's folder, as one that is relative to a folder. */
export const pathIn = (folder: string, file: string): string =>
  isAbsolute(file) ? file : relative(resolve(folder), resolve(file))

/** A recipe as it is stored in a folder, which its relative paths are then relative to. */
export const storedIn = <R extends object>(folder: string, recipe: R): R =>
  withPaths(recipe, (file) => pathIn(folder, file))

/** A recipe read from a folder that its relative paths are relative to, with paths relative to the shell's folder. */
export const readFrom = <R extends object>(folder: string, recipe: R): R =>
  withPaths(recipe, (file) => pathFrom(folder, file))

/** A recipe whose paths are all absolute, to compare it with another. */
export const withAbsolutePaths = <R extends object>(recipe: R): R =>
  withPaths(recipe, (file) => resolve(file))
