/** Ranking rewards over the doctor's diagnosis list: top-k accuracy, reciprocal rank and discounted rank. */
import { diagnosisOf } from '../../episode.js'
import { ok, type Reward } from '../../reward.js'
import { defineReward } from '../define.js'
import { diagnosisList, maxListLength, primaryDiagnosisId } from './diagnosis-list.js'
import type { FormularyOptions } from './formulary.js'

/** How a ranked list is read. */
export interface RankedOptions extends FormularyOptions {
  /** Number of places that count, the diagnosis being the first. @default 5 */
  readonly depth?: number
}

/** Scores the rank of the primary diagnosis; 0 beyond the first `depth` places, an option that callers know as `as`. */
function rankReward(
  { as = 'depth', ...declared }: Readonly<Record<'name' | 'source', string>> & { as?: string },
  { formulary = [], depth = 5 }: RankedOptions,
  worth: (rank: number) => number,
): Reward {
  if (!(Number.isInteger(depth) && depth >= 1 && depth <= maxListLength))
    throw new RangeError(
      `Expected \`${as}\` to be an integer from 1 to ${maxListLength}, got ${depth}`,
    )
  return defineReward({ ...declared, bounds: [0, 1] }, (episode, { gold }) => {
    const given = diagnosisOf(episode)
    if (!given) return ok(0, 'no diagnosis')
    const target = primaryDiagnosisId(gold)
    const list = diagnosisList(given, gold, formulary, depth)
    const rank = 1 + list.findIndex(({ concept }) => concept?.id === target)
    return rank === 0 ? ok(0, `not in ${list.length}`) : ok(worth(rank), `place ${rank}`)
  })
}

/**
 * Top-k accuracy: 1 where the primary gold diagnosis is among the first k of the diagnosis and the differential, else 0.
 * Names of one disease take one place; an entry that names none, or several, takes one too. By design it pays k guesses
 * for the price of one: a metric beside accuracy, not a reward in its place.
 * @param k places, from 1 to 10 @default 3
 * @throws RangeError for another k
 */
export const topK = ({
  k = 3,
  ...options
}: { readonly k?: number } & Omit<RankedOptions, 'depth'> = {}): Reward =>
  rankReward(
    { name: `top-${k}`, source: 'top-k accuracy, as GTPA@k in DDXPlus', as: 'k' },
    { ...options, depth: k },
    () => 1,
  )

/**
 * Reciprocal rank: 1 / rank of the primary gold diagnosis in the diagnosis and the differential; 0 beyond `depth`.
 * @throws RangeError for a depth that is not an integer from 1 to 10
 */
export const reciprocalRank = (options: RankedOptions = {}): Reward =>
  rankReward(
    { name: 'reciprocal-rank', source: 'mean reciprocal rank (Voorhees 1999)' },
    options,
    (rank) => 1 / rank,
  )

/**
 * Discounted rank: 1 / log₂(1 + rank), which falls more slowly than the reciprocal; 0 beyond `depth` places.
 * @throws RangeError for a depth that is not an integer from 1 to 10
 */
export const discountedRank = (options: RankedOptions = {}): Reward =>
  rankReward(
    {
      name: 'discounted-rank',
      source: 'discounted gain of one relevant entry (Järvelin and Kekäläinen 2002)',
    },
    options,
    (rank) => 1 / Math.log2(1 + rank),
  )
