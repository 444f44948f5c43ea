/** Reward audits: plays red-team policies over the cases of a tier or a file and scores them under rewards by name. */
import { blindActions } from '../agents/red-team/blind.js'
import { redTeam } from '../agents/red-team/policies.js'
import { scripted } from '../agents/scripted.js'
import { Fault } from '../error.js'
import { type Audit, type AuditPolicy, audit } from '../evaluation/audit/audit.js'
import { blindAdversary } from '../evaluation/audit/blind-adversary.js'
import { tiers } from '../knowledge/tiers.js'
import type { Reward } from '../reward.js'
import { asReward, defineReward, type RewardFunction } from '../rewards/define.js'
import { formularyOf } from '../rewards/outcome/formulary.js'
import { readCases } from '../storage/case-files.js'
import type { Action } from '../turn.js'
import { resolveReward } from './reward-modules.js'
import { type Task, type TaskOptions, task } from './task.js'
import { casesTier, clinicKnowledge } from './task-kinds.js'

/** A reward, a bare function, the name of one, or a .js/.mjs module that exports `reward`. */
export type AuditedReward = string | Reward | RewardFunction

/** Options of `auditRewards`: the task, the rewards under audit, and the effort. */
export interface RewardAuditOptions extends Omit<TaskOptions, 'reward' | 'heldOut' | 'name'> {
  /** Rewards to audit; all score the same episodes. @default ['default'] */
  readonly rewards?: readonly AuditedReward[]
  /** Held-out cases to play. @default 500; for a file, all its held-out cases */
  readonly count?: number
  /** Training episodes per reward for a blind adversary; 0 trains none. @default 0 */
  readonly search?: number
  /** Whether to play the strongest doctor too, as the upper end of the scale. @default true */
  readonly ceiling?: boolean
  /** Episodes played at once. @default 8 */
  readonly concurrency?: number
  readonly signal?: AbortSignal | undefined
  /** Progress callback: episodes done, episodes in all, and the current policy or `search`. */
  readonly onProgress?: (done: number, all: number, what: string) => void
}

/** Audit of one reward, with the action sequence of its trained blind adversary. */
export interface RewardAudit extends Audit {
  /** The adversary's fixed actions, the same for every case; absent where none was trained. */
  readonly sequence?: readonly Action[]
}

const adversaryTolerance = 0.05
const adversaryName = 'blind-adversary'

async function resolveRewards(options: RewardAuditOptions): Promise<readonly Reward[]> {
  const { rewards = ['default'], clinic, tier = 'easy', cases } = options
  const knowledge = clinicKnowledge(clinic)
  const knobs = cases ? casesTier(cases) : tiers[tier]
  const means = { knowledge, formulary: formularyOf(knowledge), tier: knobs }
  const resolved = await Promise.all(
    rewards.map((reward) =>
      typeof reward === 'string' ? resolveReward(reward, means) : asReward(reward),
    ),
  )
  for (const { rewardName, pays } of resolved)
    if (pays)
      throw new Fault(
        'bad-input',
        `Expected rewards of the doctor, got \`${rewardName}\`, which pays the ${pays}: the red team are doctors`,
      )
  return resolved
}

/** The task to play in. Its reward is constant 0, since episodes are scored afterwards. */
const createAuditTask = ({ count, ...options }: RewardAuditOptions): Promise<Task> => {
  const none = defineReward({ name: 'none', bounds: [0, 0] }, () => 0)
  const heldOut = count ?? (options.file === undefined ? 500 : undefined)
  return task({
    ...options,
    ...(heldOut === undefined ? {} : { heldOut }),
    reward: none,
  })
}

async function trainAdversaries(
  auditedTask: Task,
  rewards: readonly Reward[],
  { search = 0, seed = 0, concurrency = 8, signal }: RewardAuditOptions,
  onSpent: (episodes: number) => void,
): Promise<readonly { readonly policy: AuditPolicy; readonly sequence: readonly Action[] }[]> {
  const { actionSpace, maxTurns, caseAt, makeEnv } = auditedTask
  const found = []
  for (const reward of search > 0 ? rewards : []) {
    const sequence = await blindAdversary({
      ...blindActions(actionSpace),
      ...{ maxTurns, caseAt, makeEnv, reward, seed, concurrency, signal, onSpent },
      budget: search,
    })
    const agent = scripted(sequence)
    const policy = { name: adversaryName, agent, tolerance: adversaryTolerance, against: reward }
    found.push({ policy, sequence })
  }
  return found
}

/**
 * Plays the random doctor, the red team and the strongest doctor over the same held-out cases and seeds, and reports
 * each policy's mean gain over random under each reward. With `search`, a blind adversary is first trained per reward
 * on training cases, then measured on the held-out cases with the others.
 * @throws Fault `bad-input` for a reward that does not exist or pays the patient; `component-failed` where a reward throws
 */
export async function auditRewards(
  options: RewardAuditOptions = {},
): Promise<readonly RewardAudit[]> {
  const { file, ceiling = true, search = 0, onProgress = () => {}, ...rest } = options
  const cases = options.cases ?? (file === undefined ? undefined : await readCases(file))
  // A file that holds only held-out cases is played whole.
  const whole = cases?.every(({ provenance }) => provenance.split === 'heldout') ?? false
  if (whole && search > 0)
    throw new Fault(
      'bad-input',
      `${file}: expected training cases to search on, got held-out ones only`,
    )
  const given = { ...options, ...(cases ? { cases } : {}), whole }
  const rewards = await resolveRewards(given)
  const auditedTask = await createAuditTask(given)
  const policies = redTeam.map(({ name, make }) => ({ name, agent: make(auditedTask.actionSpace) }))
  const doctors = policies.length + (ceiling ? 2 : 1) + (search > 0 ? rewards.length : 0)
  const all = doctors * auditedTask.heldOut.length + search * rewards.length
  let done = 0
  const report = (what: string, more: number) => {
    done += more
    onProgress(done, all, what)
  }
  const found = await trainAdversaries(auditedTask, rewards, options, (more) =>
    report('search', more),
  )
  const { seed = 0, concurrency = 8, signal } = rest
  const audits = await audit({
    ...{ rewards, seed, concurrency, signal },
    ...{ cases: auditedTask.heldOut, makeEnv: auditedTask.makeEnv, floor: auditedTask.floor },
    ...(ceiling ? { ceiling: auditedTask.ceiling } : {}),
    policies: [...policies, ...found.map(({ policy }) => policy)],
    onPlayed: (name) => report(name, 1),
  })
  return audits.map((one, i) => {
    const own = found.find(({ policy }) => policy.against === rewards[i])
    return own ? { ...one, sequence: own.sequence } : one
  })
}
