/** Plain data: JSON safety, differences, deep freezing, and the strings inside. */
import { preview } from '../platform/preview.js'

const isPlainObject = (value: object): value is Record<string, unknown> => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Describes the first place where a value does not survive JSON unchanged; undefined where all of it does. */
export function describeNonPlain(value: unknown, path: string): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return undefined
    case 'number':
      return Number.isFinite(value) ? undefined : `${path} is ${value}`
    case 'object': {
      if (value === null) return undefined
      if (!Array.isArray(value) && !isPlainObject(value))
        return `${path} is a ${value.constructor?.name ?? 'strange object'}`
      for (const [key, item] of Object.entries(value)) {
        const problem = describeNonPlain(
          item,
          Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`,
        )
        if (problem) return problem
      }
      return undefined
    }
    default:
      return `${path} is ${typeof value === 'undefined' ? 'undefined' : `a ${typeof value}`}`
  }
}

/** Describes the first place where two plain values differ, with both values; undefined where they are equal. */
export function describeDifference(
  got: unknown,
  expected: unknown,
  path: string,
): string | undefined {
  if (Object.is(got, expected)) return undefined
  const nested = (value: unknown): value is object => typeof value === 'object' && value !== null
  if (!nested(got) || !nested(expected) || Array.isArray(got) !== Array.isArray(expected))
    return `${path}: expected ${preview(expected)}, got ${preview(got)}`
  const before = new Map(Object.entries(expected))
  const after = new Map(Object.entries(got))
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    const problem = describeDifference(after.get(key), before.get(key), `${path}.${key}`)
    if (problem) return problem
  }
  return undefined
}

/** Yields every string in a plain value, without object keys. */
export function* allStrings(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null)
    for (const part of Object.values(value)) yield* allStrings(part)
}
