/** What a client sees of a consultation: the observation and the end of it, as plain data with the wire's names. */
import { labelled } from '../agents/grammars/labelled.js'
import { heardText } from '../agents/grammars/written-actions.js'
import type { Message } from '../chat.js'
import type { Observation, Step } from '../env.js'
import { ended } from '../env.js'
import type { Score } from '../reward.js'

/** An observation on the wire. */
export interface WireObservation {
  /** What the doctor hears now: the intake at first, then a reply, a report or why an action was refused. */
  readonly message: string
  /** `opening`, or how the last action came out. */
  readonly outcome: string
  readonly turns_left: number
  readonly money_spent: number
  readonly minutes_spent: number
  readonly money: number
  readonly minutes: number
  readonly language: string
  readonly done: boolean
  readonly terminated: boolean
  readonly truncated: boolean
  /** Why it ended; absent before. */
  readonly stop?: string
  /** The score at the end; a `total` of null says that it is not known, which is not 0. */
  readonly score?: Score
  /** On the first observation: the messages a language model reads, with the rules. */
  readonly prompt?: readonly Message[]
}

const { render } = labelled()

/** The observation before the first action. */
export function firstObservation(observation: Observation): WireObservation {
  const prompt = render(observation)
  return {
    message: prompt.at(-1)?.content ?? '',
    outcome: 'opening',
    ...facts(observation),
    ...{ done: false, terminated: false, truncated: false, prompt },
  }
}

const facts = ({ turnsLeft, spent, budget, language }: Observation) => ({
  turns_left: turnsLeft,
  money_spent: spent.money,
  minutes_spent: spent.minutes,
  money: budget.money,
  minutes: budget.minutes,
  language,
})

/** The observation after an action. */
export function nextObservation(step: Step): WireObservation {
  const { observation, terminated, truncated, info } = step
  const outcome = observation.turns.at(-1)?.outcome
  const { turnsLeft, language } = observation
  return {
    message: (outcome && heardText(outcome, turnsLeft, language)) ?? '',
    outcome: outcome?.kind ?? 'opening',
    ...facts(observation),
    ...{ done: ended(step), terminated, truncated },
    ...(info.stop === undefined ? {} : { stop: info.stop }),
    ...(info.score ? { score: info.score } : {}),
  }
}

/** The reward of a step on the wire: null where a score is not known. */
export const wireReward = ({ reward, info }: Step): number | null =>
  info.score && info.score.total === null ? null : reward

/** The first words to a model that knows no rules: those of labelled replies, and the intake. */
export const labelledPrompt = ({ prompt = [] }: WireObservation): string =>
  prompt.map(({ content }) => content).join('\n\n')

/** The first words to a model that acts by tools. */
export function toolPrompt(first: WireObservation): string {
  const { message, language, turns_left, money, minutes } = first
  const rules =
    language === 'zh'
      ? `你是一名正在接诊的医生。请弄清病人得的是什么病：用 ask_patient 问病人，用 order_exam 开检查，最后用 diagnose 给出一个诊断和建议。每次只用一个工具。最多 ${turns_left} 个回合，检查费用 ${money}，时间 ${minutes} 分钟。`
      : `You are a doctor in a consultation. Find out what the patient has: ask with ask_patient, order examinations with order_exam, and end with one diagnosis and your advice by diagnose. Use one tool at a time. You have at most ${turns_left} turns, ${money} money units for examinations, ${minutes} minutes.`
  return `${rules}\n\n${message}`
}
