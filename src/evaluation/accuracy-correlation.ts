/** Correlation of each reward part with accuracy, within groups and over all of them. */
import type { Group } from '../group.js'
import type { Score } from '../reward.js'

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

/** Correlation of one reward part with accuracy. */
export interface AccuracyCorrelation {
  /** Pearson correlation of group-centred values, over the groups in which accuracy varies; null without one. */
  readonly within: number | null
  /** Number of members of those groups that have both values. */
  readonly compared: number
  /** Pearson correlation over all members of all groups, easy and hard cases alike. */
  readonly across: number | null
  /** Number of members of all groups that have both values. */
  readonly members: number
}

/** Correlations by reward part; `(total)` is the reward itself. */
export type AccuracyCorrelations = Readonly<Record<string, AccuracyCorrelation>>

const totalName = '(total)'

/** A warning needs a correlation below -`size` and below -`errors` standard errors (1/√n). */
const notable = { size: 0.1, errors: 3 }

type ValuePair = readonly [value: number, right: number]

function partValues({ total, parts }: Score): [name: string, value: number][] {
  const values = Object.entries(parts).flatMap(([name, part]): [string, number][] =>
    part.status === 'ok' ? [[name, part.value]] : [],
  )
  return total === null ? values : [[totalName, total], ...values]
}

function pairsByPart(group: Group, right: readonly (number | null)[]): Map<string, ValuePair[]> {
  const pairs = new Map<string, ValuePair[]>()
  group.scores.forEach((score, i) => {
    const known = right[i] ?? null
    if (known === null) return
    for (const [name, value] of partValues(score)) {
      const own = pairs.get(name) ?? []
      pairs.set(name, own)
      own.push([value, known])
    }
  })
  return pairs
}

const centre = (pairs: readonly ValuePair[]): ValuePair[] => {
  const mean = (k: 0 | 1) => pairs.reduce((sum, pair) => sum + pair[k], 0) / pairs.length
  const [value, right] = [mean(0), mean(1)]
  return pairs.map(([v, r]) => [v - value, r - right])
}

/**
 * Correlates every part, and the `(total)`, with accuracy.
 * @param accuracy accuracy of each member of each group, in their order; null if unknown
 */
export function correlateWithAccuracy(
  groups: readonly Group[],
  accuracy: readonly (readonly (number | null)[])[],
): AccuracyCorrelations {
  const links = new Map<string, Record<'within' | 'across', ReturnType<typeof correlation>>>()
  groups.forEach((group, g) => {
    for (const [name, pairs] of pairsByPart(group, accuracy[g] ?? [])) {
      const link = links.get(name) ?? { within: correlation(), across: correlation() }
      links.set(name, link)
      for (const [value, right] of pairs) link.across.add(value, right)
      if (pairs.every(([, right]) => right === pairs[0]?.[1])) continue
      for (const [value, right] of centre(pairs)) link.within.add(value, right)
    }
  })
  return Object.fromEntries(
    [...links].map(([name, { within, across }]) => [
      name,
      {
        ...{ within: within.value(), compared: within.count() },
        ...{ across: across.value(), members: across.count() },
      },
    ]),
  )
}

/** Whether a part enters the total by itself: not with weight 0, nor as a component of another weighted part. */
function counts(name: string, weights: Readonly<Record<string, number>>): boolean {
  const [outer = name] = name.split('/')
  return weights[name] !== 0 && (outer === name || !(outer in weights))
}

/** Warnings for parts that correlate negatively with accuracy, within groups or, if unknown, over all of them. */
export function accuracyWarnings(
  correlations: AccuracyCorrelations,
  weights: Readonly<Record<string, number>>,
): string[] {
  return Object.entries(correlations).flatMap(([name, { within, compared, across, members }]) => {
    const [r, n] = within === null ? [across, members] : [within, compared]
    if (r === null || !counts(name, weights)) return []
    if (-r <= Math.max(notable.size, notable.errors / Math.sqrt(n))) return []
    const where = within === null ? 'over all groups' : 'within groups'
    const what = name === totalName ? 'The reward' : `\`${name}\``
    return `${what} goes against being right: ${where} its correlation with accuracy is ${r.toFixed(2)} over ${n} episodes, so paying for it pays for being wrong.`
  })
}
