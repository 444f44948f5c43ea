/** Critic of the sidecar backend: a separate value model, predicted and trained over the wire. */
import type { CriticTargets, TokenSegment, TrainBatch } from '../../batch.js'
import type { CriticReport } from '../losses/critic-targets.js'
import { criticTally } from '../losses/critic-targets.js'
import type { TrainingModel } from '../tinker/wire.js'
import { encodeValueDatum, outputRows, scaleMask } from './datum.js'
import { runTrainStep } from './optimiser.js'

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
