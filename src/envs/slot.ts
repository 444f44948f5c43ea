/** Slot of a vector env: one env, the seeds it plays, and whether it may be stepped. */
import { type Env, ended, type Reset, type ResetOptions, type Step, transition } from '../env.js'
import { autoresetSeed } from '../seed.js'
import type { Autoreset, StepOptions, VectorInfo } from './vector-types.js'

/** Makes the slot of one env. */
// Long because its methods share the state of the slot.
export function slot<O, A, I extends object>(
  env: Env<O, A, I>,
  index: number,
  autoreset: Autoreset,
) {
  let base = 0
  let episodes = 0
  let place: 'new' | 'running' | 'over' = 'new'
  let last: Reset<O, VectorInfo<O, I>> | undefined

  const begin = async (start: ResetOptions): Promise<Reset<O, I>> => {
    place = 'new'
    const begun = await env.reset(start)
    place = 'running'
    return begun
  }
  /** The n-th episode of an env has a seed of its own, whatever the other envs do. */
  const again = (options?: object): Promise<Reset<O, I>> => {
    const seed = autoresetSeed(base, ++episodes)
    return begin(options ? { seed, options } : { seed })
  }
  const take = async (action: A, options: StepOptions): Promise<Step<O, VectorInfo<O, I>>> => {
    if (place === 'over') {
      const { observation, info } = await again()
      return transition(observation, info)
    }
    const step = await env.step(action, options)
    if (!ended(step)) return step
    place = 'over'
    if (autoreset !== 'same-step') return step
    const { observation, info } = await again()
    const final = { observation: step.observation, info: step.info }
    return { ...step, observation, info: { ...info, final } }
  }
  return {
    /** Throws a TypeError where a step would be refused. */
    assertSteps() {
      if (place === 'new') throw new TypeError(`Expected reset() of env ${index} before its step`)
      if (place === 'over' && autoreset === 'disabled')
        throw new TypeError(
          `Expected reset({ mask }) of env ${index}, whose episode is over, got a step`,
        )
    },
    /** The latest observation and info; throws a TypeError before the first reset. */
    assertBegun(): Reset<O, VectorInfo<O, I>> {
      if (!last) throw new TypeError(`Expected the first reset() to reset env ${index} too`)
      return last
    },
    /** Starts an episode with `seed`; without one, with the env's next seed. */
    async reset(seed: number | undefined, options: object | undefined) {
      if (seed === undefined && last) last = await again(options)
      else {
        base = seed ?? index
        episodes = 0
        last = await begin(options ? { seed: base, options } : { seed: base })
      }
    },
    /** Takes one step, or resets the env where the autoreset mode says so. */
    async step(action: A, options: StepOptions) {
      const step = await take(action, options)
      last = { observation: step.observation, info: step.info }
      return step
    },
  }
}
