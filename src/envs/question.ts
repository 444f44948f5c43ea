/**
 * The question env: single-turn verifiable question answering. The question is the case's complaint; the doctor's one
 * reply is the answer, recorded as the diagnosis of a consultation of one turn.
 */
import type { Grammar } from '../agent.js'
import type { Env } from '../env.js'
import type { Patient } from '../patient.js'
import type { Reward } from '../reward.js'
import type { Action, Language } from '../turn.js'
import { type CaseSource, consultation } from './consultation.js'
import { parseAction } from './edge.js'
import { checkOptions, type OptionRules, consultationRules as rules } from './options.js'

/** Options of `question`. */
export interface QuestionOptions {
  /** `reset` draws from a list by its seed, and asks a function for case number `seed`. */
  readonly cases: CaseSource
  /** Scores the answer. @default none: every reward is 0 */
  readonly reward?: Reward
  /** Parses text actions. @default none: only structured actions are accepted */
  readonly grammar?: Grammar
  /** Language of observations and replies. @default 'en' */
  readonly language?: Language
}

const rejection = {
  en: 'This is a question to be answered; there is no patient to ask or examine.',
  zh: '这是一道需要回答的问题，没有可以询问或检查的患者。',
} as const

const noPatient: Patient = () => {
  throw new TypeError('Expected no question to a patient, got one: a question has no patient')
}

/** Checks of the options of `question`. */
export const questionRules: OptionRules<QuestionOptions> = {
  cases: rules.cases,
  reward: rules.reward,
  grammar: rules.grammar,
  language: rules.language,
}

/** Makes a question env: an answer ends the episode; a question or an order ends it as an invalid action. */
export function question(options: QuestionOptions): Env {
  checkOptions('a question', options, questionRules)
  const { cases, reward, grammar, language = 'en' } = options
  const answering = (action: Action): Action =>
    action.kind === 'ask' || action.kind === 'order'
      ? {
          kind: 'invalid',
          text: action.kind === 'ask' ? action.text : action.exam,
          why: rejection[language],
        }
      : action
  const env = consultation({
    ...{ cases, language, patient: noPatient },
    ...(reward ? { reward } : {}),
    ...(grammar
      ? { grammar: { ...grammar, parse: (text: string) => answering(grammar.parse(text)) } }
      : {}),
    ...{ maxTurns: 1, maxInvalid: 1, money: 0, minutes: 1 },
  })
  return {
    ...env,
    step: (action, options) =>
      env.step(typeof action === 'string' ? action : answering(parseAction(action)), options),
  }
}
