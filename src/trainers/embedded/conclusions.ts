/** Segments that ask the embedded policy for its diagnosis at every turn, as if each were the last. */
import type { TokenSegment } from '../../batch.js'
import type { FeatureExtractor } from './policy.js'

/** What a conclusion is inserted with. */
interface Conclusion {
  readonly token: number
  /** Token of the clock with one turn left. */
  readonly lastTurn: number
  readonly policyVersion: number
}

function concludeSegment(
  segment: TokenSegment,
  { token, lastTurn, policyVersion }: Conclusion,
): TokenSegment {
  const { tokens, promptLength, mask } = segment
  const drawn = mask.reduce((sum, one) => sum + one, 0)
  const read = new Int32Array(tokens.length + 2 * drawn)
  const marks = new Uint8Array(mask.length + 2 * drawn)
  read.set(tokens.subarray(0, promptLength))
  let at = promptLength
  mask.forEach((one, t) => {
    if (one === 1) {
      read.set([lastTurn, token], at)
      marks[at + 1 - promptLength] = 1
      at += 2
    }
    read[at++] = tokens[promptLength + t]!
  })
  return {
    ...{ ...segment, tokens: read, mask: marks, temperature: 1, logprobMode: 'scaled' },
    logprobs: new Float32Array(marks.length),
    advantages: Float32Array.from(marks),
    policyVersions: Int32Array.from(marks, (one) => (one === 1 ? policyVersion : -1)),
  }
}

/**
 * The segments with a concluding token drawn before every drawn token, right after a clock that shows one turn left, and
 * nothing else drawn: with one turn left only conclusions are open, so the gate learns nothing from it. Temperature 1,
 * log-probs 0, advantages 1. None for a token that does not conclude.
 */
export const concludeEverywhere = (
  segments: readonly TokenSegment[],
  token: number | undefined,
  {
    extractor,
    ...rest
  }: Omit<Conclusion, 'token'> & { readonly extractor: Pick<FeatureExtractor, 'concludes'> },
): readonly TokenSegment[] =>
  token === undefined || !extractor.concludes[token]
    ? []
    : segments.map((segment) => concludeSegment(segment, { token, ...rest }))
