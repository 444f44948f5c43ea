/**
 * Names: what `make('consultation')` and `--reward default` stand for.
 *
 * With `setting.ts` and `training-run.ts` one of the composition roots, the only files that name folders.
 */
import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { pathToFileURL } from 'node:url'
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
  whole,
} from '../envs/options.js'
import { rulePatient } from '../envs/patients/rule.js'
import type { QuestionOptions } from '../envs/question.js'
import { question, questionRules } from '../envs/question.js'
import { make as makeRegistered, register } from '../envs/register.js'
import { errorMessage, Fault, rethrowAsFault } from '../error.js'
import { clinic as clinicOf } from '../knowledge/knowledge.js'
import { loadKnowledge } from '../knowledge/load.js'
import { tierNames, tiers } from '../knowledge/tiers.js'
import type { Reward, Score } from '../reward.js'
import { asReward, defineReward } from '../rewards/define.js'
import type { NamedRewardOptions } from '../rewards/named.js'
import { namedReward, rewardNames, suggestRewardNames } from '../rewards/named.js'
import { formularyOf } from '../rewards/outcome/formulary.js'

type ModuleBounds = Reward['bounds']

/** What a module of the user's may export. */
interface RewardModule {
  readonly reward?: unknown
  readonly bounds?: unknown
}

async function importReward(file: string): Promise<RewardModule> {
  if (!existsSync(file))
    throw new Fault('bad-input', `--reward ${file}: expected a module, there is no such file`)
  return rethrowAsFault('bad-input', `--reward ${file}`, () => import(pathToFileURL(file).href))
}

/** `bounds` of a module: two numbers, low ≤ high. */
function boundsOf({ bounds }: RewardModule, file: string): ModuleBounds | undefined {
  if (bounds === undefined) return undefined
  const [low, high]: unknown[] = Array.isArray(bounds) ? bounds : []
  if (typeof low === 'number' && typeof high === 'number' && low <= high) return [low, high]
  throw new Fault(
    'bad-input',
    `--reward ${file}: expected an export \`bounds\` of [low, high], got ${JSON.stringify(bounds)}`,
  )
}

/** Tells of whatever goes wrong in a user's reward which reward it was, and on which episode. */
function told(reward: Reward, file: string): Reward {
  const run = async (...given: Parameters<Reward>): Promise<Score> => {
    try {
      return await reward(...given)
    } catch (error) {
      const message = `--reward ${file}: episode ${given[0].id}: ${errorMessage(error)}`
      if (given[2]?.signal?.aborted) throw error
      if (Fault.is(error)) throw new Fault(error.code, message, { cause: error })
      throw error instanceof TypeError
        ? new TypeError(message, { cause: error })
        : new RangeError(message, { cause: error })
    }
  }
  return Object.assign(run, reward)
}

/**
 * Loads a reward by name, or from a module file that exports `reward`, and `bounds` where it is a bare function that
 * has some. A module's reward says on which episode it failed; what it returns is checked when it runs.
 * @throws Fault `bad-input` for a name that does not exist, with those near it, and for a module that has no reward
 */
export async function resolveReward(name: string, options: NamedRewardOptions): Promise<Reward> {
  if ((rewardNames as readonly string[]).includes(name)) return namedReward(name, options)
  if (!/\.[cm]?js$/.test(name))
    throw new Fault(
      'bad-input',
      `--reward: expected the name of a reward, or a .js/.mjs module that exports \`reward\`, got \`${name}\`; ${suggestRewardNames(name)}`,
    )
  const module = await importReward(name)
  if (typeof module.reward !== 'function')
    throw new Fault(
      'bad-input',
      `--reward ${name}: expected an export \`reward\` that is a function, got ${typeof module.reward} among the exports ${Object.keys(module).join(', ') || '(none)'}`,
    )
  const fn = module.reward as Reward // what it returns is checked when it runs
  const bounds = boundsOf(module, name)
  const title = basename(name).replace(/\.[cm]?js$/, '')
  const own = bounds && !('rewardName' in fn) ? defineReward({ name: title, bounds }, fn) : fn
  return told(asReward(own, title), name)
}

/** Checks of the options of `make('consultation')`; every part has a default. */
const makeRules: OptionRules<MakeConsultationOptions> = {
  ...consultationRules,
  cases: { ...casesRule, required: false },
  patient: callable,
  tier: oneOf(...tierNames),
  clinic: names,
  split: oneOf('train', 'heldout'),
  caseSeed: whole(0),
}

/**
 * A consultation with the knowledge base's cases, patient and examinations, and the default reward.
 * @throws TypeError or RangeError, with the value, for an option that does not exist or cannot be
 */
export function makeConsultation(options: MakeConsultationOptions = {}): Env {
  checkOptions("make('consultation')", options, makeRules)
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
