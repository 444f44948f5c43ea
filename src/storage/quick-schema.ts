/**
 * A quick reading of parsed JSON by a zod schema.
 *
 * zod makes a new value and a record of what it met for every field, which over millions of rows costs more than
 * parsing them did. Here a schema is turned once into functions that only look, and that fill in what the schema fills
 * in. They accept nothing that zod refuses, and are not sure of whatever is out of the ordinary: zod is asked then, and
 * says what is wrong.
 */
import type { $ZodType, $ZodTypes } from 'zod/v4/core'
import { safeParse } from 'zod/v4/core'

/** What a quick reading gives where zod has to be asked. */
export const unsure = Symbol('unsure')

/** Gives the value, completed in place where it is an object, or `unsure`. It must be parsed JSON of one's own. */
export type QuickCheck = (value: unknown) => unknown

type Shape = Readonly<Record<string, $ZodType>>

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Of a kind that has no quick reading. */
const asked =
  (schema: $ZodType): QuickCheck =>
  (value) => {
    const { success, data } = safeParse(schema, value)
    return success ? data : unsure
  }

/** Whether a number, text or list is within one of zod's own bounds; undefined for a check that has to be asked. */
function boundOf(definition: object): ((value: unknown) => boolean) | undefined {
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

/** A reading held to the checks of its schema; one that its author wrote is left to zod, on the whole value. */
function within(schema: $ZodType, read: QuickCheck): QuickCheck {
  const bounds = (schema._zod.def.checks ?? []).map(({ _zod }) => boundOf(_zod.def))
  if (bounds.length === 0) return read
  const all = asked(schema)
  const fits = bounds.includes(undefined)
    ? (value: unknown) => all(value) !== unsure
    : (value: unknown) => bounds.every((bound) => bound?.(value))
  return (value) => {
    const found = read(value)
    return found !== unsure && fits(found) ? found : unsure
  }
}

function ofArray(element: QuickCheck): QuickCheck {
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

/** True for a key that may be missing and then stays missing. */
function mayMiss(schema: $ZodType): boolean {
  // zod's own union of all schemas, told apart by what each says it is.
  const { def } = (schema as $ZodTypes)._zod
  return def.type === 'optional' && def.innerType._zod.optin !== 'optional'
}

/** Keys that the schema has not, and keys it needs and the value has not, are zod's to judge. */
function ofObject(shape: Shape): QuickCheck {
  const fields = new Map(
    Object.entries(shape).map(([key, schema]) => [
      key,
      { check: quickCheck(schema), needed: mayMiss(schema) ? 0 : 1 },
    ]),
  )
  let most = 0
  for (const { needed } of fields.values()) most += needed
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
    // Only the keys that are there are looked at: most objects lack most of what they may have.
    for (const key in value) {
      const field = fields.get(key)
      if (!field) return unsure
      const before = value[key]
      const after = field.check(before)
      if (after === unsure) return unsure
      if (after !== before) value[key] = after
      found += field.needed
    }
    return found === most ? value : complete(value)
  }
}

function ofRecord(element: QuickCheck): QuickCheck {
  return (value) => {
    if (!isObject(value)) return unsure
    for (const key in value)
      if (key === '__proto__' || element(value[key]) !== value[key]) return unsure
    return value
  }
}

function ofUnion(discriminator: string, options: readonly $ZodType[]): QuickCheck {
  const byTag = new Map<unknown, QuickCheck>()
  for (const option of options)
    for (const tag of option._zod.propValues?.[discriminator] ?? [])
      byTag.set(tag, quickCheck(option))
  return (value) =>
    isObject(value) ? (byTag.get(value[discriminator])?.(value) ?? unsure) : unsure
}

/** Texts, numbers and the like; undefined for a kind with something inside. */
function ofPlain(schema: $ZodType): QuickCheck | undefined {
  const { type, ...more } = schema._zod.def
  if ('coerce' in more || 'format' in more) return undefined
  if (type === 'string') return (value) => (typeof value === 'string' ? value : unsure)
  if (type === 'number') return (value) => (Number.isFinite(value) ? value : unsure)
  if (type === 'boolean') return (value) => (typeof value === 'boolean' ? value : unsure)
  const values: ReadonlySet<unknown> | undefined = schema._zod.values
  if ((type !== 'literal' && type !== 'enum') || !values) return undefined
  return (value) => (values.has(value) ? value : unsure)
}

function ofKind(schema: $ZodType): QuickCheck {
  // zod's own union of all schemas, told apart by what each says it is.
  const { def } = (schema as $ZodTypes)._zod
  if (def.type === 'array') return ofArray(quickCheck(def.element))
  if (def.type === 'object') return ofObject(def.shape)
  if (def.type === 'record' && ofPlain(def.keyType) && def.keyType._zod.def.type === 'string')
    return def.keyType._zod.def.checks ? asked(schema) : ofRecord(quickCheck(def.valueType))
  if (def.type === 'union' && 'discriminator' in def && typeof def.discriminator === 'string')
    return ofUnion(def.discriminator, def.options)
  if (def.type === 'optional') return quickCheck(def.innerType)
  if (def.type === 'nullable') {
    const inner = quickCheck(def.innerType)
    return (value) => (value === null ? null : inner(value))
  }
  if (def.type === 'default') {
    const inner = quickCheck(def.innerType)
    return (value) => (value === undefined ? structuredClone(def.defaultValue) : inner(value))
  }
  return ofPlain(schema) ?? asked(schema)
}

/**
 * Turns a schema into its quick reading: what it accepts zod accepts, and makes the same of it. An object with a key
 * that its schema does not know is never accepted, whether zod would refuse it or drop the key.
 */
export const quickCheck = (schema: $ZodType): QuickCheck => within(schema, ofKind(schema))
