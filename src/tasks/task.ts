/** A task: cases, env, reward, measures and reference doctors, from the knowledge base or from a case file. */
import type { Agent, AnyAgent } from '../agent.js'
import type { Case } from '../case.js'
import type { Env } from '../env.js'
import type { TurnLimit } from '../envs/visit.js'
import { Fault } from '../error.js'
import type { Measures } from '../evaluation/play-cases.js'
import type { AnyExamSimulator } from '../exam.js'
import { type TierName, tiers } from '../knowledge/tiers.js'
import type { Patient } from '../patient.js'
import { withoutUndefined } from '../platform/without-undefined.js'
import type { Reward } from '../reward.js'
import { asReward, type RewardFunction } from '../rewards/define.js'
import type { Judge } from '../rewards/judges/judge.js'
import type { NamedRewardOptions } from '../rewards/named.js'
import { formularyOf } from '../rewards/outcome/formulary.js'
import { partialCredit } from '../rewards/outcome/partial-credit.js'
import type { Verifier } from '../rewards/outcome/verifier.js'
import { examF1 } from '../rewards/process/exam-f1.js'
import { assertSeed } from '../seed.js'
import { readCases } from '../storage/case-files.js'
import type { Language } from '../turn.js'
import type { CaseOptions } from './case-splits.js'
import { partPlaces } from './modules.js'
import type { ExamsOption, ModelSimulatorName, NamedRoles, PartInputs, Roles } from './parts.js'
import { registeredAgents, resolveExams, resolveOwnAgents, resolvePatient } from './parts.js'
import { ampleBudget, type PublishedEnv, type PublishedEnvName, publishedEnv } from './published.js'
import { resolveReward } from './reward-modules.js'
import type { TaskInputs, TaskKind } from './task-kinds.js'
import { casesTier, clinicKnowledge, fileTask, generatedTask, questionTask } from './task-kinds.js'

/** Options of `task`: cases, env, budgets, reward and parts of a user's own. */
export interface TaskOptions extends CaseOptions {
  /**
   * A published environment, which sets everything below that is not given: name, turns, budgets, exams and reward, and
   * beside them the grammar of text actions, the stop rule and the intake.
   */
  readonly preset?: PublishedEnvName
  /** Env of the task; `question` needs a `file` of question cases. @default 'consultation' */
  readonly name?: 'consultation' | 'question'
  /** Language of doctor and patient. @default 'en' */
  readonly language?: Language
  /** Difficulty of generated cases. @default 'easy' */
  readonly tier?: TierName
  /** Disease groups of the knowledge base to keep. @default all */
  readonly clinic?: readonly string[]
  /** Cases to use in place of generated ones: your own, or those of `file` if already read. */
  readonly cases?: readonly Case[]
  /** Most actions of a consultation, or the range that each draws its own from. @default the tier's; `standard` for a file */
  readonly maxTurns?: TurnLimit
  /** Money budget. @default the tier's; `standard` for a file */
  readonly money?: number
  /** Time budget in minutes. @default the tier's; `standard` for a file */
  readonly minutes?: number
  /** A reward or a bare function, its name, or a module that exports `reward`. @default 'default' */
  readonly reward?: string | RewardFunction
  /** The judge of judged rewards. @default the rule judge, except where a release has a rule of its own */
  readonly judge?: Judge
  /** The verifier of rewards that verify an answer. @default by rule */
  readonly verifier?: Verifier
  /** Chat models by role, for registered patients and exam simulators that need one. */
  readonly chats?: PartInputs['chats']
  /** The completion models beside them. */
  readonly completions?: PartInputs['completions']
  /** A patient, its name, or a module that exports `patient`. @default 'rule', or 'record' for recorded dialogues */
  readonly patient?: string | Patient
  /** The patient of floor, ceiling and bound, with the same facts at less cost. @default `patient` */
  readonly referencePatient?: Patient
  /** One exam simulator or several, asked until one has a result. @default 'record'; none for recorded dialogues */
  readonly exams?: ExamsOption
  /** What `diaggym` and `diaggym-parity` are among `exams`: those of a recipe's `models.examiner`. */
  readonly examiners?: Readonly<Partial<Record<ModelSimulatorName, AnyExamSimulator>>>
  /** Additional agents by name; a name that the task already has is refused. */
  readonly agents?: Readonly<Record<string, AnyAgent | string>>
}

/** Everything a training run or an evaluation plays in: cases, envs, reward, measures, reference doctors. */
export interface Task extends Omit<TaskKind, 'accuracy' | 'ceiling' | 'createEnv' | 'roles'> {
  readonly language: Language
  readonly tier: TierName | 'imported'
  /** Opens an env with the task's patient, exams and budgets. It pays nothing: whoever plays it scores the episode. */
  readonly makeEnv: () => Env
  /** Opens an env for floor, ceiling and bound; absent where that is `makeEnv`. */
  readonly makeReferenceEnv?: () => Env
  readonly reward: Reward
  /** Scores of every evaluated episode. */
  readonly measures: Measures
  /** The random doctor: lower reference. */
  readonly floor: Agent
  /** The strongest doctor for these cases, with its name: upper reference. */
  readonly ceiling: { readonly name: string; readonly agent: Agent }
}

