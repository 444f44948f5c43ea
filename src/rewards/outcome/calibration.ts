/** Calibration reward: correctness and the Brier loss of the stated confidence, with a small reward for abstention. */
import type { Gold } from '../../case.js'
import { diagnosisOf, type Episode } from '../../episode.js'
import { ok, type Part, type Reward } from '../../reward.js'
import { defineReward } from '../define.js'
import { diagnosisList, primaryDiagnosisId } from './diagnosis-list.js'
import type { FormularyOptions } from './formulary.js'

/** Options of {@link calibration}. */
export interface CalibrationOptions extends FormularyOptions {
  /** Reward for giving up, as a share of the expected reward of the best honest doctor. @default 0.25 */
  readonly abstention?: number
}

/** P(right) of the Bayes-optimal doctor, who knows all findings; 0 for a case without a differential. */
const bayesAccuracy = ({ differential = [] }: Gold): number =>
  differential.reduce((most, { p }) => Math.max(most, p), 0)

function scoreAbstention(episode: Episode, gold: Gold, share: number): Part {
  if (episode.turns.at(-1)?.action.kind !== 'give-up') return ok(0, 'no diagnosis')
  const best = bayesAccuracy(gold)
  return ok(share * best ** 2, `gave up at Bayes accuracy ${best.toFixed(2)}`)
}

/**
 * 1[right] − (c − 1[right])² with c the stated confidence: 2c − c² for a right diagnosis, −c² for a wrong one, from
 * −1 to 1. The score is proper: an honest doctor who is right with probability p states p and expects p². It includes
 * correctness, so that a wrong diagnosis earns at most 0, however low its confidence. A diagnosis without a confidence
 * earns 0, right or wrong, and so does every end without a diagnosis except giving up.
 *
 * Giving up earns `abstention` · b², with b the posterior of the case's most probable diagnosis given all findings: a
 * fixed share of the best doctor's expectation, so that it is the better choice only where p < b·√abstention, and
 * always giving up never beats honest play. On a case without a differential it earns 0.
 * @throws RangeError for an abstention outside [0, 1)
 */
export function calibration({
  formulary = [],
  abstention = 0.25,
}: CalibrationOptions = {}): Reward {
  if (!(abstention >= 0 && abstention < 1))
    throw new RangeError(`Expected \`abstention\` to be within [0, 1), got ${abstention}`)
  return defineReward(
    {
      name: 'calibration',
      bounds: [-1, 1],
      source: 'correctness less Brier loss as in RLCR (Damani et al. 2025); abstention after MediQ',
    },
    (episode, { gold }) => {
      const given = diagnosisOf(episode)
      if (!given) return scoreAbstention(episode, gold, abstention)
      const [first] = diagnosisList(given, gold, formulary, 1)
      const sure = first?.p
      if (sure === undefined) return ok(0, 'no confidence')
      const right = first?.concept?.id === primaryDiagnosisId(gold) ? 1 : 0
      return ok(
        right - (sure - right) ** 2,
        `${right ? 'right' : 'wrong'}, confidence ${sure.toFixed(2)}`,
      )
    },
  )
}
