/**
 * Env as a transaction over a state machine.
 *
 * One call is under way at a time. The state is replaced when a step has succeeded and never before, so an abort, a
 * fault or a crash leaves no trace and a retry costs what the first attempt would have. A step has an index, the number
 * of steps before it: the same index with the same action gives the same answer again.
 */
import { type Env, ended, type Reset, type ResetOptions, type Step } from '../env.js'
import { untilAborted } from '../platform/abort.js'
import { deepFreeze } from '../platform/freeze.js'
import { assertSeed } from '../seed.js'

/** A step with the state after it. */
export interface Transition<State, O, I> {
  readonly state: State
  readonly step: Step<O, I>
}

/** An episode as a state machine: pure functions of a state that they never modify. */
export interface EpisodeMachine<State, O, A, I, Input = A> {
  /** Starts an episode. */
  begin(seed: number, options: object | undefined): Reset<O, I> & { readonly state: State }
  /** The state as plain data. */
  save(state: State): unknown
  /** The state of {@link save}, what the doctor sees there, and how many steps were taken, with the last of them. */
  restore(saved: unknown): Reset<O, I> & {
    readonly state: State
    readonly steps: number
    readonly last: TakenStep<A, O, I> | undefined
  }
  /** Reads an action from outside. */
  parse(action: Input): A
  /** Takes one action. Rejects where the world fails; nothing has happened then. */
  advance(
    state: State,
    action: A,
    signal: AbortSignal | undefined,
  ): Transition<State, O, I> | Promise<Transition<State, O, I>>
}

/** A step with its action. */
export interface TakenStep<A, O, I> {
  readonly action: A
  readonly step: Step<O, I>
}

interface RunningEpisode<State, A, O, I> {
  readonly state: State
  /** By index; of a restored episode only the last is known. */
  readonly taken: readonly (TakenStep<A, O, I> | undefined)[]
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** The answer that the step at `index` had. */
function repeated<A, O, I>(
  taken: RunningEpisode<unknown, A, O, I>['taken'],
  index: number,
  action: A,
): Step<O, I> {
  if (!(index in taken))
    throw new RangeError(`Expected \`index\` to be at most ${taken.length}, got \`${index}\``)
  const before = taken[index]
  if (!before)
    throw new TypeError(
      `Expected the index of the last step, ${taken.length - 1}, in a restored episode, got \`${index}\``,
    )
  if (!same(before.action, action))
    throw new TypeError(
      `Expected the action that step ${index} was taken with, got another: a step cannot be taken back`,
    )
  return before.step
}

/** Makes an env of a state machine. Its observations are frozen. */
// Long because its methods share the running episode.
export function transactional<State, O, A, I extends object, Input = A>(
  machine: EpisodeMachine<State, O, A, I, Input>,
): Env<O, Input, I> {
  let running: RunningEpisode<State, A, O, I> | undefined
  let busy = false
  let closed = false

  const alone = async <T>(call: string, work: () => Promise<T>): Promise<T> => {
    if (closed) throw new TypeError(`Expected an open env, got ${call} after close()`)
    if (busy) throw new TypeError(`Expected one call at a time, got ${call} while one is under way`)
    busy = true
    try {
      return await work()
    } finally {
      busy = false
    }
  }

  return {
    reset({ seed = 0, options, signal }: ResetOptions = {}) {
      return alone('reset()', async () => {
        signal?.throwIfAborted()
        const { state, ...start } = machine.begin(assertSeed('seed', seed), options)
        deepFreeze(start.observation)
        running = { state, taken: [] }
        return start
      })
    },

    step(given, { signal, index } = {}) {
      return alone('step()', async () => {
        if (!running) throw new TypeError('Expected reset() before step(), got step() first')
        const { state, taken } = running
        const action = machine.parse(given)
        if (index !== undefined && index !== taken.length) return repeated(taken, index, action)
        const last = taken.at(-1)
        if (last && ended(last.step))
          throw new TypeError('Expected reset() after the end of an episode, got step()')
        signal?.throwIfAborted()
        const after = Promise.resolve(machine.advance(state, action, signal))
        const next = await untilAborted(after, signal)
        deepFreeze(next.step.observation)
        running = { state: next.state, taken: [...taken, { action, step: next.step }] }
        return next.step
      })
    },

    save() {
      const last = running?.taken.at(-1)
      if (!running || busy || (last && ended(last.step)))
        throw new TypeError(
          'Expected save() of an episode that runs, between two calls, got it before, after or during one',
        )
      return machine.save(running.state)
    },

    restore(saved) {
      return alone('restore()', async () => {
        const { state, steps, last, ...start } = machine.restore(saved)
        deepFreeze(start.observation)
        running = {
          state,
          taken: Array.from({ length: steps }, (_, i) => (i + 1 < steps ? undefined : last)),
        }
        return start
      })
    },

    async close() {
      closed = true
      running = undefined
    },

    [Symbol.asyncDispose]() {
      return this.close()
    },
  }
}
