/** Features of token segments and the weight rows they map to, cached per segment. */
import type { TokenSegment } from '../../batch.js'
import type { FeatureExtractor } from './policy.js'

/** Features of one segment; valid for every version of the weights, because a row is never removed. */
export interface SegmentFeatures {
  /** Features: one per clock tick, in order, then all others in the order they became active. */
  readonly features: readonly number[]
  /** Number of features that are clock ticks. */
  readonly clockCount: number
  /** Weight row of each feature; -1 where no weights have one. */
  readonly rows: Int32Array
  /** Value of each feature after the clock ticks. */
  readonly values: Float64Array
  /** Per drawn token: its index along the mask. */
  readonly positions: Int32Array
  /** Per drawn token: number of features, without clock ticks, that were active. */
  readonly activeCounts: Int32Array
  /** Per drawn token: index of the clock feature in `features`. */
  readonly clockIndexes: Int32Array
  /** Per drawn token and action: 1 where the action was allowed. */
  readonly actionMask: Uint8Array
}

function extractFeatures(
  extractor: FeatureExtractor,
  { tokens, promptLength, mask }: TokenSegment,
): SegmentFeatures {
  const { actions } = extractor
  const state = extractor.initialState()
  const drawn = mask.reduce((sum, one) => sum + one, 0)
  const positions = new Int32Array(drawn)
  const activeCounts = new Int32Array(drawn)
  const clockIndexes = new Int32Array(drawn)
  const actionMask = new Uint8Array(drawn * actions)
  const ticks: number[] = []
  let n = 0
  tokens.forEach((token, at) => {
    const t = at - promptLength
    if (t >= 0 && mask[t] === 1) {
      positions[n] = t
      activeCounts[n] = state.features.length
      clockIndexes[n] = ticks.length - 1
      extractor.writeActionMask(state, actionMask, n * actions)
      n++
    }
    extractor.read(state, token)
    if (extractor.isClock(token)) ticks.push(extractor.clockFeature(state))
  })
  const features = [...ticks, ...state.features]
  const rows = new Int32Array(features.length).fill(-1)
  const values = Float64Array.from(state.values)
  const perToken = { positions, activeCounts, clockIndexes, actionMask }
  return { features, clockCount: ticks.length, rows, values, ...perToken }
}

type CacheEntry = Pick<TokenSegment, 'mask' | 'promptLength'> & {
  readonly features: SegmentFeatures
}

/**
 * Creates an empty cache, which extracts the features of each segment once, for weights that only ever gain rows. It
 * serves the weights of one run; after a checkpoint is loaded, create a new one.
 */
export function featureCache(extractor: FeatureExtractor) {
  // Keyed by tokens, which a copy of a segment with other advantages or log-probs keeps. Mask and prompt length are
  // compared too: the same tokens may be trained on with other masks.
  const cache = new WeakMap<Int32Array, CacheEntry>()

  const find = (segment: TokenSegment): SegmentFeatures => {
    const { tokens, mask, promptLength } = segment
    const entry = cache.get(tokens)
    if (entry && entry.mask === mask && entry.promptLength === promptLength) return entry.features
    const features = extractFeatures(extractor, segment)
    cache.set(tokens, { features, mask, promptLength })
    return features
  }

  return {
    /** `rowOf` with a new row for every feature of the segments that had none, in their order. */
    addRows(segments: readonly TokenSegment[], rowOf: ReadonlyMap<number, number>) {
      const all = new Map(rowOf)
      for (const segment of segments) {
        const { features, rows } = find(segment)
        features.forEach((feature, i) => {
          if (rows[i]! >= 0) return
          if (!all.has(feature)) all.set(feature, all.size)
          rows[i] = all.get(feature)!
        })
      }
      return all
    },
    /** Features of a segment, with every row that `rowOf` has. */
    get(segment: TokenSegment, rowOf: ReadonlyMap<number, number>): SegmentFeatures {
      const found = find(segment)
      const { features, rows } = found
      for (let i = 0; i < rows.length; i++)
        if (rows[i]! < 0) rows[i] = rowOf.get(features[i]!) ?? -1
      return found
    },
  }
}

/** Cached features of segments. */
export type FeatureCache = ReturnType<typeof featureCache>
