/** Streaming Pearson correlation: constant memory, one pair at a time. */

/** Pearson correlation of the pairs added so far (Welford's update). */
export interface Correlation {
  readonly add: (x: number, y: number) => void
  /** Number of pairs added. */
  readonly count: () => number
  /** −1 to 1; null for fewer than two pairs, or if `x` or `y` is constant. */
  readonly value: () => number | null
}

/** A spread below this share of the largest absolute value is rounding error. */
const rounding = 1e-12

/** Makes an empty correlation. */
export function correlation(): Correlation {
  let [n, meanX, meanY, xx, yy, xy, size] = [0, 0, 0, 0, 0, 0, 0]
  return {
    add(x, y) {
      n += 1
      const [dx, dy] = [x - meanX, y - meanY]
      meanX += dx / n
      meanY += dy / n
      xx += dx * (x - meanX)
      yy += dy * (y - meanY)
      xy += dx * (y - meanY)
      size = Math.max(size, Math.abs(x), Math.abs(y))
    },
    count: () => n,
    value() {
      const least = n * (rounding * size) ** 2
      if (n < 2 || xx <= least || yy <= least) return null
      return Math.max(-1, Math.min(1, xy / Math.sqrt(xx * yy)))
    },
  }
}
