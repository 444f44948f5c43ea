/**
 * Freezes a plain value, or the values of a Map, deeply, so that writing to it throws. A part that is frozen already
 * is taken to be frozen throughout, which makes freezing a growing list cheap.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
  if (Object.isFrozen(value) && !(value instanceof Map)) return value
  Object.freeze(value)
  const parts = value instanceof Map ? value.values() : Object.values(value)
  for (const part of parts) deepFreeze(part)
  return value
}
