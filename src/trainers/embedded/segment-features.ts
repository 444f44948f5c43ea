/** Features of token segments and the weight rows they map to, cached per segment. */
import type { TokenSegment } from '../../batch.js'
import type { FeatureExtractor } from './policy.js'

/** Features of one segment; valid for every version of the weights, because a row is never removed. */
export interface SegmentFeatures {
  /** Features in the order they became active. */
  readonly features: readonly number[]
  /** Weight row of each feature; -1 where no weights have one. */
  readonly rows: Int32Array
  /** Value of each feature. */
  readonly values: Float64Array
  /** Per drawn token: its index along the mask. */
  readonly positions: Int32Array
  /** Per drawn token: number of features that were active. */
  readonly activeCounts: Int32Array
  /** Per drawn token: the clock. */
  readonly turnsLeft: Int32Array
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
  const turnsLeft = new Int32Array(drawn)
  const actionMask = new Uint8Array(drawn * actions)
  let n = 0
  tokens.forEach((token, at) => {
    const t = at - promptLength
    if (t >= 0 && mask[t] === 1) {
      positions[n] = t
      activeCounts[n] = state.features.length
      turnsLeft[n] = state.turnsLeft
      extractor.writeActionMask(state, actionMask, n * actions)
      n++
    }
    extractor.read(state, token)
  })
  // What was read after the last drawn token moves nothing.
  const used = n > 0 ? activeCounts[n - 1]! : 0
  const features = state.features.slice(0, used)
  const rows = new Int32Array(used).fill(-1)
  const values = Float64Array.from(state.values.slice(0, used))
  return { features, rows, values, positions, activeCounts, turnsLeft, actionMask }
}

type CacheEntry = Pick<TokenSegment, 'mask' | 'promptLength'> & {
  readonly features: SegmentFeatures
}

/** Creates a function that extracts the features of each segment once. */
function featureFinder(extractor: FeatureExtractor): (segment: TokenSegment) => SegmentFeatures {
  // Keyed by tokens, which a copy of a segment with other advantages or log-probs keeps. Mask and prompt length are
  // compared too: the same tokens may be trained on with other masks.
  const cache = new WeakMap<Int32Array, CacheEntry>()

  return (segment) => {
    const { tokens, mask, promptLength } = segment
    const entry = cache.get(tokens)
    if (entry && entry.mask === mask && entry.promptLength === promptLength) return entry.features
    const features = extractFeatures(extractor, segment)
    cache.set(tokens, { features, mask, promptLength })
    return features
  }
}

/**
 * Creates an empty cache, which extracts the features of each segment once, for weights that only ever gain rows. It
 * serves the weights of one run; after a checkpoint is loaded, create a new one.
 * @param firstRow row of the first feature
 */
export function featureCache(extractor: FeatureExtractor, firstRow: number) {
  const find = featureFinder(extractor)
  return {
    /** `rowOf` with a new row for every feature of the segments that had none, in their order. */
    addRows(segments: readonly TokenSegment[], rowOf: ReadonlyMap<number, number>) {
      let all: Map<number, number> | undefined
      for (const segment of segments) {
        const { features, rows } = find(segment)
        features.forEach((feature, i) => {
          if (rows[i]! >= 0) return
          rows[i] = (all ?? rowOf).get(feature) ?? -1
          if (rows[i]! >= 0) return
          all ??= new Map(rowOf)
          rows[i] = firstRow + all.size
          all.set(feature, rows[i]!)
        })
      }
      return all ?? rowOf
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
