/** Built-in environments: `make('consultation')` and `make('question')`. */
import type { Grammar } from '../agent.js'
import { huatuo } from '../agents/grammars/huatuo.js'
import { labelled } from '../agents/grammars/labelled.js'
import { caseSource } from '../cases/generator/generate.js'
import type { Env } from '../env.js'
import type { CaseSource, MakeConsultationOptions } from '../envs/consultation.js'
import { consultation } from '../envs/consultation.js'
import { recordExams } from '../envs/exams/record.js'
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
import { loadKnowledge } from '../knowledge/load.js'
import { tierNames, tiers } from '../knowledge/tiers.js'
import { namedReward } from '../rewards/named.js'
import { formularyOf } from '../rewards/outcome/formulary.js'
import { clinicKnowledge } from './task-kinds.js'

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

function makeQuestion(options: QuestionOptions): Env {
  checkOptions("make('question')", options, questionRules)
  const formulary = formularyOf(loadKnowledge())
  return question({
    grammar: huatuo(),
    reward: namedReward('verified-answer', { formulary }),
    ...options,
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
    register('question', makeQuestion)
  }
  registered = true
  return makeRegistered(id, ...options)
}
