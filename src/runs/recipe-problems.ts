/**
 * Error messages for invalid recipes: misspelt keys with suggestions, and keys without effect under the recipe's
 * algorithm or loss, or beside another key. Keys are read from the zod schema.
 */
import { z } from 'zod'
import { suggestNames } from '../platform/did-you-mean.js'
import { discriminators, isRecord } from './recipe-training.js'

type Path = readonly (string | number)[]

/** A problem of a recipe: its path, and what was expected there. */
export interface RecipeProblem {
  readonly path: Path
  readonly expected: string
}

/** The schema of an object. Of a union's variant also which it is, and which variants have a key. */
interface ObjectSchema {
  readonly shape: Readonly<Record<string, z.core.$ZodType>>
  readonly under?: string
  readonly ownersOf?: (key: string) => readonly string[]
}

/** Strips defaults, optionality and preprocessing from a schema. */
function unwrapSchema(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodPipe) return unwrapSchema(schema.out)
  const wraps = [z.ZodOptional, z.ZodDefault, z.ZodPrefault].some((kind) => schema instanceof kind)
  return wraps ? unwrapSchema((schema as z.ZodOptional).unwrap()) : schema
}

/** Object schema that applies to `raw`; undefined where the schema is not of an object. */
function objectSchema(schema: z.core.$ZodType, raw: unknown): ObjectSchema | undefined {
  const inner = unwrapSchema(schema)
  if (inner instanceof z.ZodObject) return { shape: inner.shape }
  if (!(inner instanceof z.ZodDiscriminatedUnion)) return undefined
  // Every union of a recipe has one of these, and is of objects with a literal.
  const by = inner.def.discriminator as keyof typeof discriminators
  const variants = inner.options as readonly z.ZodObject[]
  const nameOf = ({ shape }: z.ZodObject) => String((shape[by] as z.ZodLiteral).value)
  const name = String((isRecord(raw) ? raw[by] : undefined) ?? discriminators[by])
  const chosen = variants.find((variant) => nameOf(variant) === name)
  return (
    chosen && {
      shape: chosen.shape,
      under: `${by === 'kind' ? 'loss' : by} \`${name}\``,
      ownersOf: (key) => variants.filter(({ shape }) => key in shape).map(nameOf),
    }
  )
}

/** The value at a path of a checked or unchecked recipe. */
export const valueAt = (raw: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (value, key) => (isRecord(value) || Array.isArray(value) ? Object(value)[key] : undefined),
    raw,
  )

/** The schema of the object at a path. */
function schemaAt(schema: z.core.$ZodType, raw: unknown, path: Path): ObjectSchema | undefined {
  const [key, ...rest] = path
  const here = objectSchema(schema, raw)
  if (key === undefined) return here
  const inner = unwrapSchema(schema)
  const next = inner instanceof z.ZodArray ? inner.element : here?.shape[key]
  return next && schemaAt(next, valueAt(raw, [key]), rest)
}

/** Dotted paths of every key under a schema, with the variants that `raw` chooses. */
const keyPaths = (schema: z.core.$ZodType, raw: unknown): string[] =>
  Object.entries(objectSchema(schema, raw)?.shape ?? {}).flatMap(([key, inner]) => {
    const below = keyPaths(inner, valueAt(raw, [key]))
    return [key, ...below.map((path) => `${key}.${path}`)]
  })

/** "Did you mean" hint for an unknown key: a similar key of the same object, or the same key elsewhere. */
function suggestKey(schema: z.core.$ZodType, raw: unknown, path: Path, key: string): string {
  const siblings = Object.keys(schemaAt(schema, raw, path)?.shape ?? {})
  const near = suggestNames(key, siblings, 1).map((name) => [...path, name].join('.'))
  const elsewhere = () => keyPaths(schema, raw).filter((one) => one.split('.').at(-1) === key)
  const found = near.length > 0 ? near : elsewhere()
  return found.length > 0 ? ` (did you mean ${found.map((one) => `\`${one}\``).join(' or ')}?)` : ''
}

function keyProblem(schema: z.core.$ZodType, raw: unknown, path: Path, key: string): RecipeProblem {
  const { under, ownersOf } = schemaAt(schema, raw, path) ?? {}
  const owners = ownersOf?.(key) ?? []
  const expected =
    owners.length > 0
      ? `has no effect under ${under} (it belongs to ${owners.join(', ')})`
      : `unknown key ${key}${suggestKey(schema, raw, path, key)}`
  return { path: [...path, key], expected }
}

/** Describes every zod issue of a refused recipe, in the order found. */
export const recipeProblems = (
  schema: z.core.$ZodType,
  { issues }: z.ZodError,
  raw: unknown,
): readonly RecipeProblem[] =>
  issues.flatMap((issue): RecipeProblem[] => {
    const path = issue.path.filter((key) => typeof key !== 'symbol')
    return issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => keyProblem(schema, raw, path, key))
      : [{ path, expected: issue.message }]
  })

/** Keys of an object that have no effect beside another of its keys. */
const idleBeside = [
  { at: ['policy'], key: 'url', idle: ['engine', 'dtype', 'device', 'threads'] },
  { at: ['training', 'sft'], key: 'demonstrations', idle: ['agent', 'cases', 'times'] },
]

/** Finds keys without effect beside another in a checked recipe; a default is not one that somebody wrote. */
export const idleProblems = (recipe: object, defaults: object): readonly RecipeProblem[] =>
  idleBeside.flatMap(({ at, key, idle }) =>
    valueAt(recipe, [...at, key]) === undefined
      ? []
      : idle
          .map((name) => [...at, name])
          .filter((path) => valueAt(recipe, path) !== valueAt(defaults, path))
          .map((path) => ({ path, expected: `has no effect beside \`${key}\`` })),
  )

/** Removes keys without effect: those of other variants than the chosen ones, and those beside another key. */
export function removeIdleKeys(schema: z.core.$ZodType, raw: unknown, path = ''): unknown {
  const here = objectSchema(schema, raw)
  if (!here || !isRecord(raw)) return raw
  const { key: beside = '', idle = [] } = idleBeside.find(({ at }) => at.join('.') === path) ?? {}
  const ignored = raw[beside] === undefined ? [] : idle
  return Object.fromEntries(
    Object.entries(raw).flatMap(([key, value]) => {
      const inner = here.shape[key]
      if (ignored.includes(key) || (!inner && here.ownersOf?.(key).length)) return []
      const below = path === '' ? key : `${path}.${key}`
      return [[key, inner ? removeIdleKeys(inner, value, below) : value]]
    }),
  )
}
