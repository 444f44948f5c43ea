/** Resolves rewards by name or module, for `--reward` and a recipe's `reward`. */
import { basename } from 'node:path'
import { errorMessage, Fault } from '../error.js'
import type { Reward, Score } from '../reward.js'
import { asReward, defineReward, type RewardFunction } from '../rewards/define.js'
import type { NamedRewardOptions } from '../rewards/named.js'
import { isNamedReward, namedReward, rewardNames, suggestRewardNames } from '../rewards/named.js'
import {
  functionProblem,
  isModule,
  loadModule,
  type ModuleExports,
  partPlaces,
  partRegistry,
} from './modules.js'

/** Factory of a registered reward, given the same inputs as the built-in named rewards. */
export type MakeReward = (options: NamedRewardOptions) => Reward | RewardFunction

const makers = partRegistry<MakeReward>('reward', rewardNames)

/** Registers a reward name for recipes, `task` and `auditRewards`. @throws TypeError when the name is taken */
export const registerReward = (name: string, make: MakeReward): void => makers.register(name, make)

/** The names of rewards, built in and registered. */
export const knownRewardNames = (): readonly string[] => [...rewardNames, ...makers.names()]

/** Reads a module's `bounds` export: [low, high] with low ≤ high. @throws Fault `bad-input` */
function readBounds({ bounds }: ModuleExports, place: string): Reward['bounds'] | undefined {
  if (bounds === undefined) return undefined
  const [low, high]: unknown[] = Array.isArray(bounds) ? bounds : []
  if (typeof low === 'number' && typeof high === 'number' && low <= high) return [low, high]
  throw new Fault(
    'bad-input',
    `${place}: expected an export \`bounds\` of [low, high], got ${JSON.stringify(bounds)}`,
  )
}

/** Wraps a reward so that its errors name its module and the episode it failed on. */
function locateErrors(reward: Reward, place: string): Reward {
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

async function loadModuleReward(file: string): Promise<Reward> {
  const place = `${partPlaces.reward} ${file}`
  const module = await loadModule(file, partPlaces.reward)
  if (functionProblem(module.reward) !== undefined)
    throw new Fault(
      'bad-input',
      `${place}: expected an export \`reward\` that is a function, got ${typeof module.reward} among the exports ${Object.keys(module).join(', ') || '(none)'}`,
    )
  const fn = module.reward as Reward // its return value is checked when it runs
  const bounds = readBounds(module, place)
  const title = basename(file).replace(/\.[cm]?[jt]s$/, '')
  const own = bounds && !('rewardName' in fn) ? defineReward({ name: title, bounds }, fn) : fn
  return locateErrors(asReward(own, title), place)
}

/**
 * Resolves a reward by name, or from a module that exports `reward` (and optionally `bounds`, for a bare function).
 * Errors of a module's reward name the episode; its return value is checked when it runs.
 * @throws Fault `bad-input` for an unknown name, with similar names, and for a module without a reward
 */
export async function resolveReward(name: string, options: NamedRewardOptions): Promise<Reward> {
  if (isNamedReward(name)) return namedReward(name, options)
  const make = makers.get(name)
  if (make) return asReward(make(options), name)
  if (isModule(name)) return loadModuleReward(name)
  throw new Fault(
    'bad-input',
    `${partPlaces.reward}: expected the name of a reward, or a module (.mjs) that exports \`reward\`, got \`${name}\`; ${suggestRewardNames(name, makers.names())}`,
  )
}
