/** The doctor's reward of MrlX-TakesTwo (2025), parity and fixed; and its reading of a dialogue and of a judge's rates. */
import type { GraderView } from '../../case.js'
import type { Episode, EpisodeTurn } from '../../episode.js'
import { Fault } from '../../error.js'
import { ok, type Reward, type Score } from '../../reward.js'
import { defineReward, unitReward } from '../define.js'
import type { JudgedLine } from '../judges/judge.js'
import type { Formulary } from '../outcome/formulary.js'
import { bagF1 } from '../text/bag-f1.js'
import { strip } from '../text/python-text.js'
import {
  combineParts,
  conductPart,
  diagnosisPart,
  historyPart,
  recommendationPart,
  requireTurns,
} from './doctoragent-rl-fixed.js'
import {
  countSubstring,
  goldTexts,
  rawReply,
  readLabels,
  removeTag,
} from './doctoragent-rl-texts.js'

/** A message of the published dialogue; the doctor is the assistant, every outcome is the user's message. */
interface DialogueMessage {
  readonly role: 'doctor' | 'patient'
  readonly text: string
}

/** The dialogue without its prompt, hidden reasoning of both sides included; a reply ends at its first `<|im_end|>`. */
export function readDialogue(turns: readonly EpisodeTurn[]): readonly DialogueMessage[] {
  return turns.flatMap((turn): DialogueMessage[] => {
    const [reply = ''] = rawReply(turn, { tagged: false }).split('<|im_end|>')
    const said: DialogueMessage = { role: 'doctor', text: strip(reply) }
    return turn.outcome.kind === 'closed'
      ? [said]
      : [said, { role: 'patient', text: turn.outcome.text }]
  })
}

/** Maximum number of turns read, so that the sum has bounds; the published loop ends at 10 or 15. */
export const maxTurnsRead = 100

/**
 * The sum accuracy + information + compliance of `MedRewardMultiturn`. An empty reply ends a sample with reward 0,
 * whatever came before.
 * @param maxTurns the published MAX_TURNS
 */
export function scoreDoctorParity(episode: Episode, truth: GraderView, maxTurns: number): Score {
  const messages = readDialogue(episode.turns.slice(0, maxTurnsRead))
  const silent = messages.some(({ role, text }) => role === 'doctor' && text === '')
  if (silent || messages.length === 0)
    return { total: 0, parts: { aborted: ok(0, 'the doctor said nothing') } }
  const last = messages.at(-1)
  const final = last?.role === 'doctor' ? readLabels(last.text.split('</think>').at(-1) ?? '') : {}
  const { diagnosis = '', recommendation = '' } = final
  const gold = goldTexts(truth, episode.language)
  const accuracy =
    5 * bagF1(diagnosis, gold.diagnosis) + 5 * bagF1(recommendation, gold.recommendation)
  const answers = messages.filter(({ role }) => role === 'patient').map(({ text }) => text)
  let information = 0
  for (const text of answers) information += text.toLowerCase().includes('sorry') ? -2 : 1
  let compliance = 0
  for (const text of answers) if (countSubstring(text, '?') >= 2) compliance -= 2
  if (diagnosis === '' || recommendation !== '' || messages.length >> 1 > maxTurns) compliance -= 5
  return {
    total: accuracy + information + compliance,
    parts: {
      accuracy: ok(accuracy),
      information: ok(information),
      compliance: ok(compliance),
    },
  }
}

/** The dialogue shown to the published judge of the patient, with the doctor's thoughts but without the patient's. */
export function judgedDialogue(turns: readonly EpisodeTurn[]): readonly JudgedLine[] {
  const messages = readDialogue(turns)
  const lines = messages.at(-1)?.role === 'doctor' ? messages.slice(0, -1) : messages
  return lines.map(({ role, text }) =>
    role === 'doctor' ? { role, text } : { role, text: strip(removeTag(text, 'think')) },
  )
}

/** The three rates: not telling facts unasked, answering questions, not contradicting the profile; 1 is faultless. */
export interface ConductRates {
  readonly information: number
  readonly completeness: number
  readonly conflict: number
}

const keys = {
  information: 'information_control_rate',
  completeness: 'response_completeness_rate',
  conflict: 'factual_conflict_rate',
} as const

