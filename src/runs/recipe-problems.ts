/**
 * What is wrong with a recipe, in words: misspelt keys with the key that was probably meant, and keys without effect
 * under the recipe's algorithm or loss. Reads the schema beside the value, so that no list of keys is written twice.
 */
import { z } from 'zod'
import { suggestNames } from '../platform/did-you-mean.js'
import { discriminators, isRecord } from './recipe-training.js'

/** A place in a recipe, and what was expected there. */
export interface RecipeProblem {
  readonly path: readonly (string | number)[]
  readonly expected: string
}

type Path = readonly (string | number)[]
type Switch = keyof typeof discriminators

/** A schema of an object, and where it was one of several: which keys belong to which of them. */
interface ObjectSchema {
  readonly shape: Readonly<Record<string, z.core.$ZodType>>
  readonly variant?: { readonly by: Switch; readonly name: string; readonly all: Variants }
}
/** The keys of each variant of a union, by its name. */
type Variants = ReadonlyMap<string, readonly string[]>

/** The schema inside defaults, optional values and preprocessing. */
function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodPipe) return unwrapped(schema.out)
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault
  )
    return unwrapped(schema.unwrap())
  return schema
}

/** The variants of a union of objects, by the value of the key that tells them apart. */
function variantsOf(union: z.ZodDiscriminatedUnion, by: string): Map<string, z.ZodObject> {
  const variants = new Map<string, z.ZodObject>()
  for (const option of union.options) {
    if (!(option instanceof z.ZodObject)) continue
    const literal: unknown = option.shape[by]
    if (literal instanceof z.ZodLiteral) variants.set(String(literal.value), option)
  }
  return variants
}

/** The schema of an object as a value has it; undefined for a schema of anything else. */
function objectSchema(schema: z.core.$ZodType, raw: unknown): ObjectSchema | undefined {
  const inner = unwrapped(schema)
  if (inner instanceof z.ZodObject) return { shape: inner.shape }
  if (!(inner instanceof z.ZodDiscriminatedUnion)) return undefined
  const by = inner.def.discriminator as Switch // the unions of a recipe are told apart by these
  const variants = variantsOf(inner, by)
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
  const inner = unwrapped(schema)
  const next = inner instanceof z.ZodArray ? inner.element : here?.shape[key]
  const value = isRecord(raw) || Array.isArray(raw) ? Object(raw)[key] : undefined
  return next && schemaAt(next, value, rest)
}

/** The variants that have a key, where the chosen one has not. */
const ownersOf = (key: string, { variant }: ObjectSchema): readonly string[] =>
  [...(variant?.all ?? [])].flatMap(([name, keys]) => (keys.includes(key) ? [name] : []))

/** Paths of every key under a schema, as a value has it. */
function pathsOf(schema: z.core.$ZodType, raw: unknown): string[] {
  const { shape = {} } = objectSchema(schema, raw) ?? {}
  return Object.entries(shape).flatMap(([key, inner]) => {
    const below = pathsOf(inner, isRecord(raw) ? raw[key] : undefined)
    return [key, ...below.map((path) => `${key}.${path}`)]
  })
}

/** The key that was probably meant: a near one of the same object, or the same one elsewhere. */
function meant(schema: z.core.$ZodType, raw: unknown, path: Path, key: string): string {
  const siblings = Object.keys(schemaAt(schema, raw, path)?.shape ?? {})
  const near = suggestNames(key, siblings, 1).map((name) => [...path, name].join('.'))
  const elsewhere = () => pathsOf(schema, raw).filter((one) => one.split('.').at(-1) === key)
  const found = near.length > 0 ? near : elsewhere()
  return found.length > 0 ? ` (did you mean ${found.map((one) => `\`${one}\``).join(' or ')}?)` : ''
}

function problemOfKey(
  schema: z.core.$ZodType,
  raw: unknown,
  path: Path,
  key: string,
): RecipeProblem {
  const here = schemaAt(schema, raw, path)
  const owners = here ? ownersOf(key, here) : []
  const { by, name } = here?.variant ?? {}
  const expected =
    owners.length > 0
      ? `has no effect under ${by === 'kind' ? 'loss' : by} \`${name}\` (it belongs to ${owners.join(', ')})`
      : `unknown key ${key}${meant(schema, raw, path, key)}`
  return { path: [...path, key], expected }
}

/** Every problem of a value that a schema refused, in the order they were found. */
export const problemsOf = (
  schema: z.core.$ZodType,
  { issues }: z.ZodError,
  raw: unknown,
): readonly RecipeProblem[] =>
  issues.flatMap((issue): RecipeProblem[] => {
    const path = issue.path.filter((key) => typeof key !== 'symbol')
    return issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => problemOfKey(schema, raw, path, key))
      : [{ path, expected: issue.message }]
  })

/** A value without the keys that have no effect under its variants. */
export function withoutIdleKeys(schema: z.core.$ZodType, raw: unknown): unknown {
  const here = objectSchema(schema, raw)
  if (!here || !isRecord(raw)) return raw
  return Object.fromEntries(
    Object.entries(raw).flatMap(([key, value]) => {
      const inner = here.shape[key]
      if (inner) return [[key, withoutIdleKeys(inner, value)]]
      return ownersOf(key, here).length > 0 ? [] : [[key, value]]
    }),
  )
}
