/** Slot of a vector env: one env, the seeds it plays, whether it may be stepped, and a result not yet given out. */
import type { Env, Reset, ResetOptions, Step, StepOptions } from '../env.js'
import { ended, transition } from '../env.js'
import { autoresetSeed } from '../seed.js'
import type { Autoreset, VectorInfo } from './vector-types.js'

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
  /** The end of an episode whose automatic reset failed: the next step goes on from there. */
  let end: Step<O, I> | undefined
  /** A step whose result the caller has not got, because another env of the same vector step failed. */
  let kept: { readonly action: A; readonly step: Step<O, VectorInfo<O, I>> } | undefined

  const begin = async (start: ResetOptions): Promise<Reset<O, I>> => {
    const begun = await env.reset(start)
    place = 'running'
    kept = undefined
    return begun
  }
  /** The n-th episode of an env has a seed of its own, whatever the other envs do. */
  const again = async (options?: object, signal?: AbortSignal): Promise<Reset<O, I>> => {
    const seed = autoresetSeed(base, episodes + 1)
    const begun = await begin({ seed, ...(options && { options }), ...(signal && { signal }) })
    episodes++
    return begun
  }
  const take = async (action: A, options: StepOptions): Promise<Step<O, VectorInfo<O, I>>> => {
    if (place === 'over' && !end) {
      const { observation, info } = await again(undefined, options.signal)
      return transition(observation, info)
    }
    const step = end ?? (await env.step(action, options))
    if (!ended(step)) return step
    place = 'over'
    if (autoreset !== 'same-step') return step
    end = step
    const { observation, info } = await again(undefined, options.signal)
    end = undefined
    const final = { observation: step.observation, info: step.info }
    return { ...step, observation, info: { ...info, final } }
  }
  return {
    /** Throws a TypeError where a step would be refused. */
    assertSteps(action: A) {
      if (kept) {
        if (JSON.stringify(kept.action) !== JSON.stringify(action))
          throw new TypeError(
            `Expected for env ${index} the action of the step that was not delivered, got another`,
          )
        return
      }
      if (end) return
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
    async reset(
      seed: number | undefined,
      options: object | undefined,
      signal: AbortSignal | undefined,
    ) {
      if (seed === undefined && last) last = await again(options, signal)
      else {
        const first = seed ?? index
        last = await begin({
          seed: first,
          ...(options && { options }),
          ...(signal && { signal }),
        })
        base = first
        episodes = 0
      }
      end = undefined
    },
    /**
     * Takes one step, or resets the env where the autoreset mode says so. Until the result is delivered, the same
     * call gives it again.
     */
    async stepOnce(action: A, options: StepOptions) {
      if (kept) return kept.step
      const step = await take(action, options)
      last = { observation: step.observation, info: step.info }
      kept = { action, step }
      return step
    },
    /** The caller has the result. */
    deliver() {
      kept = undefined
    },
  }
}
