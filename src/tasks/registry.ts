/** Built-in environments: `make('consultation')` and `make('question')`. */
import type { Grammar } from '../agent.js'
import { huatuo } from '../agents/grammars/huatuo.js'
import { labelled } from '../agents/grammars/labelled.js'
import { namedGrammar } from '../agents/grammars/named.js'
import { caseSource } from '../cases/generator/generate.js'
import type { Env } from '../env.js'
import type { CaseSource, MakeConsultationOptions } from '../envs/consultation.js'
import { consultation } from '../envs/consultation.js'
import { knowledgeExams, recordExams } from '../envs/exams/record.js'
import { intakeWithHistory } from '../envs/history-notes.js'
import type { OptionRules } from '../envs/options.js'
import {
  callable,
  casesRule,
  checkOptions,
  consultationRules,
  names,
  oneOf,
  seedRule,
} from '../envs/options.js'
import { rulePatient } from '../envs/patients/rule.js'
import { type QuestionOptions, question, questionRules } from '../envs/question.js'
import { make as makeRegistered, register } from '../envs/register.js'
import type { ExamSimulator } from '../exam.js'
import type { Knowledge } from '../knowledge/knowledge.js'
import { loadKnowledge } from '../knowledge/load.js'
import { tierNames, tiers } from '../knowledge/tiers.js'
import { namedReward, type RewardName } from '../rewards/named.js'
import { formularyOf } from '../rewards/outcome/formulary.js'
import {
  ampleBudget,
  type PublishedEnvName,
  publishedEnvNames,
  publishedEnvs,
} from './published.js'
import { clinicKnowledge } from './task-kinds.js'

/** Published environments of one question and one answer. */
type PublishedQuestionName = Extract<PublishedEnvName, `doctor-agent${string}`>
/** Published environments of consultations. */
type PublishedConsultationName = Exclude<PublishedEnvName, PublishedQuestionName>

declare module '../envs/register.js' {
  interface EnvRegistry
    extends Record<PublishedConsultationName, { options: MakeConsultationOptions; env: Env }>,
      Record<PublishedQuestionName, { options: QuestionOptions; env: Env }> {}
}

const makeRules: OptionRules<MakeConsultationOptions> = {
  ...consultationRules,
  cases: { ...casesRule, required: false },
  patient: callable,
  tier: oneOf(...tierNames),
  clinic: names,
  split: oneOf('train', 'heldout'),
  caseSeed: seedRule,
}

/**
 * Creates a consultation env; defaults are generated cases, the rule patient, recorded exams and the default reward.
 * @throws TypeError or RangeError, with the value, for an unknown or invalid option
 */
export function makeConsultation(options: MakeConsultationOptions = {}): Env {
  checkOptions("make('consultation')", options, makeRules)
  const { tier = 'easy', clinic, split = 'train', caseSeed = 0, ...given } = options
  const knowledge = clinicKnowledge(clinic)
  const cases: CaseSource = given.cases ?? caseSource(knowledge, { tier, split, seed: caseSeed })
  const { maxTurns, money, minutes } = tiers[tier]
  return consultation({
    patient: rulePatient({ knowledge }),
    exams: [recordExams({ knowledge })],
    reward: namedReward('default', { formulary: formularyOf(knowledge) }),
    grammar: labelled() satisfies Grammar,
    maxTurns,
    money,
    minutes,
    ...given,
    cases,
  })
}

function makeQuestion(options: QuestionOptions, name?: PublishedQuestionName): Env {
  if (name && options === undefined)
    throw new TypeError(
      `Expected \`cases\` for make('${name}'), ${publishedEnvs[name].cases}; got none`,
    )
  checkOptions(`make('${name ?? 'question'}')`, options, questionRules)
  const reward: RewardName = name ? publishedEnvs[name].reward : 'verified-answer'
  const formulary = formularyOf(loadKnowledge())
  return question({
    grammar: huatuo(),
    reward: namedReward(reward, { formulary }),
    ...options,
  })
}

/** The exam simulators of a published environment that need no model. */
const publishedExams = (name: PublishedEnvName, knowledge: Knowledge): readonly ExamSimulator[] =>
  publishedEnvs[name].exams.map((one) => {
    if (one === 'record') return recordExams({ knowledge })
    if (one === 'knowledge') return knowledgeExams({ knowledge })
    throw new TypeError(
      `Expected \`exams\` for make('${name}'), as [diagGym({ complete, knowledge, parity: true })], got none`,
    )
  })

/** Creates a published environment: its grammar, limits and reward, with generated cases and rules unless given others. */
function makePublished(name: PublishedEnvName, options: MakeConsultationOptions = {}): Env {
  const published = publishedEnvs[name]
  const { grammar, maxTurns, maxInvalid, history, pay, reward } = published
  const knowledge = clinicKnowledge(options.clinic)
  const formulary = formularyOf(knowledge)
  return makeConsultation({
    ...{ grammar: namedGrammar(grammar), maxTurns, maxInvalid, pay },
    ...ampleBudget(knowledge, maxTurns),
    ...(history === 'given' ? { intake: intakeWithHistory(knowledge) } : {}),
    reward: namedReward(reward, { formulary, knowledge }),
    ...options,
    exams: options.exams ?? publishedExams(name, knowledge),
  })
}

let registered = false

/**
 * Makes an env by name: `consultation`, `question`, or a name added by `register`.
 * @throws RangeError for a name that is not registered
 */
export const make: typeof makeRegistered = (id, ...options) => {
  // Not at import: a bundler may drop the side effects of a module it only re-exports from.
  if (!registered) {
    register('consultation', makeConsultation)
    register('question', (options) => makeQuestion(options))
    for (const name of publishedEnvNames)
      if (publishedEnvs[name].name === 'question')
        // The names of questions are those whose options are a question's, which a test holds.
        register(name as PublishedQuestionName, (options) =>
          makeQuestion(options, name as PublishedQuestionName),
        )
      else register(name as PublishedConsultationName, (options) => makePublished(name, options))
  }
  registered = true
  return makeRegistered(id, ...options)
}
