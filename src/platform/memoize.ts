/** A bounded memory of what texts amount to, for what is asked about the same few again and again. */

/**
 * The same function, made once for a text however often it comes. All is forgotten when the memory is full; what is
 * remembered changes no result, so `make` must be pure.
 * @param most texts remembered
 * @param longest text remembered, in UTF-16 units: what a policy writes may be of any length @default 4000
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
