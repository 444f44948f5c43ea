/** Token segments as the wire's data, and what comes back by target as rows by token after the prompt. */
import type { Loss, TokenSegment } from '../../batch.js'
import { Fault } from '../../error.js'
import type { Datum, ForwardOutput, WireLoss } from '../tinker/wire.js'

/** Where a segment's first token after the prompt stands among the targets. */
const offsetOf = ({ promptLength }: TokenSegment): number => promptLength - 1

/** Numbers by token after the prompt, by target: 0 for those of the prompt. */
function byTarget(segment: TokenSegment, values: ArrayLike<number>): Float32Array {
  const out = new Float32Array(segment.tokens.length - 1)
  out.set(values, offsetOf(segment))
  return out
}

/**
 * One output of a pass, per segment and token after the prompt: 0 where masked.
 * @throws Fault `model-unreadable` where the server left it out
 */
export function rowsOf(
  segments: readonly TokenSegment[],
  { outputs }: ForwardOutput,
  name: string,
): Float32Array[] {
  return segments.map((segment, s) => {
    const from = offsetOf(segment)
    const targets = outputs[s]?.[name]
    if (targets?.length !== segment.tokens.length - 1)
      throw new Fault(
        'model-unreadable',
        `expected \`${name}\` of ${segment.tokens.length - 1} numbers for datum ${s}, got ${targets?.length ?? 'none'}`,
      )
    return Float32Array.from(segment.mask, (drawn, t) => (drawn === 1 ? targets[from + t]! : 0))
  })
}

/** The mask times a number. */
export const masked = ({ mask }: TokenSegment, by: number): Float32Array =>
  Float32Array.from(mask, (drawn) => by * drawn)

/** A segment with some inputs, all by token after the prompt, and no targets: for a loss of values. */
export function valueDatum(
  segment: TokenSegment,
  inputs: Readonly<Record<string, ArrayLike<number>>>,
): Datum {
  const named = Object.entries(inputs).map(([name, values]) => [name, byTarget(segment, values)])
  return { tokens: segment.tokens.subarray(0, -1), inputs: Object.fromEntries(named) }
}

/** A segment with some inputs beside its targets, all by token after the prompt. */
export function datum(
  segment: TokenSegment,
  inputs: Readonly<Record<string, ArrayLike<number>>>,
): Datum {
  const made = valueDatum(segment, inputs)
  return { ...made, inputs: { ...made.inputs, target_tokens: segment.tokens.subarray(1) } }
}

/** A segment for a loss of the sidecar's own, with the temperature it was drawn at. */
export function ownDatum(
  segment: TokenSegment,
  inputs: Readonly<Record<string, ArrayLike<number>>>,
): Datum {
  const made = datum(segment, inputs)
  const temperature = Float32Array.of(segment.temperature)
  return { ...made, inputs: { ...made.inputs, temperature } }
}

/** Everything the native loss reads of a segment. */
export function lossDatum(segment: TokenSegment, weight: number): Datum {
  const { logprobs, advantages, oldLogprobs, refLogprobs } = segment
  return ownDatum(segment, {
    weights: masked(segment, weight),
    logprobs,
    advantages,
    ...(oldLogprobs ? { old_logprobs: oldLogprobs } : {}),
    ...(refLogprobs ? { ref_logprobs: refLogprobs } : {}),
  })
}

/** A loss by the names of the sidecar's own. */
export function nativeLoss(loss: Loss): WireLoss {
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
