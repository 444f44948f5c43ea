/** Batches for a backend's optional capabilities, and its per-token rows of numbers. */
import type { ImportanceCorrection, KlPenalty, TokenSegment, TrainBatch } from '../batch.js'
import { expectSame, expectThat } from './expect.js'

/** One row per segment, with a number per token after the prompt. */
export type SegmentRows = readonly Float32Array[]

/** Concatenates the numbers at drawn tokens (mask 1). */
export const drawnValues = (
  segments: readonly TokenSegment[],
  rows: SegmentRows,
): readonly number[] =>
  segments.flatMap(({ mask }, s) => [...(rows[s] ?? [])].filter((_, t) => mask[t] === 1))

/** Concatenates the sampler's log-probs at drawn tokens. */
export const sampledLogprobs = (segments: readonly TokenSegment[]): readonly number[] =>
  drawnValues(
    segments,
    segments.map(({ logprobs }) => logprobs),
  )

/** Throws unless every segment has a row with a number per token: finite where drawn, 0 where masked. */
export function expectRows(
  what: string,
  rows: SegmentRows,
  segments: readonly TokenSegment[],
): void {
  expectSame(`the number of rows of ${what}`, rows.length, segments.length)
  segments.forEach(({ mask }, s) => {
    const row = rows[s] ?? []
    expectSame(`the length of ${what}[${s}]`, row.length, mask.length)
    mask.forEach((drawn, t) => {
      const value = row[t] ?? Number.NaN
      const sound = drawn === 1 ? Number.isFinite(value) : value === 0
      const expected = drawn === 1 ? 'finite where drawn' : '0 where masked'
      expectThat(sound, `${what}[${s}][${t}] to be ${expected}`, String(value))
    })
  })
}

/** Masks the first drawn token of a segment, as if it had been read and not drawn. */
export function maskFirstDrawn(segment: TokenSegment): TokenSegment {
  const first = segment.mask.indexOf(1)
  const replaceFirst = <T extends Float32Array | Int32Array | Uint8Array>(
    values: T,
    value: number,
  ): T => {
    // The copy of a typed array has the type of the original.
    const copy = values.slice() as T
    if (first >= 0) copy[first] = value
    return copy
  }
  const { mask, logprobs, advantages, policyVersions } = segment
  return {
    ...segment,
    mask: replaceFirst(mask, 0),
    logprobs: replaceFirst(logprobs, 0),
    advantages: replaceFirst(advantages, 0),
    policyVersions: replaceFirst(policyVersions, -1),
  }
}

const scaleRows = (rows: SegmentRows, by: number): SegmentRows =>
  rows.map((row) => row.map((value) => by * value))

/** Copies a batch with zero advantages and a KL penalty against the log-probs that `reference` was sampled with. */
export const addKlPenalty = (
  batch: TrainBatch,
  reference: readonly TokenSegment[],
  estimator: KlPenalty['estimator'],
  coefficient: number,
): TrainBatch => ({
  ...batch,
  segments: batch.segments.map((segment, s) => ({
    ...segment,
    advantages: segment.advantages.map(() => 0),
    refLogprobs: reference[s]?.logprobs ?? segment.logprobs,
  })),
  loss: { ...batch.loss, kl: { estimator, coefficient } },
})

/**
 * Copies a batch with an importance correction in mask mode.
 * @param off distance of trainer and sampler log-probs, in nats: above 0 the sampler's are lower, below 0 the trainer's
 */
export const addCorrection = (
  batch: TrainBatch,
  level: ImportanceCorrection['level'],
  off = 0,
): TrainBatch => ({
  ...batch,
  segments: batch.segments.map((segment) => {
    const { mask, logprobs } = segment
    const lower = logprobs.map((value, t) => value - Math.abs(off) * (mask[t] ?? 0))
    return off > 0
      ? { ...segment, logprobs: lower, oldLogprobs: logprobs }
      : { ...segment, oldLogprobs: lower }
  }),
  loss: { ...batch.loss, correction: { level, mode: 'mask', min: 0.5, max: 2 } },
})

/** Copies a batch with a critic whose return is `value` at every drawn token. */
export const addCritic = (batch: TrainBatch, value: number): TrainBatch => {
  const ones = batch.segments.map(({ mask }) => Float32Array.from(mask))
  const critic = { oldValues: scaleRows(ones, 0), coefficient: 1, adam: batch.adam }
  return { ...batch, critic: { ...critic, returns: scaleRows(ones, value) } }
}
