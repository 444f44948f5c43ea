/** The reward of Doctor-Agent's last notebooks, parity and fixed: tags, and tiers of a verifier's probability. */
import { primaryDiagnosis, textInLanguage } from '../../case.js'
import type { Episode } from '../../episode.js'
import type { Reward } from '../../reward.js'
import { ok } from '../../reward.js'
import { stripHiddenReasoning } from '../../text/hidden-reasoning.js'
import type { RewardArguments } from '../define.js'
import { defineReward } from '../define.js'
import { detectEvasion } from '../outcome/evasion.js'
import type { VerifiedAnswerOptions } from '../outcome/verified-answer.js'
import { completeVerifiedOptions } from '../outcome/verified-answer.js'
import type { Verifier } from '../outcome/verifier.js'
import {
  notebookTierParity,
  readNotebookFixed,
  readNotebookParity,
} from './doctor-agent-notebook-parity.js'

/** Options of {@link doctorAgentNotebook}. */
export interface DoctorAgentNotebookOptions
  extends Pick<VerifiedAnswerOptions, 'verifier' | 'formulary'> {
  /**
   * Whether to use the released formula, −3.5 to 9.5: a probability of .31 pays more than no answer, nearly half is for
   * tags, an answer may hedge, and any text may follow it. @default false
   */
  readonly parity?: boolean
}

/** The last reply; for a doctor who acts without text, the action in the published form. */
function lastReply({ turns }: Episode): string {
  const last = turns.at(-1)
  if (last?.text !== undefined) return last.text
  return last?.action.kind === 'diagnose'
    ? `…</THINK><ANSWER>${last.action.diagnosis}</ANSWER>`
    : ''
}

/** The verifier's probability. @throws RangeError where it returns none */
async function probability(
  verifier: Verifier,
  answer: string,
  [{ language }, { complaint, gold }, { signal }]: RewardArguments,
  blind: boolean,
): Promise<number> {
  const question = blind ? '' : textInLanguage(complaint.text, language)
  const p = await verifier(
    question,
    textInLanguage(primaryDiagnosis(gold).name, language),
    answer,
    { signal },
  )
  if (p >= 0 && p <= 1) return p
  throw new RangeError(`Expected the verifier to give a probability, got ${p}`)
}

function makeParity(verifier: Verifier): Reward {
  return defineReward(
    {
      name: 'doctor-agent-notebook-parity',
      bounds: [-3.5, 9.5],
      source: 'Doctor-Agent, notebooks of GRPO (quantrana/Medical-Doctor-Agent), as released',
      parity: true,
    },
    async (...judged) => {
      const { strict, soft, answer } = readNotebookParity(lastReply(judged[0]))
      const p = answer === undefined ? undefined : await probability(verifier, answer, judged, true)
      const accuracy = notebookTierParity(p)
      return {
        total: strict + soft + accuracy,
        parts: {
          strict: ok(strict),
          soft: ok(soft),
          accuracy: ok(accuracy, p === undefined ? 'no answer to verify' : `p ${p.toFixed(3)}`),
        },
      }
    },
  )
}

/** Credit by the verifier's probability: the released tiers above .5, divided by the highest. */
const tier = (p: number): number => (p > 0.9 ? 1 : p > 0.7 ? 0.7 : p > 0.5 ? 0.4 : 0)

const weights = { format: 0.3, accuracy: 0.7 }

function makeFixed(verifier: Verifier): Reward {
  const reward = defineReward(
    {
      name: 'doctor-agent-notebook',
      bounds: [0, 1],
      source: 'Doctor-Agent, notebooks of GRPO (quantrana/Medical-Doctor-Agent), fixed',
    },
    async (...judged) => {
      const answer = readNotebookFixed(lastReply(judged[0]))
      const format = answer === undefined ? 0 : 1
      const worth = async (text: string) => {
        const said = stripHiddenReasoning(text)
        const evaded = detectEvasion(
          said,
          textInLanguage(primaryDiagnosis(judged[1].gold).name, judged[0].language),
        )
        if (evaded) return ok(0, `${evaded}: ${said.slice(0, 80)}`)
        const p = await probability(verifier, said, judged, false)
        return ok(tier(p), `p ${p.toFixed(3)}: ${said.slice(0, 80)}`)
      }
      const accuracy = answer === undefined ? ok(0, 'no answer to verify') : await worth(answer)
      const value = accuracy.status === 'ok' ? accuracy.value : 0
      return {
        total: weights.format * format + weights.accuracy * value,
        parts: { format: ok(format), accuracy },
      }
    },
  )
  return Object.assign(reward, { weights })
}

/**
 * .3·form + .7·tier, within [0, 1]: the form is 1 or 0, the tier 1, .7 or .4 for a verifier's probability above .9, .7
 * or .5, and 0 for an answer less likely, evasive or missing. Parity: the released sum of 3 for a whole form, ±.5 for
 * each of three tags, and 5, 3.5, 2, 1.5 or −2.5 by probability, −2 for no answer.
 */
export function doctorAgentNotebook(options: DoctorAgentNotebookOptions = {}): Reward {
  const { verifier } = completeVerifiedOptions(options)
  return options.parity ? makeParity(verifier) : makeFixed(verifier)
}
