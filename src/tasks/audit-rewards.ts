/**
 * Audits put together: the red team, the cases of a tier or a file, and rewards by name. With `setting.ts` one of the
 * composition roots.
 */

import { blindActions } from '../agents/red-team/blind.js'
import { redTeam } from '../agents/red-team/policies.js'
import { scripted } from '../agents/scripted.js'
import { Fault } from '../error.js'
import type { Audit, AuditPolicy } from '../evaluation/audit/audit.js'
import { audit } from '../evaluation/audit/audit.js'
import { blindAdversary } from '../evaluation/audit/blind-adversary.js'
import { clinic as clinicOf } from '../knowledge/knowledge.js'
import { loadKnowledge } from '../knowledge/load.js'
import { tiers } from '../knowledge/tiers.js'
import type { Reward } from '../reward.js'
import type { RewardFunction } from '../rewards/define.js'
import { asReward, defineReward } from '../rewards/define.js'
import { formularyOf } from '../rewards/outcome/formulary.js'
import { readCases } from '../storage/case-files.js'
import type { Action } from '../turn.js'
import { resolveReward } from './reward-modules.js'
import type { Task, TaskOptions } from './task.js'
import { task } from './task.js'
import { tierOf } from './worlds.js'

/** A reward, a bare function, the name of one, or a .js/.mjs module that exports `reward`. */
export type Audited = string | Reward | RewardFunction

export interface RewardAuditOptions extends Omit<TaskOptions, 'reward' | 'heldOut' | 'name'> {
  /** What is audited, over one and the same play. @default ['default'] */
  readonly rewards?: readonly Audited[]
  /** Held-out cases to play. @default 500, of a file all that are held out */
  readonly count?: number
  /** Consultations in which a blind adversary may learn what each reward pays; 0 for none. @default 0 */
  readonly search?: number
  /** Plays the strongest doctor too, for scale. @default true */
  readonly ceiling?: boolean
  /** @default 8 */
  readonly concurrency?: number
  readonly signal?: AbortSignal | undefined
  /** Is told what is going on and how much of it is done, in consultations. */
  readonly onProgress?: (done: number, all: number, what: string) => void
}

/** An audit, and what a blind adversary settled on. */
export interface RewardAudit extends Audit {
  /** The actions it takes whoever comes; absent where none was trained. */
  readonly sequence?: readonly Action[]
}

/** What a policy that was trained on the reward may gain, as a share of its range. */
const trainedTolerance = 0.05
const trained = 'blind-adversary'

async function rewardsOf(options: RewardAuditOptions): Promise<readonly Reward[]> {
  const { rewards = ['default'], clinic, tier = 'easy', cases } = options
  const all = loadKnowledge()
  const knowledge = clinic ? clinicOf(all, clinic) : all
  const knobs = cases ? tierOf(cases) : tiers[tier]
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

/** The world without a reward: episodes are scored apart. */
const worldOf = ({ count, file, ...options }: RewardAuditOptions): Promise<Task> => {
  const none = defineReward({ name: 'none', bounds: [0, 0] }, () => 0)
  const heldOut = count ?? (file === undefined ? 500 : undefined)
  return task({
    ...options,
    ...(file === undefined ? {} : { file }),
    ...(heldOut === undefined ? {} : { heldOut }),
    reward: none,
  })
}

/** Trains a blind adversary on each reward. */
async function adversaries(
  world: Task,
  rewards: readonly Reward[],
  { search = 0, seed = 0, concurrency = 8, signal }: RewardAuditOptions,
  onSpent: (episodes: number) => void,
): Promise<readonly { readonly policy: AuditPolicy; readonly sequence: readonly Action[] }[]> {
  const { actionSpace, maxTurns, caseAt, makeEnv } = world
  const found = []
  for (const reward of search > 0 ? rewards : []) {
    const sequence = await blindAdversary({
      ...blindActions(actionSpace),
      ...{ maxTurns, caseAt, makeEnv, reward, seed, concurrency, signal, onSpent },
      budget: search,
    })
    const agent = scripted(sequence)
    const policy = { name: trained, agent, tolerance: trainedTolerance, against: reward }
    found.push({ policy, sequence })
  }
  return found
}

/**
 * Plays the random doctor, the red team and the strongest doctor over the same held-out cases and seeds, and says under
 * each reward what each of them is paid above random. With `search`, a blind adversary is trained on each reward first,
 * on training cases, and measured on the held-out ones with the others.
 * @throws Fault `bad-input` for a reward that does not exist or pays the patient; `component-failed` where a reward throws
 */
export async function auditRewards(
  options: RewardAuditOptions = {},
): Promise<readonly RewardAudit[]> {
  const { file, ceiling = true, search = 0, onProgress = () => {}, ...rest } = options
  const cases = options.cases ?? (file === undefined ? undefined : await readCases(file))
  // A file of nothing but held-out cases is all there is to play.
  const whole = cases?.every(({ provenance }) => provenance.split === 'heldout') ?? false
  if (whole && search > 0)
    throw new Fault(
      'bad-input',
      `${file}: expected training cases to search on, got held-out ones only`,
    )
  const given = { ...options, ...(cases ? { cases } : {}), whole }
  const rewards = await rewardsOf(given)
  const world = await worldOf(given)
  const policies = redTeam.map(({ name, make }) => ({ name, agent: make(world.actionSpace) }))
  const doctors = policies.length + (ceiling ? 2 : 1) + (search > 0 ? rewards.length : 0)
  const all = doctors * world.heldOut.length + search * rewards.length
  let done = 0
  const tell = (what: string, more: number) => {
    done += more
    onProgress(done, all, what)
  }
  const found = await adversaries(world, rewards, options, (more) => tell('search', more))
  const { seed = 0, concurrency = 8, signal } = rest
  const audits = await audit({
    ...{ rewards, seed, concurrency, signal },
    ...{ cases: world.heldOut, makeEnv: world.makeEnv, floor: world.floor },
    ...(ceiling ? { ceiling: world.ceiling } : {}),
    policies: [...policies, ...found.map(({ policy }) => policy)],
    onPlayed: (name) => tell(name, 1),
  })
  return audits.map((one, i) => {
    const own = found.find(({ policy }) => policy.against === rewards[i])
    return own ? { ...one, sequence: own.sequence } : one
  })
}