function createTaskKind(
  cases: readonly Case[] | undefined,
  inputs: TaskInputs,
  options: TaskOptions,
): TaskKind {
  const { name = 'consultation', tier = 'easy' } = options
  if (name === 'question') {
    if (cases === undefined)
      throw new Fault(
        'bad-input',
        'cases.file: expected a file of questions (`bedside cases import --format huatuo-rl`), got none',
      )
    return questionTask(cases, inputs, options)
  }
  return cases ? fileTask(cases, inputs, options) : generatedTask(inputs, tier, options)
}

async function resolveRoles(
  { patient, exams, examiners = {}, name }: TaskOptions,
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
    ...(exams === undefined
      ? {}
      : {
          exams: await resolveExams(exams, inputs, {
            ...roles,
            exams: { ...roles.exams, ...examiners },
          }),
        }),
  }
}

const resolveTaskReward = async (
  reward: TaskOptions['reward'],
  options: NamedRewardOptions,
): Promise<Reward> =>
  typeof reward === 'function' ? asReward(reward) : resolveReward(reward ?? 'default', options)

/** What every kind of task needs of the options: knowledge, language, budgets. */
function taskInputs(
  { language = 'en', tier = 'easy', clinic, ...options }: TaskOptions,
  cases: readonly Case[] | undefined,
  published: PublishedEnv | undefined,
): TaskInputs {
  const knowledge = clinicKnowledge(clinic)
  const tiered = cases ? tiers.standard : tiers[tier]
  const { maxTurns = tiered.maxTurns } = options
  const usual = published ? ampleBudget(knowledge, maxTurns) : tiered
  const { money = usual.money, minutes = usual.minutes } = options
  const turns = typeof maxTurns === 'number' ? maxTurns : maxTurns[1]
  const budget = { turns, money, minutes }
  return { knowledge, language, budget, maxTurns, ...withoutUndefined({ published }) }
}

/** What a published environment gives to the options of a task. */
const presetOptions = ({ name, maxTurns, exams, reward }: PublishedEnv): TaskOptions => ({
  ...{ name, maxTurns, reward },
  ...(exams.length > 0 ? { exams } : {}),
})

/**
 * Builds a task.
 * @throws Fault `bad-input` for options that cannot be met; RangeError for a disease group that does not exist, or
 *   a seed that is not an unsigned 32-bit integer
 */
// Long because each part of a task is made of the parts before it.
export async function task(given: TaskOptions = {}): Promise<Task> {
  const published = given.preset && publishedEnv(given.preset)
  const options = published ? { ...presetOptions(published), ...withoutUndefined(given) } : given
  const { language = 'en', tier = 'easy', file, seed = 0, splitSeed = 0 } = options
  assertSeed('seed', seed)
  assertSeed('splitSeed', splitSeed)
  const cases = options.cases ?? (file === undefined ? undefined : await readCases(file))
  const inputs = taskInputs(options, cases, published)
  const { knowledge } = inputs
  const {
    accuracy,
    ceiling,
    createEnv,
    roles: named,
    ...kind
  } = createTaskKind(cases, inputs, options)
  const { chats, completions, judge, verifier, referencePatient } = options
  const playing = { ...inputs, ...withoutUndefined({ chats, completions }) }
  const roles = await resolveRoles(options, playing, named)
  const formulary = formularyOf(knowledge)
  const knobs = cases ? casesTier(cases) : tiers[tier]
  const grading = { formulary, knowledge, tier: knobs, ...withoutUndefined({ judge, verifier }) }
  const reward = await resolveTaskReward(options.reward, grading)
  const { actionSpace } = kind
  const known = { ...kind.agents, ...registeredAgents({ knowledge, language, actionSpace }) }
  const agents = { ...known, ...(await resolveOwnAgents(options.agents ?? {}, known)) }
  // The task kind's own agents, never the privileged full-information doctor.
  const reference = (name: string): Agent => (kind.agents[name] as () => Agent)()
  return {
    ...kind,
    language,
    tier: cases ? 'imported' : tier,
    agents,
    makeEnv: () => createEnv(roles),
    ...(referencePatient
      ? { makeReferenceEnv: () => createEnv({ ...roles, patient: referencePatient }) }
      : {}),
    reward,
    measures: { reward, accuracy, partialCredit: partialCredit({ formulary }), examF1: examF1() },
    floor: reference('random'),
    ceiling: { name: ceiling, agent: reference(ceiling) },
  }
}
