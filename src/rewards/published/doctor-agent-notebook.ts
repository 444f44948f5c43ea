/** The reward of Doctor-Agent's last notebooks (commit c59b64e), parity and fixed: tags, and tiers of a verifier's probability. */
import type { Episode } from '../../episode.js'
import { ok, type Reward } from '../../reward.js'
import { stripHiddenReasoning } from '../../text/hidden-reasoning.js'
import { defineReward, type RewardArguments, unitReward } from '../define.js'
import type { VerifiedAnswerOptions } from '../outcome/verified-answer.js'
import { completeVerifiedOptions, verifyAnswer } from '../outcome/verified-answer.js'
import type { Verifier } from '../outcome/verifier.js'
import { pythonBlank, strip } from '../text/python-text.js'
import { lastReply } from './doctor-agent.js'

const thinkEnd = '</THINK>'
const opening = '<ANSWER>'
const closing = '</ANSWER>'

/** Text that may follow the answer on its last line: blanks and the end token of one of the two Qwen3 models. */
const lineEnd = new RegExp(
  `(?:[${pythonBlank}]*(?:<\\|im_end\\|>|<\\|endoftext\\|>))?(?:(?!\\n)[${pythonBlank}])*(?:\\n|(?![\\s\\S]))`,
  'y',
)

/**
 * Reads the answer as released: from the first opening tag after the reasoning to the first closing tag that ends a
 * line. Later lines are ignored. Undefined where there is none.
 */
function readAnswer(text: string): string | undefined {
  const reasoned = text.indexOf(thinkEnd)
  const start = reasoned < 0 ? -1 : text.indexOf(opening, reasoned + thinkEnd.length)
  if (start < 0) return undefined
  const from = start + opening.length
  for (let end = text.indexOf(closing, from + 1); end >= 0; end = text.indexOf(closing, end + 1)) {
    lineEnd.lastIndex = end + closing.length
    if (lineEnd.test(text)) return text.slice(from, end)
  }
  return undefined
}

/**
 * The two released format rewards of a reply, and the answer to verify: `strict` is 3 for a whole form, else 0; `soft` is
 * .5 for each of three tags that occurs exactly once, −.5 for each that does not.
 */
export function readNotebookParity(text: string) {
  const soft = [thinkEnd, opening, closing].reduce(
    (sum, tag) => sum + (text.split(tag).length === 2 ? 0.5 : -0.5),
    0,
  )
  const answer = readAnswer(text)
  return {
    strict: answer === undefined ? 0 : 3,
    soft,
    answer: answer === undefined ? undefined : strip(answer),
  }
}

/** The released reward of a verifier's probability: positive above .3; −2 for no answer. */
export function notebookTierParity(p: number | undefined): number {
  if (p === undefined) return -2
  if (p > 0.9) return 5
  if (p > 0.7) return 3.5
  if (p > 0.5) return 2
  return p > 0.3 ? 1.5 : -2.5
}

/**
 * Reads the answer of a reply in the whole form: reasoning, its end tag, the answer between its tags, once each and in
 * this order, with only blanks around; undefined for any other reply.
 */
export function readNotebookFixed(text: string): string | undefined {
  const parts = text.replace(/^\s*<THINK>/, '').split(/(<\/?THINK>|<\/?ANSWER>)/)
  const [reasoning = '', ...rest] = parts
  const [end, between = '', open, answer = '', close, after = ''] = rest
  const inOrder = end === thinkEnd && open === opening && close === closing && rest.length === 6
  const around = `${between}${after.replace(/<\|(?:im_end|endoftext)\|>\s*$/, '')}`
  return inOrder && reasoning.trim() !== '' && around.trim() === '' && answer.trim() !== ''
    ? answer.trim()
    : undefined
}

/** Options of {@link doctorAgentNotebook}. */
export interface DoctorAgentNotebookOptions
  extends Pick<VerifiedAnswerOptions, 'verifier' | 'formulary'> {
  /**
   * Whether to use the released formula, −3.5 to 9.5: a probability of .31 pays more than no answer, nearly half is for
   * tags, an answer may hedge, and any text may follow it. @default false
   */
  readonly parity?: boolean
}

const readLast = (episode: Episode): string =>
  lastReply(episode, (diagnosis) => `…</THINK><ANSWER>${diagnosis}</ANSWER>`)

const verify = (answer: string, verifier: Verifier, judged: RewardArguments, blind: boolean) =>
  verifyAnswer(answer, { verifier, blind, threshold: 0.5 }, judged)

function makeParity(verifier: Verifier): Reward {
  return defineReward(
    {
      name: 'doctor-agent-notebook-parity',
      bounds: [-3.5, 9.5],
      source: 'Doctor-Agent, notebooks of GRPO (quantrana/Medical-Doctor-Agent), as released',
      parity: true,
    },
    async (...judged) => {
      const { strict, soft, answer } = readNotebookParity(readLast(judged[0]))
      const p = answer === undefined ? undefined : (await verify(answer, verifier, judged, true)).p
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

const tier = (p: number): number => (p > 0.9 ? 1 : p > 0.7 ? 0.7 : p > 0.5 ? 0.4 : 0)

const weights = { format: 0.3, accuracy: 0.7 }

function makeFixed(verifier: Verifier): Reward {
  const reward = unitReward(
    'doctor-agent-notebook',
    'Doctor-Agent, notebooks of GRPO (quantrana/Medical-Doctor-Agent), fixed',
    async (...judged) => {
      const answer = readNotebookFixed(readLast(judged[0]))
      const format = answer === undefined ? 0 : 1
      const worth = async (text: string) => {
        const said = stripHiddenReasoning(text)
        const { p, evidence } = await verify(said, verifier, judged, false)
        return p === undefined
          ? ok(0, evidence)
          : ok(tier(p), `p ${p.toFixed(3)}: ${said.slice(0, 80)}`)
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
