/** Whether an answer is verified to be the case's own: alone a reward, and the heart of Doctor-Agent's. */
import type { GraderView } from '../../case.js'
import { inLanguage, primary } from '../../case.js'
import type { Episode } from '../../episode.js'
import { diagnosisOf } from '../../episode.js'
import type { Reward, RewardContext } from '../../reward.js'
import { ok } from '../../reward.js'
import { defineReward } from '../define.js'
import { evasion } from './commitment.js'
import type { Formulary } from './formulary.js'
import type { Verifier } from './verifier.js'
import { exactVerifier } from './verifier.js'

export interface VerifiedOptions {
  /** @default exactVerifier({ formulary }) */
  readonly verifier?: Verifier
  /** An answer is right where the verifier's probability is above it. @default 0.5 */
  readonly threshold?: number
  /** The diseases that the exact verifier can tell from their names. @default none */
  readonly formulary?: Formulary
}

/** What a verifier made of an answer, with its probability and the threshold in words. */
export interface Verdict {
  readonly right: boolean
  readonly evidence: string
}

interface Asked extends Required<Omit<VerifiedOptions, 'formulary'>> {
  /** As published: the verifier does not know the question, and no answer is refused before it is asked. */
  readonly blind?: boolean
}

/**
 * Has an answer verified against the case's primary diagnosis.
 * @throws Fault where the verifier cannot tell; RangeError for what is no probability
 */
export async function verdictOn(
  answer: string,
  { verifier, threshold, blind = false }: Asked,
  [{ language }, { complaint, gold }, { signal }]: readonly [Episode, GraderView, RewardContext],
): Promise<Verdict> {
  const reference = inLanguage(primary(gold).name, language)
  const evaded = blind ? undefined : evasion(answer, reference)
  if (evaded) return { right: false, evidence: `${evaded}: ${answer.slice(0, 80)}` }
  const question = blind ? '' : inLanguage(complaint.text, language)
  const p = await verifier(question, reference, answer, { signal })
  if (!(p >= 0 && p <= 1))
    throw new RangeError(`Expected the verifier to give a probability, got ${p}`)
  const right = p > threshold
  return {
    right,
    evidence: `p ${p.toFixed(3)} ${right ? '>' : '≤'} ${threshold}: ${answer.slice(0, 80)}`,
  }
}

/** The options of a reward that verifies, complete. @throws RangeError for a threshold outside [0, 1) */
export function verifying({
  formulary = [],
  verifier = exactVerifier({ formulary }),
  threshold = 0.5,
}: VerifiedOptions): Required<Omit<VerifiedOptions, 'formulary'>> {
  if (!(threshold >= 0 && threshold < 1))
    throw new RangeError(`Expected \`threshold\` to be within [0, 1), got ${threshold}`)
  return { verifier, threshold }
}

/** 1 where the doctor's answer is verified, 0 where it is not, evades, or there is none. */
export function verifiedAnswer(options: VerifiedOptions = {}): Reward {
  const asked = verifying(options)
  return defineReward(
    {
      name: 'verified-answer',
      bounds: [0, 1],
      source: 'verifiable medical problems, after HuatuoGPT-o1 (Chen et al. 2024)',
    },
    async (episode, truth, context) => {
      const given = diagnosisOf(episode)
      if (!given) return ok(0, 'no answer')
      const { right, evidence } = await verdictOn(given.diagnosis, asked, [episode, truth, context])
      return ok(right ? 1 : 0, evidence)
    },
  )
}
