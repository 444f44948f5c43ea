/** Gradient steps over the wire, of the policy and of the critic, which is a separate value model. */
import type { AdamSettings, CriticTargets, TokenSegment, TrainBatch } from '../../batch.js'
import { type CriticReport, criticTally } from '../losses/critic-targets.js'
import type { Datum, ForwardOutput, TrainingModel, WireLoss } from '../tinker/wire.js'
import { encodeValueDatum, outputRows, scaleMask } from './encode-batch.js'

/** Settings that every step sends, so that no server default is used. */
const adamConstants = {
  ...{ beta1: 0.9, beta2: 0.999, epsilon: 1e-8 },
  ...{ maxGradNorm: Number.POSITIVE_INFINITY, weightDecay: 0 },
}

/**
 * Runs a forward-backward pass and an optimiser step, sent together, so the server does not wait between.
 * @throws Fault of the pass, or else of the step; after a failed pass the server does not step
 */
export async function runTrainStep(
  model: TrainingModel,
  data: readonly Datum[],
  loss: WireLoss,
  adam: AdamSettings,
): Promise<{ readonly output: ForwardOutput; readonly gradNorm: number }> {
  const [pass, step] = await Promise.allSettled([
    model.forwardBackward(data, loss),
    model.optimStep({ ...adamConstants, ...adam }),
  ])
  if (pass.status === 'rejected') throw pass.reason
  if (step.status === 'rejected') throw step.reason
  return { output: pass.value, gradNorm: step.value['grad_norm:mean'] ?? Number.NaN }
}

/**
 * Runs a forward-backward pass, then `before`, then the optimiser's step. If `before` fails, the model is as it was.
 * @throws Fault of the first that failed
 */
export async function runGuardedStep<T>(
  model: TrainingModel,
  data: readonly Datum[],
  loss: WireLoss,
  adam: AdamSettings,
  before: () => Promise<T>,
): Promise<{ readonly output: ForwardOutput; readonly gradNorm: number; readonly first: T }> {
  try {
    const output = await model.forwardBackward(data, loss)
    const first = await before()
    const metrics = await model.optimStep({ ...adamConstants, ...adam })
    return { output, first, gradNorm: metrics['grad_norm:mean'] ?? Number.NaN }
  } catch (error) {
    // A server that is gone has no gradients.
    await model.discard().catch(() => undefined)
    throw error
  }
}

/** Predicts the value at every drawn token, 0 where masked. */
export async function predictValues(
  model: TrainingModel,
  segments: readonly TokenSegment[],
): Promise<readonly Float32Array[]> {
  const data = segments.map((segment) =>
    encodeValueDatum(segment, { weights: scaleMask(segment, 1) }),
  )
  return outputRows(
    segments,
    await model.forward(data, { name: 'value', extension: true }),
    'values',
  )
}

/** Runs one gradient step of the value model on a batch's targets. */
export async function stepValueModel(
  model: TrainingModel,
  { segments, normaliser }: TrainBatch,
  targets: CriticTargets,
): Promise<CriticReport> {
  const data = segments.map((segment, s) =>
    encodeValueDatum(segment, {
      weights: scaleMask(segment, normaliser.perSegment[s]! * targets.coefficient),
      returns: targets.returns[s]!,
      old_values: targets.oldValues[s]!,
    }),
  )
  const config = targets.range === undefined ? {} : { range: targets.range }
  const loss = { name: 'value', extension: true, config }
  const { output } = await runTrainStep(model, data, loss, targets.adam)
  const values = outputRows(segments, output, 'values')
  const sums = criticTally(targets)
  segments.forEach((segment, s) => {
    segment.mask.forEach((drawn, t) => {
      if (drawn === 1) sums.add(s, t, values[s]![t]!)
    })
  })
  return sums.report()
}
