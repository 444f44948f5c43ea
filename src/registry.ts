/**
 * Names: what `make('consultation')` and `--reward default` stand for.
 *
 * With `setting.ts` and `training-run.ts` one of the composition roots, the only files that name folders.
 */
import { pathToFileURL } from 'node:url'
import type { Grammar } from './agent.js'
import { huatuo } from './agents/grammars/huatuo.js'
import { labelled } from './agents/grammars/labelled.js'
import { caseSource } from './cases/generate.js'
import type { Env } from './env.js'
import type { CaseSource, MakeConsultation } from './envs/consultation.js'
import { consultation } from './envs/consultation.js'
import { recordExams } from './envs/exams/record.js'
import { rulePatient } from './envs/patients/rule.js'
import type { QuestionOptions } from './envs/question.js'
import { question } from './envs/question.js'
import { make as makeRegistered, register } from './envs/register.js'
import { Fault } from './error.js'
import { clinic as clinicOf } from './knowledge.js'
import { loadKnowledge } from './knowledge-folder.js'
import type { Reward } from './reward.js'
import { asReward } from './rewards/define.js'
import type { NamedOptions } from './rewards/named.js'
import { namedReward, rewardNames } from './rewards/named.js'
import { formularyOf } from './rewards/outcome/formulary.js'
import { tiers } from './tiers.js'

/** Loads a reward by name, or from a module file that exports `reward`. @throws Fault `bad-input` */
export async function resolveReward(name: string, options: NamedOptions): Promise<Reward> {
  if ((rewardNames as readonly string[]).includes(name)) return namedReward(name, options)
  if (!/\.[cm]?js$/.test(name))
    throw new Fault(
      'bad-input',
      `--reward: expected one of ${rewardNames.join(', ')}, or a .js/.mjs module that exports \`reward\`, got \`${name}\``,
    )
  const module: { reward?: unknown } = await import(pathToFileURL(name).href).catch((error) => {
    throw new Fault('bad-input', `--reward ${name}: ${error}`, { cause: error })
  })
  if (typeof module.reward !== 'function')
    throw new Fault(
      'bad-input',
      `--reward ${name}: expected an export \`reward\` that is a function, got ${typeof module.reward}`,
    )
  return asReward(module.reward as Reward, name) // what it returns is checked when it runs
}

/** A consultation with the knowledge base's cases, patient and examinations, and the default reward. */
export function makeConsultation(options: MakeConsultation = {}): Env {
  const { tier = 'easy', clinic, split = 'train', caseSeed = 0, ...given } = options
  const all = loadKnowledge()
  const knowledge = clinic ? clinicOf(all, clinic) : all
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

/** A question env that reads HuatuoGPT-o1's form and pays verified answers, by the rule. */
function makeQuestion(options: QuestionOptions): Env {
  const formulary = formularyOf(loadKnowledge())
  return question({
    grammar: huatuo(),
    reward: namedReward('verified-answer', { formulary }),
    ...options,
  })
}

let registered = false

/**
 * Makes an env by its name; `consultation` and `question` come with the package, `register` adds others.
 * @throws RangeError for a name that nobody registered
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
