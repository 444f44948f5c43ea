/** How the parts of a reward go with being right, within groups and over all of them. */

import type { Group } from '../group.js'
import type { Score } from '../reward.js'
import { correlation } from './correlation.js'

/** How one part goes with accuracy. */
export interface AccuracyLink {
  /** Pearson's, of both less their group's means, over the groups in which accuracy varied; null without one. */
  readonly within: number | null
  /** Members of those groups. */
  readonly compared: number
  /** Pearson's over all members of all groups, easy and hard cases alike. */
  readonly across: number | null
  /** Members of all groups; of them and of those compared only those that had both. */
  readonly members: number
}

export type AccuracyLinks = Readonly<Record<string, AccuracyLink>>

/** The reward itself, among its parts. */
const whole = '(total)'

/** A correlation of this size is worth a word, if it is this many standard errors (1/√n) from none. */
const notable = { size: 0.1, errors: 3 }

type Pair = readonly [value: number, right: number]

/** The value of each part that has one, and the total's. */
function valuesOf({ total, parts }: Score): [name: string, value: number][] {
  const values = Object.entries(parts).flatMap(([name, part]): [string, number][] =>
    part.status === 'ok' ? [[name, part.value]] : [],
  )
  return total === null ? values : [[whole, total], ...values]
}

function pairsOf(group: Group, right: readonly (number | null)[]): Map<string, Pair[]> {
  const pairs = new Map<string, Pair[]>()
  group.scores.forEach((score, i) => {
    const known = right[i] ?? null
    if (known === null) return
    for (const [name, value] of valuesOf(score)) {
      const own = pairs.get(name) ?? []
      pairs.set(name, own)
      own.push([value, known])
    }
  })
  return pairs
}

const centred = (pairs: readonly Pair[]): Pair[] => {
  const mean = (k: 0 | 1) => pairs.reduce((sum, pair) => sum + pair[k], 0) / pairs.length
  const [value, right] = [mean(0), mean(1)]
  return pairs.map(([v, r]) => [v - value, r - right])
}

/**
 * Correlations of every part, and of the `(total)`, with accuracy.
 * @param accuracy how right each member of each group was, in their order; null where that is not known
 */
export function accuracyLinks(
  groups: readonly Group[],
  accuracy: readonly (readonly (number | null)[])[],
): AccuracyLinks {
  const links = new Map<string, Record<'within' | 'across', ReturnType<typeof correlation>>>()
  groups.forEach((group, g) => {
    for (const [name, pairs] of pairsOf(group, accuracy[g] ?? [])) {
      const link = links.get(name) ?? { within: correlation(), across: correlation() }
      links.set(name, link)
      for (const [value, right] of pairs) link.across.add(value, right)
      if (pairs.every(([, right]) => right === pairs[0]?.[1])) continue
      for (const [value, right] of centred(pairs)) link.within.add(value, right)
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

/** Whether a part counts in the total by itself: what weighs nothing does not, nor what stands inside of another. */
function counts(name: string, weights: Readonly<Record<string, number>>): boolean {
  const [outer = name] = name.split('/')
  return weights[name] !== 0 && (outer === name || !(outer in weights))
}

/** A warning for each part that was worth more to the wrong than to the right, within groups or else over all. */
export function againstAccuracy(
  links: AccuracyLinks,
  weights: Readonly<Record<string, number>>,
): string[] {
  return Object.entries(links).flatMap(([name, { within, compared, across, members }]) => {
    const [r, n] = within === null ? [across, members] : [within, compared]
    if (r === null || !counts(name, weights)) return []
    if (-r <= Math.max(notable.size, notable.errors / Math.sqrt(n))) return []
    const where = within === null ? 'over all groups' : 'within groups'
    const what = name === whole ? 'The reward' : `\`${name}\``
    return `${what} goes against being right: ${where} its correlation with accuracy is ${r.toFixed(2)} over ${n} episodes, so paying for it pays for being wrong.`
  })
}
