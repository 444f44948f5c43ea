/** A bounded memory of what texts amount to, for what is asked about the same few again and again. */

/**
 * The same function, made once for a text however often it comes. All is forgotten when the memory is full; what is
 * remembered changes no result, so `make` must be pure.
 * @param most texts remembered
 * @param longest text remembered, in UTF-16 units: what a policy writes may be of any length @default 4000
 */
export function remembering<T>(
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
