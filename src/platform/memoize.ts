/** Memoisation: a bounded cache of per-text results, and a cache keyed by object identity. */

/**
 * Memoises a function of a text. The cache is cleared when full; `make` must be pure.
 * @param most cached texts at most
 * @param longest text cached, in UTF-16 units, since a policy may write text of any length @default 4000
 */
export function memoizeText<T>(
  make: (text: string) => T,
  { most, longest = 4000 }: { readonly most: number; readonly longest?: number },
): (text: string) => T {
  const known = new Map<string, { readonly made: T }>()
  return (text) => {
    if (text.length > longest) return make(text)
    let found = known.get(text)
    if (!found) {
      found = { made: make(text) }
      if (known.size >= most) known.clear()
      known.set(text, found)
    }
    return found.made
  }
}

/** Calls `make` once for each object and keeps its result for as long as the object lives. `make` must be pure. */
export function memoizeByIdentity<K extends object, T>(make: (key: K) => T): (key: K) => T {
  const results = new WeakMap<K, { readonly value: T }>()
  return (key) => {
    let result = results.get(key)
    if (!result) {
      result = { value: make(key) }
      results.set(key, result)
    }
    return result.value
  }
}
