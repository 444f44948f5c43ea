/** Gradient step over the wire: pass and optimiser step are sent together, so the server does not wait between. */
import type { AdamSettings } from '../../batch.js'
import type { Datum, ForwardOutput, TrainingModel, WireAdam, WireLoss } from '../tinker/wire.js'

/** Complete Adam settings, so that no server default is used. */
const wireAdam = ({
  learningRate,
  beta1 = 0.9,
  beta2 = 0.999,
  epsilon = 1e-8,
  maxGradNorm = Infinity,
  weightDecay = 0,
}: AdamSettings): WireAdam => ({
  learningRate,
  beta1,
  beta2,
  epsilon,
  weightDecay,
  maxGradNorm,
})

/**
 * Runs a forward-backward pass and an optimiser step.
 * @throws Fault of the pass, or else of the step; after a failed pass the server does not step
 */
export async function runTrainStep(
  model: TrainingModel,
  data: readonly Datum[],
  loss: WireLoss,
  adam: AdamSettings,
): Promise<{ readonly output: ForwardOutput; readonly gradNorm: number }> {
  const settings = wireAdam(adam)
  const [pass, step] = await Promise.allSettled([
    model.forwardBackward(data, loss),
    model.optimStep(settings),
  ])
  if (pass.status === 'rejected') throw pass.reason
  if (step.status === 'rejected') throw step.reason
  return { output: pass.value, gradNorm: step.value['grad_norm:mean'] ?? Number.NaN }
}
