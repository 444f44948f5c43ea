/** Opens the language models of a recipe's roles: client, shared or recorded replies, and the ledger. */
import type { Chat } from '../../chat.js'
import { openCassette } from '../../chats/cassette.js'
import { type Ledger, openLedger } from '../../chats/ledger.js'
import { openaiChat } from '../../chats/openai.js'
import {
  type MemoryStore,
  memoryStore,
  type ReplyStore,
  shareReplies,
} from '../../chats/shared-replies.js'
import { chatPatient } from '../../envs/patients/chat.js'
import { Fault } from '../../error.js'
import { loadKnowledge } from '../../knowledge/load.js'
import type { Patient } from '../../patient.js'
import { withoutUndefined } from '../../platform/without-undefined.js'
import { chatJudge } from '../../rewards/judges/chat-judge.js'
import type { Judge } from '../../rewards/judges/judge.js'
import { jury } from '../../rewards/judges/jury.js'
import { judgePromptsOf } from '../../rewards/judges/published-prompts.js'
import {
  type DoctorModelSettings,
  type JudgeModelSettings,
  type ModelRole,
  modelRoles,
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
  /** The patient that the recipe's model plays. */
  readonly patient?: Patient
  /** The judge of judged rewards, by the recipe's model. */
  readonly judge?: Judge
  /** Where siblings may have heard different answers, in sentences. */
  readonly notes: () => readonly string[]
}

/** Options of {@link openRoleModels}. */
export interface OpenModelsOptions {
  /** Requests at once at a server, where the recipe does not say. */
  readonly concurrency?: number | undefined
  /** The recipe's reward, which decides the judge's prompts where the recipe does not. @default 'default' */
  readonly reward?: string
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
type AnyModelSettings = JudgeModelSettings & DoctorModelSettings

/** The model itself, or, where a strict cassette answers everything, none. */
function openRole(
  role: ModelRole,
  { baseUrl, grammar: _, prompts: __, votes: ___, swap: ____, ...settings }: AnyModelSettings,
  concurrency: number | undefined,
  store: ReplyStore | undefined,
  strict: boolean,
): Chat {
  const offline: Chat = async () => {
    throw new TypeError('Expected a strict cassette to answer or to refuse')
  }
  const connect = () =>
    openaiChat({ ...withoutUndefined({ baseURL: baseUrl, concurrency, ...settings }) })
  const chat = strict ? offline : connect()
  const by = { role, model: settings.model, sampling: samplingOf(settings) }
  return store ? shareReplies(chat, by, store) : chat
}

/** The judge of a model; with the prompts of the reward's system where it is as released. */
function judgeOf(
  chat: Chat,
  { model: name, prompts, votes = 1, swap = false, temperature }: JudgeModelSettings,
  reward: string,
): Judge {
  const heat = temperature === undefined ? {} : { temperature }
  const judge = chatJudge({ chat, name, prompts: prompts ?? judgePromptsOf(reward), ...heat })
  return votes > 1 || swap ? jury(judge, { votes, swap }) : judge
}

/**
 * Opens the models that a recipe names.
 * @throws Fault `bad-input` for a missing key, a wrong base URL, a cassette that cannot be read, and a model without a
 *   price beside a budget of money
 */
export function openRoleModels(
  { prices, budget, cassette: recorded, ...roles }: RecipeModels = {},
  { concurrency, reward = 'default' }: OpenModelsOptions = {},
): RoleModels {
  const strict = recorded?.mode === 'strict'
  const secrets = modelRoles.flatMap((role) => {
    const settings = roles[role]
    const key = settings && !strict ? keyOf(role, settings) : undefined
    return key === undefined ? [] : [key]
  })
  const cassette = recorded && openCassette({ ...recorded, secrets })
  const ledger = openLedger(withoutUndefined({ prices, budget }))
  const chats: Partial<Record<ModelRole, Chat>> = {}
  const memories = new Map<ModelRole, MemoryStore>()
  for (const role of modelRoles) {
    const settings = roles[role]
    if (!settings) continue
    // A doctor's draws are its own: each sibling has a seed of its own, and nothing to share.
    if (role !== 'doctor' && !cassette) memories.set(role, memoryStore())
    const store = cassette ?? memories.get(role)
    const chat = openRole(role, settings, concurrency, store, strict)
    chats[role] = ledger.meter(role, settings.model, chat)
  }
  const { patient, judge } = chats
  return {
    ledger,
    chats,
    ...(patient ? { patient: chatPatient({ chat: patient, knowledge: loadKnowledge() }) } : {}),
    ...(judge && roles.judge ? { judge: judgeOf(judge, roles.judge, reward) } : {}),
    notes: () =>
      [...memories].flatMap(([role, { forgotten }]) =>
        forgotten === 0
          ? []
          : `${forgotten} replies of the ${role}'s model were forgotten, so that siblings may have heard different answers to one question; a cassette remembers all`,
      ),
    [Symbol.dispose]: () => cassette?.close(),
  }
}
