/** Batches that ask a backend for what is optional, and rows of numbers per token as it answers with. */
import type { Correction, KlPenalty, TokenSegment, TrainBatch } from '../batch.js'
import { expectSame, expectThat } from './expect.js'

/** Numbers per token after the prompt, for each of some segments. */
export type Rows = readonly Float32Array[]

/** The numbers at drawn tokens, one after another. */
export const drawnOf = (segments: readonly TokenSegment[], rows: Rows): readonly number[] =>
  segments.flatMap(({ mask }, s) => [...(rows[s] ?? [])].filter((_, t) => mask[t] === 1))

/** The sampler's log-probs at drawn tokens. */
export const sampledOf = (segments: readonly TokenSegment[]): readonly number[] =>
  drawnOf(
    segments,
    segments.map(({ logprobs }) => logprobs),
  )

/** Throws unless there is a row for every segment and a number for every token: finite, and 0 where masked. */
export function expectRows(what: string, rows: Rows, segments: readonly TokenSegment[]): void {
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

/** A segment of which the first drawn token was only read. */
export function hideFirst(segment: TokenSegment): TokenSegment {
  const first = segment.mask.indexOf(1)
  const hidden = <T extends Float32Array | Int32Array | Uint8Array>(
    values: T,
    value: number,
  ): T => {
    // A copy of a typed array is of its own type.
    const copy = values.slice() as T
    if (first >= 0) copy[first] = value
    return copy
  }
  const { mask, logprobs, advantages, policyVersions } = segment
  return {
    ...segment,
    mask: hidden(mask, 0),
    logprobs: hidden(logprobs, 0),
    advantages: hidden(advantages, 0),
    policyVersions: hidden(policyVersions, -1),
  }
}

const scaled = (rows: Rows, by: number): Rows => rows.map((row) => row.map((value) => by * value))

/** The batch with no advantage and a KL penalty on leaving the log-probs that `reference` was sampled with. */
export const withKl = (
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
 * The batch with a correction in mask mode.
 * @param off the trainer's log-probs less these are the sampler's, and the other way around where it is negative
 */
export const withCorrection = (
  batch: TrainBatch,
  level: Correction['level'],
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

/** The batch with a critic that learns the same return at every drawn token. */
export const withCritic = (batch: TrainBatch, value: number): TrainBatch => {
  const ones = batch.segments.map(({ mask }) => Float32Array.from(mask))
  const critic = { oldValues: scaled(ones, 0), coefficient: 1, adam: batch.adam }
  return { ...batch, critic: { ...critic, returns: scaled(ones, value) } }
}
