/** The entropy bonus: reduced as the losses are, or a mean over all drawn tokens (TRL's `entropy_coef`). */
import type { Loss, Normaliser } from '../../batch.js'

/**
 * Multiplier of the entropy bonus of a segment's drawn tokens.
 * @throws RangeError for a mean over tokens whose number the normaliser does not say
 */
export function entropyWeight(
  { entropy, entropyOver = 'normaliser' }: Pick<Loss, 'entropy' | 'entropyOver'>,
  { perSegment, drawnTokens }: Normaliser,
  segment: number,
): number {
  if (entropy === 0) return 0
  if (entropyOver === 'normaliser') return entropy * perSegment[segment]!
  if (drawnTokens === undefined || !(drawnTokens > 0))
    throw new RangeError(
      `Expected \`normaliser.drawnTokens\` above 0 for an entropy bonus over tokens, got \`${drawnTokens}\``,
    )
  return entropy / drawnTokens
}
