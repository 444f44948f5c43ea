/** Centring and whitening for advantage estimators. No finite input gives NaN. */

/** One value per token, along a segment's mask. */
export type TokenNumbers = Float32Array | Float64Array

/** Divisor of centred values: the standard deviation over n - 1 or over n, or none. */
export type Deviation = 'sample' | 'population' | 'none'

/** A power of two near the largest |value|. Division by it is exact, and the quotients can be squared and summed. */
export function magnitude(values: ArrayLike<number>): number {
  let largest = 0
  for (let i = 0; i < values.length; i++) largest = Math.max(largest, Math.abs(values[i]!))
  if (largest === 0) return 1
  return 2 ** Math.min(1023, Math.max(-1022, Math.floor(Math.log2(largest))))
}

/** The weighted mean of values in units of `scale`, each less `origin` and then `centre`. */
function meanOf(
  values: ArrayLike<number>,
  weights: ArrayLike<number> | undefined,
  {
    scale,
    origin,
    centre,
  }: { readonly scale: number; readonly origin: number; readonly centre: number },
): number {
  let [mass, sum] = [0, 0]
  for (let i = 0; i < values.length; i++) {
    const weight = weights ? weights[i]! : 1
    if (weight <= 0) continue
    mass += weight
    sum += weight * (values[i]! / scale - origin - centre)
  }
  return sum / mass
}

/** Values closer together than this share of their size have deviations that a plain mean would round away. */
const narrow = 2 ** -10

interface Moments {
  /** Taken off each value before `centre`; 0 but where the values are close together. */
  readonly origin: number
  /** The mean of what is left. */
  readonly centre: number
  readonly variance: number
}

/**
 * The mean and the variance of values in units of `scale`; the variance is 0 where fewer than two weigh anything.
 *
 * Of values that are close together the least is taken off first, which is exact, and the mean of what is left is
 * corrected by the mean of its own deviations: they sum to 0 however small they are. Elsewhere the plain mean loses
 * nothing that matters, and its last bits are kept as they are, since runs are promised to be the same to the byte.
 */
function moments(
  values: ArrayLike<number>,
  weights: ArrayLike<number> | undefined,
  std: Deviation,
  scale: number,
): Moments {
  let [mass, low, high] = [0, Infinity, -Infinity]
  for (let i = 0; i < values.length; i++) {
    const weight = weights ? weights[i]! : 1
    if (weight <= 0) continue
    mass += weight
    low = Math.min(low, values[i]! / scale)
    high = Math.max(high, values[i]! / scale)
  }
  // A rounded mean of equal values can differ from them; they are their own mean.
  if (!(low < high)) return { origin: 0, centre: low, variance: 0 }
  const close = high - low < narrow * Math.max(Math.abs(low), Math.abs(high))
  const origin = close ? low : 0
  let centre = meanOf(values, weights, { scale, origin, centre: 0 })
  if (close) centre += meanOf(values, weights, { scale, origin, centre })
  const free = std === 'population' ? mass : mass - 1
  if (free <= 0) return { origin, centre, variance: 0 }
  let squares = 0
  for (let i = 0; i < values.length; i++)
    squares += (weights ? weights[i]! : 1) * (values[i]! / scale - origin - centre) ** 2
  return { origin, centre, variance: squares / free }
}

/** Standard deviation, over n - 1 by default; 0 for fewer than two values. */
export function deviation(
  values: ArrayLike<number>,
  std: Exclude<Deviation, 'none'> = 'sample',
): number {
  const scale = magnitude(values)
  return Math.sqrt(moments(values, undefined, std, scale).variance) * scale
}

/**
 * Standardises values: (value - mean) / (√(variance + inside) + outside). All zeros where all values are equal; 0 for
 * a value of weight 0.
 */
export function standardise(
  values: ArrayLike<number>,
  {
    std = 'sample',
    inside = 0,
    outside = 0,
    weights,
  }: {
    /** Kind of standard deviation. @default 'sample' */
    readonly std?: Deviation
    /** Added to the variance. @default 0 */
    readonly inside?: number
    /** Added to the standard deviation. @default 0 */
    readonly outside?: number
    /** How many times each value counts. @default once */
    readonly weights?: ArrayLike<number> | undefined
  } = {},
): Float64Array {
  const out = new Float64Array(values.length)
  const scale = magnitude(values)
  const { origin, centre, variance } = moments(values, weights, std, scale)
  // Divided twice, because the square of a scale can be 0 or infinite where the scale is neither.
  const divisor = Math.sqrt(variance + inside / scale / scale) + outside / scale
  for (let i = 0; i < values.length; i++) {
    if (weights && weights[i]! <= 0) continue
    const centred = values[i]! / scale - origin - centre
    if (centred !== 0) out[i] = std === 'none' ? centred * scale : centred / divisor
  }
  return out
}

/** Epsilon that verl adds to the variance when it whitens. */
export const whiteningEpsilon = 1e-8

/**
 * Whitens rows over all drawn tokens of the batch: mean 0, variance 1 (n - 1), 1e-8 added to the variance, as verl's
 * `masked_whiten` does. Masked tokens are 0, and so is everything where fewer than two tokens were drawn.
 */
export function whitenTokens(
  rows: readonly { readonly values: TokenNumbers; readonly mask: Uint8Array }[],
): Float64Array[] {
  const drawn: number[] = []
  for (const { values, mask } of rows)
    for (let t = 0; t < mask.length; t++) if (mask[t]) drawn.push(values[t]!)
  const white = standardise(drawn, { inside: whiteningEpsilon })
  let next = 0
  return rows.map(({ mask }) => {
    const out = new Float64Array(mask.length)
    for (let t = 0; t < mask.length; t++) if (mask[t]) out[t] = white[next++]!
    return out
  })
}
