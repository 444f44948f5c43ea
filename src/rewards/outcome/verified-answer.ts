/** Verified-answer reward: a verifier compares the answer with the reference. Also part of Doctor-Agent's rewards. */
import { primaryDiagnosis, textInLanguage } from '../../case.js'
import { diagnosisOf } from '../../episode.js'
import { ok, type Reward } from '../../reward.js'
import { stripHiddenReasoning } from '../../text/hidden-reasoning.js'
import { type RewardArguments, unitReward } from '../define.js'
import { detectEvasion } from './evasion.js'
import type { FormularyOptions } from './formulary.js'
import { exactVerifier, isSameAnswer, type Verifier } from './verifier.js'

/** Options of rewards that verify an answer. */
export interface VerifiedAnswerOptions extends FormularyOptions {
  /** @default exactVerifier({ formulary }) */
  readonly verifier?: Verifier
  /** An answer is right where the verifier's probability is above the threshold. @default 0.5 */
  readonly threshold?: number
}

interface VerificationSettings extends Required<Omit<VerifiedAnswerOptions, 'formulary'>> {
  /** As published: the verifier does not see the question, and evasive answers are sent to it too. */
  readonly blind?: boolean
}

/**
 * Verifies an answer against the case's primary diagnosis; the evidence states the probability and the threshold. An
 * evasive answer is wrong without asking, and has no probability `p`; a name of the diagnosis is right without asking.
 * @throws Fault where the verifier cannot tell; RangeError where it returns no probability
 */
export async function verifyAnswer(
  answer: string,
  { verifier, threshold, blind = false }: VerificationSettings,
  [{ language }, { complaint, gold }, { signal }]: RewardArguments,
) {
  const reference = textInLanguage(primaryDiagnosis(gold).name, language)
  const evaded = blind ? undefined : detectEvasion(answer, reference)
  if (evaded) return { right: false, p: undefined, evidence: `${evaded}: ${answer.slice(0, 80)}` }
  const { name, aliases } = primaryDiagnosis(gold)
  const names = [name.zh, name.en, ...aliases].filter((one) => one !== undefined)
  const plain = blind ? '' : stripHiddenReasoning(answer)
  if (plain !== '' && names.some((one) => isSameAnswer(one, plain, [])))
    return { right: true, p: 1, evidence: `alias table: ${answer.slice(0, 80)}` }
  const question = blind ? '' : textInLanguage(complaint.text, language)
  const p = await verifier(question, reference, answer, { signal })
  if (!(p >= 0 && p <= 1))
    throw new RangeError(`Expected the verifier to give a probability, got ${p}`)
  const right = p > threshold
  return {
    ...{ right, p },
    evidence: `p ${p.toFixed(3)} ${right ? '>' : '≤'} ${threshold}: ${answer.slice(0, 80)}`,
  }
}

/** Completes the options of a reward that verifies. @throws RangeError for a threshold outside [0, 1) */
export function completeVerifiedOptions({
  formulary = [],
  verifier = exactVerifier({ formulary }),
  threshold = 0.5,
}: VerifiedAnswerOptions): Required<Omit<VerifiedAnswerOptions, 'formulary'>> {
  if (!(threshold >= 0 && threshold < 1))
    throw new RangeError(`Expected \`threshold\` to be within [0, 1), got ${threshold}`)
  return { verifier, threshold }
}

/** Verified answer: 1 where the doctor's diagnosis is verified, 0 where it is not, is evasive or is missing. */
export function verifiedAnswer(options: VerifiedAnswerOptions = {}): Reward {
  const asked = completeVerifiedOptions(options)
  return unitReward(
    'verified-answer',
    'verifiable medical problems, after HuatuoGPT-o1 (Chen et al. 2024)',
    async (episode, truth, context) => {
      const given = diagnosisOf(episode)
      if (!given) return ok(0, 'no answer')
      const { right, evidence } = await verifyAnswer(given.diagnosis, asked, [
        episode,
        truth,
        context,
      ])
      return ok(right ? 1 : 0, evidence)
    },
  )
}
