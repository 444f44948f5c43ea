/** The rewards of Doctor-Agent, parity and fixed: form and verified answer of one reply. That of PPO is HuatuoGPT-o1's own. */
import type { Episode } from '../../episode.js'
import { ok, type Reward } from '../../reward.js'
import { formatHuatuoReply, parseHuatuoReply } from '../../text/huatuo-reply.js'
import { defineReward } from '../define.js'
import type { VerifiedAnswerOptions } from '../outcome/verified-answer.js'
import { completeVerifiedOptions, verifyAnswer } from '../outcome/verified-answer.js'
import { strip } from '../text/python-text.js'
import { countSubstring } from './doctoragent-rl-texts.js'

/** A parsed reply: the value of its form, and the answer to verify if there is one. */
export interface DoctorAgentReading {
  /** 0 to 1. */
  readonly format: number
  readonly answer?: string
}

const thinking = '## Thinking'
const final = '## Final Response'
const finalBlank = `${final}\n\n`

const readAnswer = (text: string): string =>
  strip(text.slice(text.indexOf(finalBlank) + finalBlank.length))

/** Reads a reply as the PPO code does: each heading once, in any order, the Final one with a blank line. */
export const readPpoParity = (text: string): DoctorAgentReading =>
  countSubstring(text, finalBlank) === 1 && countSubstring(text, thinking) === 1
    ? { format: 1, answer: readAnswer(text) }
    : { format: 0 }

function scoreFormat(text: string): number {
  const [thoughts, answers] = [countSubstring(text, thinking), countSubstring(text, final)]
  if (thoughts === 1 && answers === 1) return text.indexOf(thinking) < text.indexOf(final) ? 1 : 0.3
  return thoughts + answers > 0 ? 0.2 : 0
}

/** Reads a reply as the GRPO code does: the order counts too; any Final heading with its blank line has an answer. */
export function readGrpoParity(text: string): DoctorAgentReading {
  const format = scoreFormat(text)
  return text.includes(finalBlank) ? { format, answer: readAnswer(text) } : { format }
}

/** Options of {@link doctorAgentPpo} and {@link doctorAgentGrpo}. */
export interface DoctorAgentOptions extends VerifiedAnswerOptions {
  /** An answer is right where the verifier's probability is above the threshold. @default 0.5, with `parity` 0.4 */
  readonly threshold?: number
  /**
   * Whether to use the released formula: headings are counted as substrings, the verifier does not see the question,
   * and an answer may abstain, list candidates or be of any length. @default false
   */
  readonly parity?: boolean
}

/** The last reply; for a doctor who acts without text, the action as `write` puts it. */
export function lastReply({ turns }: Episode, write: (diagnosis: string) => string): string {
  const last = turns.at(-1)
  if (last?.text !== undefined) return last.text
  return last?.action.kind === 'diagnose' ? write(last.action.diagnosis) : ''
}

/** Makes a reader of replies by the order of headings. A whole form counts 1, a loose one `loose`. */
const readFixed =
  (loose: number) =>
  (text: string): DoctorAgentReading => {
    const reply = parseHuatuoReply(text)
    if (!('answer' in reply)) return { format: 0 }
    if (reply.form === 'whole') return { format: 1, answer: reply.answer }
    return loose > 0 ? { format: loose, answer: reply.answer } : { format: 0 }
  }

interface DoctorAgentFormula {
  readonly name: string
  readonly source: string
  readonly read: (text: string) => DoctorAgentReading
  /** The accuracy of an answer that is not right. */
  readonly wrong: number
  readonly total: (format: number, accuracy: number) => number
}

function makeReward(formula: DoctorAgentFormula, options: DoctorAgentOptions): Reward {
  const { parity = false } = options
  const { name, source, read, wrong, total } = formula
  const asked = {
    ...completeVerifiedOptions({ ...(parity ? { threshold: 0.4 } : {}), ...options }),
    blind: parity,
  }
  return defineReward({ name, bounds: [0, 1], source, parity }, async (episode, truth, context) => {
    const { format, answer } = read(
      lastReply(episode, (diagnosis) => formatHuatuoReply('…', diagnosis)),
    )
    const verdict =
      answer === undefined
        ? undefined
        : await verifyAnswer(answer, asked, [episode, truth, context])
    const accuracy = verdict ? (verdict.right ? 1 : wrong) : 0
    return {
      total: total(format, accuracy),
      parts: {
        format: ok(format),
        accuracy: ok(accuracy, verdict?.evidence ?? 'no answer to verify'),
      },
    }
  })
}

/**
 * 1 for a verified answer in the whole form, 0 for any other reply (parity: .1 for a wrong answer in the form).
 * Abstaining, several answers and an overlong answer count as wrong.
 * @throws RangeError for a threshold outside [0, 1)
 */
export const doctorAgentPpo = (options: DoctorAgentOptions = {}): Reward =>
  makeReward(
    options.parity
      ? {
          name: 'doctor-agent-ppo-parity',
          source: 'HuatuoGPT-o1 `get_reward_o1` (Chen et al. 2024), as released',
          ...{ read: readPpoParity, wrong: 0.1, total: (_, accuracy) => accuracy },
        }
      : {
          name: 'doctor-agent-ppo',
          source: 'HuatuoGPT-o1 `get_reward_o1` (Chen et al. 2024), fixed',
          ...{ read: readFixed(0), wrong: 0, total: (_, accuracy) => accuracy },
        },
    options,
  )

const weighForm = (format: number, accuracy: number): number =>
  0.3 * format + 0.7 * format * accuracy

/**
 * .3·F + .7·F·A: F is 1 for the whole form, .2 for a loose one and 0 for none, A is 1 for a verified answer and 0
 * for any other (parity: F .3 for headings in the wrong order, .2 for any heading; A .1 for a wrong answer).
 * @throws RangeError for a threshold outside [0, 1)
 */
export const doctorAgentGrpo = (options: DoctorAgentOptions = {}): Reward =>
  makeReward(
    options.parity
      ? {
          name: 'doctor-agent-grpo-parity',
          source: 'Doctor-Agent `combined_reward`, as released',
          ...{ read: readGrpoParity, wrong: 0.1, total: weighForm },
        }
      : {
          name: 'doctor-agent-grpo',
          source: 'Doctor-Agent `combined_reward`, fixed',
          ...{ read: readFixed(0.2), wrong: 0, total: weighForm },
        },
    options,
  )
