/**
 * Compiles a zod schema into a quick check of parsed JSON, a fast path for millions of rows.
 *
 * zod makes a new value and a record for every field, which costs more than parsing the JSON did. A quick check only
 * looks, and fills in the schema's defaults. It accepts nothing that zod refuses, and is `unsure` of unusual values;
 * then zod decides and reports the problem.
 */
import { type $ZodType, type $ZodTypes, safeParse } from 'zod/v4/core'

/** Result of a quick check where zod has to decide. */
export const unsure = Symbol('unsure')

/** Gives the value, with defaults filled in place, or `unsure`. The caller must own the value, parsed from JSON. */
export type QuickCheck = (value: unknown) => unknown

type ObjectShape = Readonly<Record<string, $ZodType>>

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Check by zod itself, for a kind without a quick check. */
const zodCheck =
  (schema: $ZodType): QuickCheck =>
  (value) => {
    const { success, data } = safeParse(schema, value)
    return success ? data : unsure
  }

/** Test of a number, text or list against one of zod's own bounds; undefined for any other kind of check. */
function boundTest(definition: object): ((value: unknown) => boolean) | undefined {
  const { check, value, inclusive, minimum, format }: Record<string, unknown> = { ...definition }
  const bound = Number(value ?? minimum)
  if (check === 'greater_than')
    return inclusive ? (n) => Number(n) >= bound : (n) => Number(n) > bound
  if (check === 'less_than') return inclusive ? (n) => Number(n) <= bound : (n) => Number(n) < bound
  if (check === 'number_format' && format === 'safeint') return Number.isSafeInteger
  if (check === 'min_length')
    return (some) => (typeof some === 'string' || Array.isArray(some)) && some.length >= bound
  return undefined
}

/** Adds a schema's bounds to its quick check; zod runs custom checks, on the whole value. */
function addBounds(schema: $ZodType, read: QuickCheck): QuickCheck {
  const bounds = (schema._zod.def.checks ?? []).map(({ _zod }) => boundTest(_zod.def))
  if (bounds.length === 0) return read
  const all = zodCheck(schema)
  const fits = bounds.includes(undefined)
    ? (value: unknown) => all(value) !== unsure
    : (value: unknown) => bounds.every((bound) => bound?.(value))
  return (value) => {
    const found = read(value)
    return found !== unsure && fits(found) ? found : unsure
  }
}

function arrayCheck(element: QuickCheck): QuickCheck {
  return (value) => {
    if (!Array.isArray(value)) return unsure
    for (let i = 0; i < value.length; i++) {
      const before: unknown = value[i]
      const after = element(before)
      if (after === unsure) return unsure
      if (after !== before) value[i] = after
    }
    return value
  }
}

/** Whether a key may be missing and then stays missing. */
function isOptional(schema: $ZodType): boolean {
  // zod's own union of all schemas, distinguished by its type tag.
  const { def } = (schema as $ZodTypes)._zod
  return def.type === 'optional' && def.innerType._zod.optin !== 'optional'
}

/** Unknown keys and missing required keys are left to zod. */
function objectCheck(shape: ObjectShape): QuickCheck {
  const fields = new Map(
    Object.entries(shape).map(([key, schema]) => [
      key,
      { check: quickCheck(schema), needed: isOptional(schema) ? 0 : 1 },
    ]),
  )
  let required = 0
  for (const { needed } of fields.values()) required += needed
  const complete = (value: Record<string, unknown>): unknown => {
    for (const [key, { check, needed }] of fields) {
      if (needed === 0 || key in value) continue
      value[key] = check(undefined)
      if (value[key] === unsure) return unsure
    }
    return value
  }
  return (value) => {
    if (!isObject(value)) return unsure
    let found = 0
    // Only present keys are checked: most objects lack most of their optional keys.
    for (const key in value) {
      const field = fields.get(key)
      if (!field) return unsure
      const before = value[key]
      const after = field.check(before)
      if (after === unsure) return unsure
      if (after !== before) value[key] = after
      found += field.needed
    }
    return found === required ? value : complete(value)
  }
}

function recordCheck(element: QuickCheck): QuickCheck {
  return (value) => {
    if (!isObject(value)) return unsure
    for (const key in value)
      if (key === '__proto__' || element(value[key]) !== value[key]) return unsure
    return value
  }
}

function unionCheck(discriminator: string, options: readonly $ZodType[]): QuickCheck {
  const byTag = new Map<unknown, QuickCheck>()
  for (const option of options)
    for (const tag of option._zod.propValues?.[discriminator] ?? [])
      byTag.set(tag, quickCheck(option))
  return (value) =>
    isObject(value) ? (byTag.get(value[discriminator])?.(value) ?? unsure) : unsure
}

/** Check of texts, numbers and other scalars; undefined for a kind with inner schemas. */
function scalarCheck(schema: $ZodType): QuickCheck | undefined {
  const { type, ...more } = schema._zod.def
  if ('coerce' in more || 'format' in more) return undefined
  if (type === 'string') return (value) => (typeof value === 'string' ? value : unsure)
  if (type === 'number') return (value) => (Number.isFinite(value) ? value : unsure)
  if (type === 'boolean') return (value) => (typeof value === 'boolean' ? value : unsure)
  const values: ReadonlySet<unknown> | undefined = schema._zod.values
  if ((type !== 'literal' && type !== 'enum') || !values) return undefined
  return (value) => (values.has(value) ? value : unsure)
}

function kindCheck(schema: $ZodType): QuickCheck {
  // zod's own union of all schemas, distinguished by its type tag.
  const { def } = (schema as $ZodTypes)._zod
  if (def.type === 'array') return arrayCheck(quickCheck(def.element))
  if (def.type === 'object') return objectCheck(def.shape)
  if (def.type === 'record' && scalarCheck(def.keyType) && def.keyType._zod.def.type === 'string')
    return def.keyType._zod.def.checks ? zodCheck(schema) : recordCheck(quickCheck(def.valueType))
  if (def.type === 'union' && 'discriminator' in def && typeof def.discriminator === 'string')
    return unionCheck(def.discriminator, def.options)
  if (def.type === 'optional') return quickCheck(def.innerType)
  if (def.type === 'nullable') {
    const inner = quickCheck(def.innerType)
    return (value) => (value === null ? null : inner(value))
  }
  if (def.type === 'default') {
    const inner = quickCheck(def.innerType)
    return (value) => (value === undefined ? structuredClone(def.defaultValue) : inner(value))
  }
  return scalarCheck(schema) ?? zodCheck(schema)
}

/**
 * Compiles a schema into its quick check. A value it accepts is one that zod accepts with the same output. An object
 * with an unknown key is never accepted, whether zod would refuse the object or drop the key.
 */
export const quickCheck = (schema: $ZodType): QuickCheck => addBounds(schema, kindCheck(schema))
