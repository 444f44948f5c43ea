/** Request of a forward or forward-backward pass, and the checks of its loss and data. */
import type { WireProfile } from './profile.js'
import type { Datum, WireLoss } from './wire.js'

/** A request of `forward_backward` or `forward`, with its data already encoded. */
export interface PassRequest {
  readonly modelId: string
  readonly seq: number
  readonly data: readonly Uint8Array[]
  readonly loss: WireLoss
  readonly forwardOnly: boolean
}

/** Losses whose default clip bounds differ between servers, so the bounds must be sent. */
const clipped = ['ppo', 'cispo']
const bounds = ['clip_low_threshold', 'clip_high_threshold'] as const

/**
 * Checks that the server has the loss, and that it would not run with the server's default constants.
 * @throws RangeError saying what was expected
 */
export function assertLoss(
  loss: WireLoss,
  { name, losses }: Pick<WireProfile, 'name' | 'losses'>,
  extensions: readonly string[] | undefined,
): void {
  const known = loss.extension ? (extensions ?? []) : losses
  const kind = loss.extension ? 'an extension loss' : 'a loss'
  if (!known.includes(loss.name))
    throw new RangeError(
      `Expected ${kind} of ${name} (${known.join(', ') || 'it has none'}), got \`${loss.name}\``,
    )
  for (const [key, value] of Object.entries(loss.config ?? {}))
    if (typeof value === 'number' && !Number.isFinite(value))
      throw new RangeError(
        `Expected a finite \`${key}\` in the config of ${loss.name}, got ${value}`,
      )
  if (loss.extension || !clipped.includes(loss.name)) return
  for (const bound of bounds)
    if (typeof loss.config?.[bound] !== 'number')
      throw new RangeError(
        `Expected \`${bound}\` in the config of ${loss.name}, because servers' defaults differ, got ${JSON.stringify(loss.config ?? {})}`,
      )
}

/**
 * Checks that data can be sent: tokens present, inputs of the right length and finite.
 * @throws RangeError naming the datum and the input
 */
export function assertData(data: readonly Datum[]): void {
  if (data.length === 0) throw new RangeError('Expected data, got none')
  data.forEach(({ tokens, inputs }, i) => {
    if (tokens.length === 0) throw new RangeError(`data[${i}]: expected tokens, got none`)
    for (const [name, values] of Object.entries(inputs)) {
      if (values.length !== tokens.length && values.length !== 1)
        throw new RangeError(
          `data[${i}]: expected ${name} of length ${tokens.length} or 1, got ${values.length}`,
        )
      const wrong =
        values instanceof Float32Array ? values.findIndex((value) => !Number.isFinite(value)) : -1
      if (wrong >= 0)
        throw new RangeError(
          `data[${i}]: expected finite ${name}, got ${values[wrong]} at ${wrong}`,
        )
    }
  })
}
