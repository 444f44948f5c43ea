/** The terms of a loss that a server has, as it says them itself. */
import { type LossTerm, lossTerms } from '../../backend.js'
import type { SidecarCapabilities } from '../tinker/handshake.js'

/** The settings of the sidecar's own loss that say a term, with a word that it must take. */
const settingsOf: Readonly<Record<LossTerm, readonly [setting: string, word?: string]>> = {
  'gspo-dual': ['dual'],
  'kl-ratio': ['kl_ratio'],
  'geometric-correction': ['correction_level', 'geometric'],
  'scaled-correction': ['correction_scale'],
  'off-policy-mask': ['off_policy_threshold'],
  'entropy-over-tokens': ['entropy_per_token'],
}

/** The terms that our sidecar at the other end has; one of an earlier version has fewer. */
export function servedTerms({
  lossSettings,
}: Pick<SidecarCapabilities, 'lossSettings'>): readonly LossTerm[] {
  const { bedside = {} } = lossSettings
  return lossTerms.filter((term) => {
    const [setting, word] = settingsOf[term]
    const taken = bedside[setting]
    return word === undefined ? taken !== undefined : taken?.includes(word)
  })
}

/** Terms of a linearised loss: all but the entropy bonus, of which the wire has nothing. */
export const linearisedTerms = lossTerms.filter((term) => term !== 'entropy-over-tokens')
