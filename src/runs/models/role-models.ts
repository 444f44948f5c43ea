/** Opens the language models of a recipe's roles: client, shared or recorded replies, and the ledger. */
import type { Chat, Complete, ModelCall } from '../../chat.js'
import { openCassette } from '../../chats/cassette.js'
import { type Ledger, openLedger } from '../../chats/ledger.js'
import { openaiChat, openaiCompletion } from '../../chats/openai.js'
import type { ModelSettings } from '../../chats/settings.js'
import {
  type MemoryStore,
  memoryStore,
  type ReplyStore,
  shareReplies,
} from '../../chats/shared-replies.js'
import { diagGym } from '../../envs/exams/diaggym.js'
import { freePatient } from '../../envs/patients/free/free.js'
import { freeStyle } from '../../envs/patients/free/prompts.js'
import { rulePatient } from '../../envs/patients/rule.js'
import { skinPatient } from '../../envs/patients/skin/skin.js'
import { Fault } from '../../error.js'
import type { Knowledge } from '../../knowledge/knowledge.js'
import { loadKnowledge } from '../../knowledge/load.js'
import type { Patient } from '../../patient.js'
import type { Persona } from '../../persona.js'
import { withoutUndefined } from '../../platform/without-undefined.js'
import { chatJudge } from '../../rewards/judges/chat-judge.js'
import type { Judge } from '../../rewards/judges/judge.js'
import { jury } from '../../rewards/judges/jury.js'
import { judgePromptsOf } from '../../rewards/judges/published-prompts.js'
import { logprobVerifier } from '../../rewards/outcome/probability-verifiers.js'
import { chatVerifier, type Verifier } from '../../rewards/outcome/verifier.js'
import type { TaskOptions } from '../../tasks/task.js'
import {
  type DoctorModelSettings,
  type ExaminerModelSettings,
  type JudgeModelSettings,
  type ModelPatient,
  type ModelRole,
  modelRoles,
  type PatientModelSettings,
  type RecipeModels,
  type RoleModelSettings,
} from './recipe-models.js'

/** Chat models by role; a role for which the recipe names none is absent. */
export type RoleChats = Readonly<Partial<Record<ModelRole, Chat>>>

/** Open models of a run's roles. Disposing them closes the cassette. */
export interface RoleModels extends Disposable {
  readonly ledger: Ledger
  /** The metered chat models, by role. */
  readonly chats: RoleChats
  /** The examiner's model as one that goes on with a text. */
  readonly completions: Readonly<{ examiner?: Complete }>
  /** The exam simulators that the examiner's model plays. */
  readonly examiners: NonNullable<TaskOptions['examiners']>
  /** The patient that the recipe's model plays. */
  readonly patient?: Patient
  /** Where the patient is a skin: the rule patient under it. */
  readonly referencePatient?: Patient
  /** The judge of judged rewards, by the recipe's model. */
  readonly judge?: Judge
  /** The verifier of rewards that verify an answer, by the judge's model. */
  readonly verifier?: Verifier
  /** Where siblings may have heard different answers, in sentences. */
  readonly notes: () => readonly string[]
}

/** Options of {@link openRoleModels}. */
export interface OpenModelsOptions {
  /** Requests at once at a server, where the recipe does not say. */
  readonly concurrency?: number | undefined
  /** The recipe's reward, which decides the judge's prompts where the recipe does not. @default 'default' */
  readonly reward?: string
  /** How the patient's model plays. @default 'free' */
  readonly patient?: ModelPatient | undefined
  /** Knowledge base of the patient. @default that of the package */
  readonly knowledge?: Knowledge
  /** Persona of every patient of a skin. @default the case's own */
  readonly persona?: Persona | undefined
}

/** Settings of a role's calls that change what its model draws. */
const samplingOf = ({ temperature, topP, maxTokens, stop, body, json }: RoleModelSettings) =>
  withoutUndefined({ temperature, topP, maxTokens, stop, body, json })

function keyOf(role: string, { apiKeyEnv }: RoleModelSettings): string | undefined {
  const key = process.env[apiKeyEnv ?? 'OPENAI_API_KEY'] || undefined
  if (apiKeyEnv !== undefined && key === undefined)
    throw new Fault(
      'bad-input',
      `models.${role}.apiKeyEnv: expected the environment variable ${apiKeyEnv} to hold the key, but it is not set`,
    )
  return key
}

/** What a recipe may say of the model of one role or another. */
interface AnyModelSettings
  extends Omit<JudgeModelSettings, 'prompts'>,
    DoctorModelSettings,
    ExaminerModelSettings {
  readonly prompts?: unknown
}

interface OpenRoleOptions {
  readonly concurrency: number | undefined
  readonly store: ReplyStore | undefined
  readonly strict: boolean
}

/** The keys of the roles' models. */
const keysOf = (roles: Pick<RecipeModels, ModelRole>): readonly string[] =>
  modelRoles.flatMap((role) => {
    const settings = roles[role]
    const key = settings && keyOf(role, settings)
    return key === undefined ? [] : [key]
  })

