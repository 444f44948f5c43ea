/** Adam settings per step, and the learning-rate schedule (warm-up and decay). */
import type { AdamSettings } from '../../batch.js'

/** Adam settings for the whole run, or a function of the step, counted from 1. */
export type AdamSchedule = AdamSettings | ((step: number) => AdamSettings)

/** Adam settings at a step. */
export const adamSettingsAt = (schedule: AdamSchedule, step: number): AdamSettings =>
  typeof schedule === 'function' ? schedule(step) : schedule

/** Shape of the learning-rate decay after warm-up. */
export type Decay = 'constant' | 'linear' | 'cosine'

/**
 * Learning-rate factor at a step, 0 to 1: rises linearly from 0 during warm-up, then stays constant or decays to 0 at
 * the step after the last.
 * @param warmup share of the steps, 0 to 1
 */
export function learningRateFactor(
  step: number,
  {
    steps,
    warmup,
    decay,
  }: { readonly steps: number; readonly warmup: number; readonly decay: Decay },
): number {
  const warmupSteps = warmup * steps
  if (step < warmupSteps) return step / warmupSteps
  const start = Math.floor(warmupSteps)
  const done = steps > warmupSteps ? (step - 1 - start) / (steps - start) : 0
  if (decay === 'linear') return 1 - Math.max(0, done)
  return decay === 'cosine' ? (1 + Math.cos(Math.PI * Math.max(0, done))) / 2 : 1
}
