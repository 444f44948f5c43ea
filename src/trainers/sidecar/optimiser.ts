/** A gradient step over the wire: the pass and the optimiser's step, sent together so that no clock cycle is lost. */
import type { AdamSettings } from '../../batch.js'
import type { Datum, ForwardOutput, TrainingModel, WireAdam, WireLoss } from '../tinker/wire.js'

/** Adam's settings, every one of them said: no server's default is used. */
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

/** @throws Fault of the pass or else of the step; where the pass failed the server makes no step */
export async function steppedBy(
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
