/**
 * Wrappers: functions from an env to an env. A wrapped env is closed with the one inside it.
 *
 *     const env = wrap(consultation(options), timeLimit(5), recordEpisodes(sink))
 */
import type { Env, Info, Observation, Reset, Step } from '../env.js'
import { ended, truncation } from '../env.js'
import { type Episode, finishedEpisode } from '../episode.js'
import { noFacts, type TurnFacts } from '../turn.js'

/** A function from one env to another. */
export type Wrapper<A, B = A> = (env: A) => B

/** Applies wrappers from left to right; the last one is the outermost. */
export function wrap<A>(env: A): A
export function wrap<A, B>(env: A, f: Wrapper<A, B>): B
export function wrap<A, B, C>(env: A, f: Wrapper<A, B>, g: Wrapper<B, C>): C
export function wrap<A, B, C, D>(env: A, f: Wrapper<A, B>, g: Wrapper<B, C>, h: Wrapper<C, D>): D
export function wrap<A, B, C, D, E>(
  env: A,
  f: Wrapper<A, B>,
  g: Wrapper<B, C>,
  h: Wrapper<C, D>,
  i: Wrapper<D, E>,
): E
export function wrap<A, B, C, D, E, F>(
  env: A,
  f: Wrapper<A, B>,
  g: Wrapper<B, C>,
  h: Wrapper<C, D>,
  i: Wrapper<D, E>,
  j: Wrapper<E, F>,
): F
export function wrap(env: unknown, ...wrappers: readonly Wrapper<unknown>[]): unknown {
  return wrappers.reduce((inner, wrapper) => wrapper(inner), env)
}

/** Wraps an env so that every step passes through `use`. */
const afterStep = <O, A, I extends object>(
  env: Env<O, A, I>,
  use: (step: Step<O, I>, action: A) => Step<O, I> | PromiseLike<Step<O, I>>,
): Env<O, A, I> => ({
  reset: (start) => env.reset(start),
  step: async (action, options) => use(await env.step(action, options), action),
  close: () => env.close(),
  [Symbol.asyncDispose]() {
    return this.close()
  },
})

/** Calls `fn` with every step and the action that led to it; what `fn` returns is awaited, not used. */
export const onStep =
  <O = Observation, I extends object = Info>(
    fn: (step: Step<O, I>, action: unknown) => unknown,
  ): (<A>(env: Env<O, A, I>) => Env<O, A, I>) =>
  (env) =>
    afterStep(env, async (step, action) => {
      await fn(step, action)
      return step
    })

/** Replaces the reward of every step by `fn(reward, step)`. `info.score` stays as the env gave it. */
export const mapReward =
  <O = Observation, I extends object = Info>(
    fn: (reward: number, step: Step<O, I>) => number,
  ): (<A>(env: Env<O, A, I>) => Env<O, A, I>) =>
  (env) =>
    afterStep(env, (step) => ({ ...step, reward: fn(step.reward, step) }))

/**
 * Passes every finished episode to `sink`, with the info of its last step, and awaits it. A last step that is asked for
 * again, by its index, is not passed again.
 */
export const recordEpisodes =
  (sink: (episode: Episode, info: Info) => unknown): (<O, A>(env: Env<O, A>) => Env<O, A>) =>
  (env) => {
    const recorded = new WeakSet<Episode>()
    return afterStep(env, async (step) => {
      const { episode } = step.info
      if (!episode || recorded.has(episode)) return step
      await sink(episode, step.info)
      recorded.add(episode)
      return step
    })
  }

/** State of the running episode, from which a time limit builds the truncated episode. */
interface LimitedEpisode {
  readonly start: Reset
  readonly limit: number
  /** Facts of every turn. */
  readonly facts: TurnFacts[]
  /** The limited step of each step of the env inside, so that one asked for again is the same. */
  readonly steps: Map<Step, Step>
  over: boolean
}

function truncatedEpisode(
  { start, limit, facts }: LimitedEpisode,
  { language, spent, budget, turns }: Observation,
): Episode {
  const { caseId, seed } = start.info
  return finishedEpisode({
    ...{ caseId, seed, language, spent, budget },
    intake: start.observation.intake,
    turns: turns.map((turn, t) => ({ ...turn, facts: facts[t] ?? noFacts })),
    stop: 'max-turns',
    maxTurns: limit,
  })
}

/** Applies the limit to a step: to its turns left and its episode, and truncates at the last turn. */
function applyLimit(run: LimitedEpisode, { observation, info, ...step }: Step): Step {
  const taken = observation.turns.length
  if (taken === 0) throw new TypeError('Expected a step to add a turn to the observation, got none')
  run.facts[taken - 1] = info.facts ?? noFacts
  const turnsLeft = Math.min(observation.turnsLeft, run.limit - taken)
  const seen = Object.freeze({ ...observation, turnsLeft })
  if (info.episode)
    return {
      ...step,
      observation: seen,
      info: { ...info, episode: { ...info.episode, maxTurns: run.limit } },
    }
  if (taken < run.limit) return { ...step, observation: seen, info }
  const last = { ...info, stop: 'max-turns' as const, episode: truncatedEpisode(run, seen) }
  return truncation(seen, last, step.reward)
}

/**
 * Truncates an episode after `turns` turns. The inner env does not see that end, so the episode is built here from
 * observations and has no score; the `maxTurns` option of an env gives one with a score.
 * @throws RangeError when `turns` is not a positive integer
 */
export function timeLimit(turns: number): <A>(env: Env<Observation, A>) => Env<Observation, A> {
  if (!Number.isInteger(turns) || turns < 1)
    throw new RangeError(`Expected \`turns\` to be a positive integer, got \`${turns}\``)
  return (env) => {
    let running: LimitedEpisode | undefined
    return {
      async reset(options) {
        const start = await env.reset(options)
        const limit = Math.min(start.observation.turnsLeft, turns)
        running = { start, limit, facts: [], steps: new Map(), over: false }
        const observation = Object.freeze({ ...start.observation, turnsLeft: limit })
        return { ...start, observation }
      },
      async step(action, options) {
        const run = running
        if (!run) throw new TypeError('Expected reset() before step(), got step() first')
        if (run.over && !(Number(options?.index) < run.steps.size))
          throw new TypeError('Expected reset() after the end of an episode, got step()')
        const inner = await env.step(action, options)
        const step = run.steps.get(inner) ?? applyLimit(run, inner)
        run.steps.set(inner, step)
        run.over ||= ended(step)
        return step
      },
      async close() {
        running = undefined
        await env.close()
      },
      [Symbol.asyncDispose]() {
        return this.close()
      },
    }
  }
}
