/**
 * Error messages for invalid recipes: misspelt keys with suggestions, and keys without effect under the recipe's
 * algorithm or loss. Keys are read from the zod schema.
 */
import { z } from 'zod'
import { suggestNames } from '../platform/did-you-mean.js'
import { discriminators, isRecord } from './recipe-training.js'

/** A problem of a recipe: its path, and what was expected there. */
export interface RecipeProblem {
  readonly path: readonly (string | number)[]
  readonly expected: string
}

type Path = readonly (string | number)[]
type Switch = keyof typeof discriminators

/** Schema of an object; for a member of a union, also the keys of every variant. */
interface ObjectSchema {
  readonly shape: Readonly<Record<string, z.core.$ZodType>>
  readonly variant?: { readonly by: Switch; readonly name: string; readonly all: Variants }
}
/** Keys of each variant of a union, by variant name. */
type Variants = ReadonlyMap<string, readonly string[]>

/** Strips defaults, optionality and preprocessing from a schema. */
function unwrapSchema(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodPipe) return unwrapSchema(schema.out)
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault
  )
    return unwrapSchema(schema.unwrap())
  return schema
}

/** Variants of a union of objects, by the value of their discriminator. */
function collectVariants(union: z.ZodDiscriminatedUnion, by: string): Map<string, z.ZodObject> {
  const variants = new Map<string, z.ZodObject>()
  for (const option of union.options) {
    if (!(option instanceof z.ZodObject)) continue
    const literal: unknown = option.shape[by]
    if (literal instanceof z.ZodLiteral) variants.set(String(literal.value), option)
  }
  return variants
}

/** Object schema that applies to `raw`; undefined where the schema is not of an object. */
function objectSchema(schema: z.core.$ZodType, raw: unknown): ObjectSchema | undefined {
  const inner = unwrapSchema(schema)
  if (inner instanceof z.ZodObject) return { shape: inner.shape }
  if (!(inner instanceof z.ZodDiscriminatedUnion)) return undefined
  const by = inner.def.discriminator as Switch // every union of a recipe has one of these
  const variants = collectVariants(inner, by)
  const name = String((isRecord(raw) ? raw[by] : undefined) ?? discriminators[by])
  const chosen = variants.get(name)
  if (!chosen) return undefined
  const all = new Map([...variants].map(([one, { shape }]) => [one, Object.keys(shape)] as const))
  return { shape: chosen.shape, variant: { by, name, all } }
}

/** The schema of the object at a path. */
function schemaAt(schema: z.core.$ZodType, raw: unknown, path: Path): ObjectSchema | undefined {
  const here = objectSchema(schema, raw)
  const [key, ...rest] = path
  if (key === undefined) return here
  const inner = unwrapSchema(schema)
  const next = inner instanceof z.ZodArray ? inner.element : here?.shape[key]
  const value = isRecord(raw) || Array.isArray(raw) ? Object(raw)[key] : undefined
  return next && schemaAt(next, value, rest)
}

/** Names of the variants that have a key which the chosen variant lacks. */
const owningVariants = (key: string, { variant }: ObjectSchema): readonly string[] =>
  [...(variant?.all ?? [])].flatMap(([name, keys]) => (keys.includes(key) ? [name] : []))

/** Dotted paths of every key under a schema, with the variants that `raw` chooses. */
function keyPaths(schema: z.core.$ZodType, raw: unknown): string[] {
  const { shape = {} } = objectSchema(schema, raw) ?? {}
  return Object.entries(shape).flatMap(([key, inner]) => {
    const below = keyPaths(inner, isRecord(raw) ? raw[key] : undefined)
    return [key, ...below.map((path) => `${key}.${path}`)]
  })
}

/** "Did you mean" hint for an unknown key: a similar key of the same object, or the same key elsewhere. */
function suggestKey(schema: z.core.$ZodType, raw: unknown, path: Path, key: string): string {
  const siblings = Object.keys(schemaAt(schema, raw, path)?.shape ?? {})
  const near = suggestNames(key, siblings, 1).map((name) => [...path, name].join('.'))
  const elsewhere = () => keyPaths(schema, raw).filter((one) => one.split('.').at(-1) === key)
  const found = near.length > 0 ? near : elsewhere()
  return found.length > 0 ? ` (did you mean ${found.map((one) => `\`${one}\``).join(' or ')}?)` : ''
}

function keyProblem(schema: z.core.$ZodType, raw: unknown, path: Path, key: string): RecipeProblem {
  const here = schemaAt(schema, raw, path)
  const owners = here ? owningVariants(key, here) : []
  const { by, name } = here?.variant ?? {}
  const expected =
    owners.length > 0
      ? `has no effect under ${by === 'kind' ? 'loss' : by} \`${name}\` (it belongs to ${owners.join(', ')})`
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

/** Removes keys that belong to other variants than the chosen ones, and so have no effect. */
export function removeIdleKeys(schema: z.core.$ZodType, raw: unknown): unknown {
  const here = objectSchema(schema, raw)
  if (!here || !isRecord(raw)) return raw
  return Object.fromEntries(
    Object.entries(raw).flatMap(([key, value]) => {
      const inner = here.shape[key]
      if (inner) return [[key, removeIdleKeys(inner, value)]]
      return owningVariants(key, here).length > 0 ? [] : [[key, value]]
    }),
  )
}
