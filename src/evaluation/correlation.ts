/** Pearson's correlation, a pair at a time. */

/** Pearson's correlation of what is added, a pair at a time (Welford's update). */
export interface Correlation {
  readonly add: (x: number, y: number) => void
  /** Pairs added. */
  readonly count: () => number
  /** −1 to 1; null of fewer than two pairs, or where one of the two never varied. */
  readonly value: () => number | null
}

/** Less spread than this, as a share of the values' size, is rounding. */
const rounding = 1e-12

/** A correlation of nothing yet. */
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
