/** One request of a pass over data: its parts, and the checks that come before it. */
import type { WireProfile } from './profile.js'
import type { Datum, WireLoss } from './wire.js'

/** A request of `forward_backward` or `forward`, its data encoded already. */
export interface PassRequest {
  readonly modelId: string
  readonly seq: number
  readonly data: readonly Uint8Array[]
  readonly loss: WireLoss
  readonly forwardOnly: boolean
}

/** Losses whose bounds differ between servers where they are not sent. */
const clipped = ['ppo', 'cispo']
const bounds = ['clip_low_threshold', 'clip_high_threshold'] as const

/**
 * Refuses a loss that a server does not know, or that would run with the server's own constants.
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
 * Refuses data that cannot be sent.
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
