/**
 * Freezes a plain value, or the values of a Map, deeply, so that writing to it throws. A part that is frozen already
 * is taken to be frozen throughout, which makes freezing a growing list cheap.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
  if (value instanceof Map) {
    Object.freeze(value)
    for (const part of value.values()) deepFreeze(part)
    return value
  }
  if (Object.isFrozen(value)) return value
  Object.freeze(value)
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) deepFreeze(value[i])
    return value
  }
  // Unlike `Object.values`, this makes no list: a turn freezes a dozen small objects.
  for (const key in value) if (Object.hasOwn(value, key)) deepFreeze(value[key])
  return value
}

/** Makes a map that throws where somebody writes to it: to freeze a Map leaves its entries open. */
export function readOnlyMap<K, V>(entries: Iterable<readonly [K, V]>): ReadonlyMap<K, V> {
  const map = new Map(entries)
  const value = (): never => {
    throw new TypeError('Expected nobody to write to this map')
  }
  return Object.defineProperties(map, { set: { value }, delete: { value }, clear: { value } })
}
