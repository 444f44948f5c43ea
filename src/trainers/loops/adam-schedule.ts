/** Optimiser settings that may change from step to step. */
import type { AdamSettings } from '../../batch.js'

/** Settings for the whole run, or those of a step, counted from 1. */
export type AdamSchedule = AdamSettings | ((step: number) => AdamSettings)

/** The settings of a step. */
export const settingsAt = (schedule: AdamSchedule, step: number): AdamSettings =>
  typeof schedule === 'function' ? schedule(step) : schedule

/** How a learning rate goes down after its warm-up. */
export type Decay = 'constant' | 'linear' | 'cosine'

/**
 * The share of the learning rate at a step: rising from 0 over the first `warmup` of the steps, then constant, or
 * falling to 0 at the step after the last.
 * @param warmup share of the steps, 0 to 1
 */
export function rateAt(
  step: number,
  {
    steps,
    warmup,
    decay,
  }: { readonly steps: number; readonly warmup: number; readonly decay: Decay },
): number {
  const rising = warmup * steps
  if (step < rising) return step / rising
  const done = steps > rising ? (step - 1 - Math.floor(rising)) / (steps - Math.floor(rising)) : 0
  if (decay === 'linear') return 1 - Math.max(0, done)
  return decay === 'cosine' ? (1 + Math.cos(Math.PI * Math.max(0, done))) / 2 : 1
}
