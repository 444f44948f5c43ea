/** Rewards by name or module: what `--reward` and a recipe's `reward` stand for. */
import { basename } from 'node:path'
import { errorMessage, Fault } from '../error.js'
import type { Reward, Score } from '../reward.js'
import type { RewardFunction } from '../rewards/define.js'
import { asReward, defineReward } from '../rewards/define.js'
import type { NamedRewardOptions } from '../rewards/named.js'
import { namedReward, rewardNames, suggestRewardNames } from '../rewards/named.js'
import type { ModuleExports } from './modules.js'
import { isModule, loadModule, partPlaces, partRegistry } from './modules.js'
import { functionProblem } from './shapes.js'

/** Makes a reward from what named rewards are made from. */
export type MakeReward = (options: NamedRewardOptions) => Reward | RewardFunction

const makers = partRegistry<MakeReward>('reward', rewardNames)

/**
 * Makes a name known to recipes, `task` and `auditRewards`.
 * @throws TypeError when it is taken
 */
export const registerReward = (name: string, make: MakeReward): void => makers.register(name, make)

/** `bounds` of a module: two numbers, low ≤ high. */
function boundsOf({ bounds }: ModuleExports, place: string): Reward['bounds'] | undefined {
  if (bounds === undefined) return undefined
  const [low, high]: unknown[] = Array.isArray(bounds) ? bounds : []
  if (typeof low === 'number' && typeof high === 'number' && low <= high) return [low, high]
  throw new Fault(
    'bad-input',
    `${place}: expected an export \`bounds\` of [low, high], got ${JSON.stringify(bounds)}`,
  )
}

/** The reward, whose errors say which module it is from and on which episode it failed. */
function placed(reward: Reward, place: string): Reward {
  const run = async (...given: Parameters<Reward>): Promise<Score> => {
    try {
      return await reward(...given)
    } catch (error) {
      const message = `${place}: episode ${given[0].id}: ${errorMessage(error)}`
      if (given[2]?.signal?.aborted) throw error
      if (Fault.is(error)) throw new Fault(error.code, message, { cause: error })
      throw error instanceof TypeError
        ? new TypeError(message, { cause: error })
        : new RangeError(message, { cause: error })
    }
  }
  return Object.assign(run, reward)
}

async function moduleReward(file: string): Promise<Reward> {
  const place = `${partPlaces.reward} ${file}`
  const module = await loadModule(file, partPlaces.reward)
  if (functionProblem(module.reward) !== undefined)
    throw new Fault(
      'bad-input',
      `${place}: expected an export \`reward\` that is a function, got ${typeof module.reward} among the exports ${Object.keys(module).join(', ') || '(none)'}`,
    )
  const fn = module.reward as Reward // what it returns is checked when it runs
  const bounds = boundsOf(module, place)
  const title = basename(file).replace(/\.[cm]?[jt]s$/, '')
  const own = bounds && !('rewardName' in fn) ? defineReward({ name: title, bounds }, fn) : fn
  return placed(asReward(own, title), place)
}

/**
 * Loads a reward by name, or from a module that exports `reward`, and `bounds` where it is a bare function that has
 * some. A module's reward says on which episode it failed; what it returns is checked when it runs.
 * @throws Fault `bad-input` for a name that does not exist, with those near it, and for a module that has no reward
 */
export async function resolveReward(name: string, options: NamedRewardOptions): Promise<Reward> {
  if ((rewardNames as readonly string[]).includes(name)) return namedReward(name, options)
  const make = makers.get(name)
  if (make) return asReward(make(options), name)
  if (isModule(name)) return moduleReward(name)
  throw new Fault(
    'bad-input',
    `${partPlaces.reward}: expected the name of a reward, or a module (.mjs) that exports \`reward\`, got \`${name}\`; ${suggestRewardNames(name, makers.names())}`,
  )
}
