/**
 * Encodes a training batch for a server. Our own sidecar has every loss natively. Any other Tinker server gets its own
 * form of the loss, or else the importance-sampling loss with the same gradient (`linearise.ts`), at the cost of one
 * more forward pass.
 */
import type { Loss, Normaliser, Objective, TokenSegment, TrainBatch } from '../../batch.js'
import { Fault } from '../../error.js'
import { entropyWeight } from '../losses/entropy-bonus.js'
import { linearise } from '../losses/linearise.js'
import type { Datum, ForwardOutput, TrainingModel, WireLoss } from '../tinker/wire.js'

/** Aligns values per token after the prompt with the targets, which are shifted by one; prompt targets get 0. */
function alignToTargets(segment: TokenSegment, values: ArrayLike<number>): Float32Array {
  const out = new Float32Array(segment.tokens.length - 1)
  out.set(values, segment.promptLength - 1)
  return out
}

/** Inputs of a datum by name, per token after the prompt. */
type Inputs = Readonly<Record<string, ArrayLike<number>>>

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
    const from = segment.promptLength - 1
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

/** Encodes a segment without targets, for the value loss. */
export function encodeValueDatum(segment: TokenSegment, inputs: Inputs): Datum {
  const aligned = Object.entries(inputs).map(([name, values]) => [
    name,
    alignToTargets(segment, values),
  ])
  return { tokens: segment.tokens.subarray(0, -1), inputs: Object.fromEntries(aligned) }
}

/** Encodes a segment with its target tokens. */
function encodeDatum(segment: TokenSegment, inputs: Inputs): Datum {
  const made = encodeValueDatum(segment, inputs)
  return { ...made, inputs: { ...made.inputs, target_tokens: segment.tokens.subarray(1) } }
}

/** Encodes a segment for one of our sidecar's own losses, with the temperature it was drawn at. */
function encodeSidecarDatum(segment: TokenSegment, inputs: Inputs): Datum {
  const made = encodeDatum(segment, inputs)
  const temperature = Float32Array.of(segment.temperature)
  return { ...made, inputs: { ...made.inputs, temperature } }
}

/** Encodes a segment with all inputs of the native policy loss. */
function encodeLossDatum(segment: TokenSegment, weight: number): Datum {
  const { logprobs, advantages, oldLogprobs, refLogprobs } = segment
  return encodeSidecarDatum(segment, {
    weights: scaleMask(segment, weight),
    logprobs,
    advantages,
    ...(oldLogprobs ? { old_logprobs: oldLogprobs } : {}),
    ...(refLogprobs ? { ref_logprobs: refLogprobs } : {}),
  })
}

/** Config of a KL penalty, an importance correction and an off-policy mask. */
const encodeTerms = ({ kl, correction, offPolicyMask }: Loss): NonNullable<WireLoss['config']> => ({
  ...(kl ? { kl_estimator: kl.estimator, kl_coefficient: kl.coefficient } : {}),
  ...(kl?.ratio ? { kl_ratio: 1 } : {}),
  ...(correction
    ? {
        correction_level: correction.level,
        correction_mode: correction.mode,
        correction_min: correction.min ?? 0,
        correction_max: correction.max,
      }
    : {}),
  ...(correction?.scale === undefined ? {} : { correction_scale: correction.scale }),
  ...(offPolicyMask
    ? {
        off_policy_threshold: offPolicyMask.threshold,
        off_policy_behaviour: offPolicyMask.behaviour ?? 'sampler',
      }
    : {}),
})

/**
 * Encodes a loss as our sidecar's native loss, with its config names.
 * @throws RangeError for an entropy bonus over tokens whose number the normaliser does not say
 */