const unreadable = (words: string): Fault =>
  new Fault('model-unreadable', `the released reward raises at \`${words.slice(0, 200)}\``)

/** A judge's reply as a JSON object; undefined where the released code asks again. */
export function readRatesObject(words: string): Readonly<Record<string, unknown>> | undefined {
  const [first = '', second, ...more] = words.split('</think>')
  if (more.length > 0) return undefined
  const text = strip(second ?? first).replace(/```json\n|\n```/gi, '')
  try {
    const given: unknown = JSON.parse(text)
    // An object's own entries; each is checked before it is used.
    if (typeof given === 'object' && given !== null && !Array.isArray(given))
      return given as Readonly<Record<string, unknown>>
  } catch {
    // As for a value that is not an object.
  }
  return undefined
}

/**
 * Reads the rates in a judge's reply like `parse_score`: unchecked, however large, and 0 where one is missing. Counts of
 * faults, as given by a `Judge` of this package, become rates by the published prompt's formula: 1 less .2 for each.
 * @throws Fault `model-unreadable` where the released code raises
 */
export function readRatesParity(words: string): ConductRates {
  const given = readRatesObject(words)
  if (given === undefined) throw unreadable(words)
  const number = (key: string): number => {
    const value = given[key] ?? (key in given ? undefined : 0)
    if (typeof value !== 'number' && typeof value !== 'boolean') throw unreadable(words)
    return Number(value)
  }
  const counted = !Object.values(keys).some((key) => key in given) && 'extra' in given
  if (!counted)
    return {
      information: number(keys.information),
      completeness: number(keys.completeness),
      conflict: number(keys.conflict),
    }
  return {
    information: Math.max(0, 1 - 0.2 * number('extra')),
    completeness: Math.max(0, 1 - 0.2 * number('missing')),
    // The prompt's own formula has no floor here.
    conflict: Math.min(1, 1 - 0.2 * number('opposite')),
  }
}

/** Options of {@link takestwoDoctor}. */
export interface TakesTwoDoctorOptions {
  /** Whether to use the released formula. @default false */
  readonly parity?: boolean
  /** The published MAX_TURNS; parity only. @default 10 */
  readonly maxTurns?: number
  /** The diseases recognised by name; fixed form only. @default none */
  readonly formulary?: Formulary
}

/** Accuracy .5 (diagnosis, recommendation), information .3, compliance .2; published: 10, about 9, fines of 2 and 5. */
const weights = { diagnosis: 0.3, recommendation: 0.2, information: 0.3, compliance: 0.2 }

/**
 * Parity: 5·F1 of the diagnosis + 5·F1 of the recommendation, as bags of jieba tokens; +1 for each answer, -2 for one
 * with "sorry" in it; -2 for each answer with two question marks; and -5 without a diagnosis, or *with* a
 * recommendation. Only the first 100 turns are read, so that it lies in [-405, 110].
 *
 * Fixed, in [0, 1]: right × (.3 + .2·recommendation + .3·information + .2·compliance). Information is the history
 * coverage; compliance is 1 less .2 for each turn at fault (not one question, a repeat, a refused request), and 0 where
 * the recommendation is missing. An episode without a turn is unavailable.
 */
export function takestwoDoctor({
  parity = false,
  maxTurns = 10,
  formulary = [],
}: TakesTwoDoctorOptions = {}): Reward {
  if (parity)
    return defineReward(
      {
        name: 'takestwo-doctor-parity',
        bounds: [-4 * maxTurnsRead - 5, maxTurnsRead + 10],
        source: 'MrlX-TakesTwo `MedRewardMultiturn` (2025), as released',
        parity,
      },
      (episode, truth) => scoreDoctorParity(episode, truth, maxTurns),
    )
  return unitReward(
    'takestwo-doctor',
    'MrlX-TakesTwo `MedRewardMultiturn` (2025), fixed',
    async (episode, truth) => {
      requireTurns(episode)
      const parts = {
        recommendation: recommendationPart(episode, truth),
        information: await historyPart(episode, truth),
        compliance: conductPart(episode, truth),
      }
      return combineParts(diagnosisPart(episode, truth, formulary), parts, weights)
    },
  )
}
