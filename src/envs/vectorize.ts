/**
 * Several envs as one: all steps at once, as Gymnasium's vector env does, or each as soon as it is done.
 *
 *     for (let i = 0; i < envs.size; i++) envs.send(i, act(i))
 *     for await (const done of envs.ready()) if ('step' in done) envs.send(done.index, act(done.index))
 */
import type { Env, Info, Observation, Step, StepOptions } from '../env.js'
import type { Action } from '../turn.js'
import { checkOptions, type OptionRules, oneOf } from './options.js'
import { slot } from './slot.js'
import type { Autoreset, VectorInfo } from './vector-types.js'

/** Options of `VectorEnv.reset`. */
export interface VectorResetOptions {
  /**
   * Env i gets `seed + i`, or the i-th of a list. Without it an env goes on to the next seed of its own.
   * @default 0 on an env's first reset
   */
  readonly seed?: number | readonly number[]
  /** Passed to the envs that are reset now; automatic resets have none. */
  readonly options?: object
  /** True for the envs to reset; the others stay where they are. @default all */
  readonly mask?: readonly boolean[]
  readonly signal?: AbortSignal
}

/** Result of `VectorEnv.reset`: one entry per env, in their order. */
export interface VectorStart<O, I> {
  readonly observations: readonly O[]
  readonly infos: readonly VectorInfo<O, I>[]
}

/** Result of `VectorEnv.step`: one entry per env, in their order. */
export interface VectorStep<O, I> extends VectorStart<O, I> {
  readonly rewards: readonly number[]
  readonly terminated: readonly boolean[]
  readonly truncated: readonly boolean[]
}

/** Result of an action sent to one env: its step, or the error it threw. */
export type SendResult<O, I> =
  | { readonly index: number; readonly step: Step<O, VectorInfo<O, I>> }
  | { readonly index: number; readonly error: unknown }

/** Several envs that are stepped as one; each plays its own episodes. */
export interface VectorEnv<O = Observation, A = Action | string, I extends object = Info>
  extends AsyncDisposable {
  /** Number of envs. */
  readonly size: number
  /** Resets the envs of `mask`; resolves with the latest observation and info of every env. */
  reset(start?: VectorResetOptions): Promise<VectorStart<O, I>>
  /**
   * Takes one action per env and waits for all of them; the first error is thrown when all are done. Nothing is lost
   * then: called again with the same actions, it steps only the envs that failed and gives the results of all.
   */
  step(actions: readonly A[], options?: StepOptions): Promise<VectorStep<O, I>>
  /** Takes an action for one env and does not wait; the result comes out of `ready`. */
  send(index: number, action: A, options?: StepOptions): void
  /** Yields the results of `send` in order of completion; ends when no action is under way. */
  ready(): AsyncGenerator<SendResult<O, I>, void, undefined>
  /** Closes every env; the first error is thrown when all are done. `[Symbol.asyncDispose]` calls it. */
  close(): Promise<void>
}

/** Options of `vectorize`. */
export interface VectorizeOptions {
  /** @default 'disabled' */
  readonly autoreset?: Autoreset
}

/** Waits for all, then throws the first error if there is one, so that no work goes on unseen. */
async function settleAll<T>(work: readonly PromiseLike<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(work)
  return settled.map((one) => {
    if (one.status === 'rejected') throw one.reason
    return one.value
  })
}

function assertLength(name: string, list: readonly unknown[], size: number): void {
  if (list.length !== size)
    throw new RangeError(`Expected \`${name}\` to have ${size} entries, got ${list.length}`)
}

/** Queue of results in order of arrival. */
function mailbox<T>() {
  const arrived: T[] = []
  const waiting: (() => void)[] = []
  let owed = 0
  const wakeAll = (): void => {
    for (const wake of waiting.splice(0)) wake()
  }
  return {
    expect(work: Promise<T>): void {
      owed++
      void work.then((result) => {
        arrived.push(result)
        wakeAll()
      })
    },
    async *take(): AsyncGenerator<T, void, undefined> {
      while (owed > 0) {
        const result = arrived.shift()
        if (result === undefined) {
          await new Promise<void>((wake) => waiting.push(wake))
          continue
        }
        owed--
        // Other readers wait for a result that will not come.
        if (owed === 0) wakeAll()
        yield result
      }
    },
  }
}

const rules: OptionRules<VectorizeOptions> = {
  autoreset: oneOf('next-step', 'same-step', 'disabled'),
}

/**
 * Makes one vector env of several envs.
 * @throws TypeError or RangeError, with the value, for an option that does not exist or cannot be
 */
// Long because the methods of the vector env share its slots.
export function vectorize<O, A, I extends object>(
  makeEnvs: readonly (() => Env<O, A, I>)[],
  options: VectorizeOptions = {},
): VectorEnv<O, A, I> {
  checkOptions('vectorize', options, rules)
  const { autoreset = 'disabled' } = options
  const envs = makeEnvs.map((make) => make())
  const slots = envs.map((env, index) => slot(env, index, autoreset))
  const size = slots.length
  const busy = new Set<number>()
  const mail = mailbox<SendResult<O, I>>()

  const assertIdle = (index: number): void => {
    if (busy.has(index))
      throw new TypeError(
        `Expected env ${index} to be idle, got a call while its action is under way`,
      )
  }
  /** Runs the work on some envs; they are busy until all of it is done. */
  const occupy = async <T>(indices: readonly number[], work: (index: number) => Promise<T>) => {
    for (const index of indices) busy.add(index)
    try {
      return await settleAll(indices.map(work))
    } finally {
      for (const index of indices) busy.delete(index)
    }
  }

  return {
    size,

    async reset({ seed, options, mask, signal } = {}) {
      if (mask) assertLength('mask', mask, size)
      if (typeof seed === 'object') assertLength('seed', seed, size)
      const chosen = [...slots.keys()].filter((index) => mask?.[index] ?? true)
      for (const index of chosen) assertIdle(index)
      const seedOf = (index: number) => (typeof seed === 'number' ? seed + index : seed?.[index])
      await occupy(chosen, (index) => slots[index]!.reset(seedOf(index), options, signal))
      const starts = slots.map((one) => one.assertBegun())
      return {
        observations: starts.map(({ observation }) => observation),
        infos: starts.map(({ info }) => info),
      }
    },

    async step(actions, options = {}) {
      assertLength('actions', actions, size)
      slots.forEach((one, index) => {
        assertIdle(index)
        one.assertSteps(actions[index] as A)
      })
      const steps = await occupy([...slots.keys()], (index) =>
        slots[index]!.stepOnce(actions[index] as A, options),
      )
      for (const one of slots) one.deliver()
      return {
        observations: steps.map(({ observation }) => observation),
        rewards: steps.map(({ reward }) => reward),
        terminated: steps.map(({ terminated }) => terminated),
        truncated: steps.map(({ truncated }) => truncated),
        infos: steps.map(({ info }) => info),
      }
    },

    send(index, action, options = {}) {
      const one = slots[index]
      if (!one) throw new RangeError(`Expected an index below ${size}, got ${index}`)
      assertIdle(index)
      one.assertSteps(action)
      busy.add(index)
      mail.expect(
        one.stepOnce(action, options).then(
          (step) => {
            one.deliver()
            return { index, step }
          },
          (error: unknown) => ({ index, error }),
        ),
      )
    },

    async *ready() {
      for await (const result of mail.take()) {
        busy.delete(result.index)
        yield result
      }
    },

    async close() {
      await settleAll(envs.map((env) => env.close()))
    },

    [Symbol.asyncDispose]() {
      return this.close()
    },
  }
}