export function encodeNativeLoss(loss: Loss, normaliser?: Normaliser): WireLoss {
  const { kind, entropy, entropyOver, kl: _, correction: __, offPolicyMask: ___, ...own } = loss
  const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  // Over tokens, one multiplier is that of every token.
  const bonus =
    entropyOver === 'tokens' && normaliser
      ? { entropy_per_token: entropyWeight(loss, normaliser, 0) }
      : { entropy }
  const constants = Object.entries(own).map(([name, value]) => [snakeCase(name), value])
  return {
    name: 'bedside',
    extension: true,
    config: {
      kind,
      ...Object.fromEntries(constants),
      ...(entropy === 0 ? {} : bonus),
      ...encodeTerms(loss),
    },
  }
}

/** A batch encoded for a server: its data and the loss to run on them. */
export interface EncodedBatch {
  readonly data: readonly Datum[]
  readonly loss: WireLoss
}

/** The wire's own loss that equals the objective, if there is one. */
function equivalentLoss(objective: Objective): Pick<WireLoss, 'name' | 'config'> | undefined {
  switch (objective.kind) {
    case 'importance-sampling':
      return { name: 'importance_sampling' }
    case 'policy-gradient':
    case 'cross-entropy':
      return { name: 'cross_entropy' }
    case 'ppo-clip':
    case 'cispo': {
      if (objective.kind === 'ppo-clip' && objective.dual !== undefined) return undefined
      const config = {
        clip_low_threshold: 1 - objective.low,
        clip_high_threshold: 1 + objective.high,
      }
      return { name: objective.kind === 'cispo' ? 'cispo' : 'ppo', config }
    }
    default:
      return undefined
  }
}

/** Encodes a segment for a loss of the wire; the normaliser's weight multiplies the advantages. */
function wireDatum(segment: TokenSegment, weight: number, { name }: WireLoss): Datum {
  const advantages = segment.advantages.map((value) => weight * value)
  if (name === 'cross_entropy') return encodeDatum(segment, { weights: advantages })
  return encodeDatum(segment, { advantages, logprobs: segment.oldLogprobs ?? segment.logprobs })
}

/** Encodes a batch for our sidecar's own loss. */
export const encodeNativeBatch = ({ segments, normaliser, loss }: TrainBatch): EncodedBatch => ({
  data: segments.map((segment, s) => encodeLossDatum(segment, normaliser.perSegment[s]!)),
  loss: encodeNativeLoss(loss, normaliser),
})

/** Encodes a batch for a loss of the wire. @throws RangeError for segments drawn at a temperature other than 1 */
export async function encodeWireBatch(
  batch: TrainBatch,
  logprobs: () => Promise<readonly Float32Array[]>,
): Promise<EncodedBatch> {
  const { segments, normaliser, loss } = batch
  assertUnitTemperature(segments)
  const plain = !loss.kl && !loss.correction && !loss.offPolicyMask
  const own = plain ? equivalentLoss(loss) : undefined
  const sent = own ? batch : linearise(batch, await logprobs())
  const route = own ?? { name: 'importance_sampling' }
  return {
    data: sent.segments.map((segment, s) => wireDatum(segment, normaliser.perSegment[s]!, route)),
    loss: route,
  }
}

/** Checks that segments were drawn at temperature 1; the wire's passes take no temperature. */
function assertUnitTemperature(segments: readonly TokenSegment[]): void {
  const other = segments.find(({ temperature }) => temperature !== 1)
  if (other)
    throw new RangeError(
      `segment of rollout ${other.rolloutId}: expected temperature 1, which is all that a Tinker server without extensions trains at, got ${other.temperature}`,
    )
}

/** Computes log p of every drawn token under the current weights. */
export async function computeLogprobs(
  model: TrainingModel,
  segments: readonly TokenSegment[],
  extended: boolean,
): Promise<readonly Float32Array[]> {
  if (!extended) assertUnitTemperature(segments)
  const data = segments.map((segment) => {
    const weights = scaleMask(segment, 1)
    return extended
      ? encodeSidecarDatum(segment, { weights, logprobs: segment.logprobs, advantages: weights })
      : encodeDatum(segment, { weights })
  })
  const loss = extended
    ? { name: 'bedside', extension: true, config: { kind: 'policy-gradient' } }
    : { name: 'cross_entropy' }
  return outputRows(segments, await model.forward(data, loss), 'logprobs')
}
