/** Encodes token segments as data of the wire, and maps outputs per target back to tokens after the prompt. */
import type { Loss, TokenSegment } from '../../batch.js'
import { Fault } from '../../error.js'
import type { Datum, ForwardOutput, WireLoss } from '../tinker/wire.js'

/** Index of a segment's first token after the prompt among the targets, which are shifted by one. */
const targetOffset = ({ promptLength }: TokenSegment): number => promptLength - 1

/** Aligns values per token after the prompt with the targets; prompt targets get 0. */
function alignToTargets(segment: TokenSegment, values: ArrayLike<number>): Float32Array {
  const out = new Float32Array(segment.tokens.length - 1)
  out.set(values, targetOffset(segment))
  return out
}

/**
 * One output of a pass, per segment and token after the prompt; 0 where masked.
 * @throws Fault `model-unreadable` if the server left it out
 */
export function outputRows(
  segments: readonly TokenSegment[],
  { outputs }: ForwardOutput,
  name: string,
): Float32Array[] {
  return segments.map((segment, s) => {
    const from = targetOffset(segment)
    const targets = outputs[s]?.[name]
    if (targets?.length !== segment.tokens.length - 1)
      throw new Fault(
        'model-unreadable',
        `expected \`${name}\` of ${segment.tokens.length - 1} numbers for datum ${s}, got ${targets?.length ?? 'none'}`,
      )
    return Float32Array.from(segment.mask, (drawn, t) => (drawn === 1 ? targets[from + t]! : 0))
  })
}

/** The segment's mask times a factor. */
export const scaleMask = ({ mask }: TokenSegment, by: number): Float32Array =>
  Float32Array.from(mask, (drawn) => by * drawn)

/** Encodes a segment without targets, for the value loss; inputs are per token after the prompt. */
export function encodeValueDatum(
  segment: TokenSegment,
  inputs: Readonly<Record<string, ArrayLike<number>>>,
): Datum {
  const named = Object.entries(inputs).map(([name, values]) => [
    name,
    alignToTargets(segment, values),
  ])
  return { tokens: segment.tokens.subarray(0, -1), inputs: Object.fromEntries(named) }
}

/** Encodes a segment with its target tokens; inputs are per token after the prompt. */
export function encodeDatum(
  segment: TokenSegment,
  inputs: Readonly<Record<string, ArrayLike<number>>>,
): Datum {
  const made = encodeValueDatum(segment, inputs)
  return { ...made, inputs: { ...made.inputs, target_tokens: segment.tokens.subarray(1) } }
}

/** Encodes a segment for one of our sidecar's own losses, with the temperature it was drawn at. */
export function encodeSidecarDatum(
  segment: TokenSegment,
  inputs: Readonly<Record<string, ArrayLike<number>>>,
): Datum {
  const made = encodeDatum(segment, inputs)
  const temperature = Float32Array.of(segment.temperature)
  return { ...made, inputs: { ...made.inputs, temperature } }
}

/** Encodes a segment with all inputs of the native policy loss. */
export function encodeLossDatum(segment: TokenSegment, weight: number): Datum {
  const { logprobs, advantages, oldLogprobs, refLogprobs } = segment
  return encodeSidecarDatum(segment, {
    weights: scaleMask(segment, weight),
    logprobs,
    advantages,
    ...(oldLogprobs ? { old_logprobs: oldLogprobs } : {}),
    ...(refLogprobs ? { ref_logprobs: refLogprobs } : {}),
  })
}

/** Encodes a loss as our sidecar's native loss, with its config names. */
export function encodeNativeLoss(loss: Loss): WireLoss {
  const { kind, entropy, kl, correction, ...own } = loss
  const names: Readonly<Record<string, string>> = {
    tauPositive: 'tau_positive',
    tauNegative: 'tau_negative',
  }
  const constants = Object.entries(own).map(([name, value]) => [names[name] ?? name, value])
  return {
    name: 'bedside',
    extension: true,
    config: {
      kind,
      ...Object.fromEntries(constants),
      ...(entropy === 0 ? {} : { entropy }),
      ...(kl ? { kl_estimator: kl.estimator, kl_coefficient: kl.coefficient } : {}),
      ...(correction
        ? {
            correction_level: correction.level,
            correction_mode: correction.mode,
            correction_min: correction.min ?? 0,
            correction_max: correction.max,
          }
        : {}),
    },
  }
}
