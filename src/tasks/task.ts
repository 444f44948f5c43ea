/**
 * A setting: cases, patient, examinations, reward and reference doctors that belong together.
 *
 * Folders never import each other; here and in `setting-worlds.ts` their pieces are put together for training,
 * evaluation and the command line alike: from the knowledge base, or from a case file.
 */
import type { Agent, AnyAgent } from '../agent.js'
import type { Case } from '../case.js'
import type { Env } from '../env.js'
import { Fault } from '../error.js'
import type { Measures } from '../evaluation/play-cases.js'
import { clinic as clinicOf } from '../knowledge/knowledge.js'
import { loadKnowledge } from '../knowledge/load.js'
import type { TierName } from '../knowledge/tiers.js'
import { tiers } from '../knowledge/tiers.js'
import type { Patient } from '../patient.js'
import type { Reward } from '../reward.js'
import type { RewardFunction } from '../rewards/define.js'
import { asReward } from '../rewards/define.js'
import type { NamedRewardOptions } from '../rewards/named.js'
import { formularyOf } from '../rewards/outcome/formulary.js'
import { partialCredit } from '../rewards/outcome/partial-credit.js'
import { examF1 } from '../rewards/process/exam-f1.js'
import { readCases } from '../storage/case-files.js'
import type { Language } from '../turn.js'
import { partPlaces } from './modules.js'
import type { ExamsOption, NamedRoles, PartInputs, Roles } from './parts.js'
import { ownAgents, registeredAgents, resolveExams, resolvePatient } from './parts.js'
import { resolveReward } from './reward-modules.js'
import type { CaseOptions, TaskInputs, TaskKind } from './worlds.js'
import { fileTask, generatedTask, questionTask, tierOf } from './worlds.js'

/** What a task is made of; every part has a default. */
export interface TaskOptions extends CaseOptions {
  /** What is done with the cases; questions need a `file` of them. @default 'consultation' */
  readonly name?: 'consultation' | 'question'
  readonly language?: Language
  readonly tier?: TierName
  /** Disease groups to keep. @default all */
  readonly clinic?: readonly string[]
  /** The cases of `file`, where they have been read already. */
  readonly cases?: readonly Case[]
  readonly maxTurns?: number
  readonly money?: number
  readonly minutes?: number
  /** A reward or a bare function, its name, or a module that exports `reward`. @default 'default' */
  readonly reward?: string | RewardFunction
  /** A patient, its name, or a module that exports `patient`. @default as the cases need: 'rule' or 'record' */
  readonly patient?: string | Patient
  /** One simulator or several, the first that knows an order carries it out. @default as the cases need: 'record' */
  readonly exams?: ExamsOption
  /** Agents beside those that come with the package, by names that are not theirs. */
  readonly agents?: Readonly<Record<string, AnyAgent | string>>
}

/** Cases, world and measures that belong together: what a run or an evaluation happens in. */
export interface Task extends Omit<TaskKind, 'accuracy' | 'ceiling' | 'envOf' | 'roles'> {
  readonly language: Language
  readonly tier: TierName | 'imported'
  readonly makeEnv: () => Env
  readonly reward: Reward
  readonly measures: Measures
  /** The random doctor. */
  readonly floor: Agent
  /** The strongest doctor known for these cases, with its name. */
  readonly ceiling: { readonly name: string; readonly agent: Agent }
}

/** What a setting's cases and their world are made of. @throws Fault `bad-input` */
function worldOf(cases: readonly Case[], grounds: TaskInputs, options: TaskOptions): TaskKind {
  const { name = 'consultation', file, tier = 'easy' } = options
  if (name === 'question') {
    if (file === undefined)
      throw new Fault(
        'bad-input',
        'cases.file: expected a file of questions (`bedside cases import --format huatuo-rl`), got none',
      )
    return questionTask(cases, grounds, options)
  }
  return file ? fileTask(cases, grounds, options) : generatedTask(grounds, tier, options)
}

/** The roles that the options name. @throws Fault `bad-input` where there are none to take, or none of that name */
async function rolesOf(
  { patient, exams, name }: TaskOptions,
  inputs: PartInputs,
  roles: NamedRoles | undefined,
): Promise<Partial<Roles>> {
  if (patient === undefined && exams === undefined) return {}
  if (!roles)
    throw new Fault(
      'bad-input',
      `${patient === undefined ? partPlaces.exams : partPlaces.patient}: expected none in a task of name \`${name}\`, where the doctor meets nobody`,
    )
  return {
    ...(patient === undefined ? {} : { patient: await resolvePatient(patient, inputs, roles) }),
    ...(exams === undefined ? {} : { exams: await resolveExams(exams, inputs, roles) }),
  }
}

const rewardOf = async (
  reward: TaskOptions['reward'],
  options: NamedRewardOptions,
): Promise<Reward> =>
  typeof reward === 'function' ? asReward(reward) : resolveReward(reward ?? 'default', options)

/** Puts a setting together. @throws Fault `bad-input`; RangeError for a group that does not exist */
export async function task(options: TaskOptions = {}): Promise<Task> {
  const { language = 'en', tier = 'easy', clinic, file } = options
  const all = loadKnowledge()
  const knowledge = clinic ? clinicOf(all, clinic) : all
  const usual = file ? tiers.standard : tiers[tier]
  const { maxTurns: turns = usual.maxTurns, money = usual.money, minutes = usual.minutes } = options
  const grounds = { knowledge, language, budget: { turns, money, minutes } }
  const cases = file ? (options.cases ?? (await readCases(file))) : []
  const { accuracy, ceiling, envOf, roles: named, ...world } = worldOf(cases, grounds, options)
  const roles = await rolesOf(options, grounds, named)
  const formulary = formularyOf(knowledge)
  const knobs = file ? tierOf(cases) : tiers[tier]
  const reward = await rewardOf(options.reward, { formulary, knowledge, tier: knobs })
  const { actionSpace } = world
  const known = { ...world.agents, ...registeredAgents({ knowledge, language, actionSpace }) }
  const agents = { ...known, ...(await ownAgents(options.agents ?? {}, known)) }
  // A name of this world's own, and not of its privileged bound.
  const reference = (name: string): Agent => (world.agents[name] as () => Agent)()
  return {
    ...world,
    language,
    tier: file ? 'imported' : tier,
    agents,
    makeEnv: () => envOf(reward, roles),
    reward,
    measures: { reward, accuracy, partialCredit: partialCredit({ formulary }), examF1: examF1() },
    floor: reference('random'),
    ceiling: { name: ceiling, agent: reference(ceiling) },
  }
}