/** The model itself, or, where a strict cassette answers everything, none. */
function openRole<Prompt>(
  role: ModelRole,
  given: AnyModelSettings,
  connect: (settings: ModelSettings) => ModelCall<Prompt>,
  { concurrency, store, strict }: OpenRoleOptions,
): ModelCall<Prompt> {
  const {
    baseUrl,
    grammar: _,
    prompts: __,
    votes: ___,
    swap: ____,
    draws: _____,
    verifier: ______,
    ...settings
  } = given
  const offline: ModelCall<Prompt> = async () => {
    throw new TypeError('Expected a strict cassette to answer or to refuse')
  }
  const call = strict
    ? offline
    : connect({ ...withoutUndefined({ baseURL: baseUrl, concurrency, ...settings }) })
  const by = { role, model: settings.model, sampling: samplingOf(settings) }
  return store ? shareReplies(call, by, store) : call
}

/** The simulators of an examiner's model. */
function examinersOf(
  complete: Complete,
  { temperature, maxTokens, draws }: ExaminerModelSettings,
): RoleModels['examiners'] {
  const settings = withoutUndefined({ temperature, maxTokens, draws })
  const options = { complete, knowledge: loadKnowledge(), ...settings }
  return { diaggym: diagGym(options), 'diaggym-parity': diagGym({ ...options, parity: true }) }
}

/** Judge and verifier of a model; with the prompts of the reward's system where it is as released. */
function judgesOf(
  chat: Chat,
  settings: JudgeModelSettings,
  reward: string,
): Pick<RoleModels, 'judge' | 'verifier'> {
  const { model: name, prompts, votes = 1, swap = false, temperature } = settings
  const heat = temperature === undefined ? {} : { temperature }
  const judge = chatJudge({ chat, name, prompts: prompts ?? judgePromptsOf(reward), ...heat })
  const byLogprobs = settings.verifier === 'logprobs'
  return {
    judge: votes > 1 || swap ? jury(judge, { votes, swap }) : judge,
    verifier: byLogprobs ? logprobVerifier({ chat }) : chatVerifier({ chat }),
  }
}

/** The patient of a model, and the rule patient under a skin. */
function patientOf(
  chat: Chat,
  { prompts }: PatientModelSettings,
  { patient = 'free', knowledge = loadKnowledge(), persona }: OpenModelsOptions,
): Pick<RoleModels, 'patient' | 'referencePatient'> {
  if (patient === 'free')
    return { patient: freePatient({ chat, knowledge, ...(prompts ? { prompts } : {}) }) }
  const rule = { knowledge, ...(persona ? { persona } : {}) }
  return { patient: skinPatient({ chat, ...rule }), referencePatient: rulePatient(rule) }
}

/** The patient's settings, with the sampling of its published prompts where they say nothing else. */
const patientSettings = (
  settings: PatientModelSettings,
  kind: ModelPatient | undefined,
): PatientModelSettings =>
  kind === 'skin' ? settings : { ...freeStyle(settings.prompts ?? 'own').sampling, ...settings }
const forgottenNote = (role: ModelRole, forgotten: number): readonly string[] =>
  forgotten === 0
    ? []
    : [
        `${forgotten} replies of the ${role}'s model were forgotten, so that siblings may have heard different answers to one question; a cassette remembers all`,
      ]

/**
 * Opens the models that a recipe names.
 * @throws Fault `bad-input` for a missing key, a wrong base URL, a cassette that cannot be read, and a model without a
 *   price beside a budget of money
 */
// Long because each part of the models is opened from the recipe's settings of its own.
export function openRoleModels(
  { prices, budget, cassette: recorded, ...roles }: RecipeModels = {},
  options: OpenModelsOptions = {},
): RoleModels {
  const { concurrency, reward = 'default' } = options
  const strict = recorded?.mode === 'strict'
  const secrets = strict ? [] : keysOf(roles)
  const cassette = recorded && openCassette({ ...recorded, secrets })
  const ledger = openLedger(withoutUndefined({ prices, budget }))
  const chats: Partial<Record<ModelRole, Chat>> = {}
  let complete: Complete | undefined
  const memories = new Map<ModelRole, MemoryStore>()
  for (const role of modelRoles) {
    const named = roles[role]
    if (!named) continue
    // The patient's settings are those of its role.
    const settings =
      role === 'patient' ? patientSettings(named as PatientModelSettings, options.patient) : named
    // A doctor's draws are its own: each sibling has a seed of its own, and nothing to share.
    if (role !== 'doctor' && !cassette) memories.set(role, memoryStore())
    const store = cassette ?? memories.get(role)
    const how = { concurrency, store, strict }
    const open = <Prompt>(connect: (settings: ModelSettings) => ModelCall<Prompt>) =>
      ledger.meter(role, settings.model, openRole(role, settings, connect, how))
    chats[role] = open(openaiChat)
    if (role === 'examiner') complete = open(openaiCompletion)
  }
  const { patient, judge } = chats
  return {
    ledger,
    chats,
    completions: complete ? { examiner: complete } : {},
    examiners: complete && roles.examiner ? examinersOf(complete, roles.examiner) : {},
    ...(patient && roles.patient ? patientOf(patient, roles.patient, options) : {}),
    ...(judge && roles.judge ? judgesOf(judge, roles.judge, reward) : {}),
    notes: () => [...memories].flatMap(([role, { forgotten }]) => forgottenNote(role, forgotten)),
    [Symbol.dispose]: () => cassette?.close(),
  }
}
