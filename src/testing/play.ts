/** Playing a script on an env: to the end, as far as it goes, or beside another. */
import type { Env, Reset, Step } from '../env.js'
import { ended } from '../env.js'
import type { Action } from '../turn.js'
import { expectThat } from './expect.js'

/** What a script met. */
export interface Played {
  readonly start: Reset
  readonly steps: readonly Step[]
}

/** One way of playing an env. */
export interface Script {
  readonly actions: readonly (Action | string)[]
  readonly seed: number
  readonly options?: object | undefined
}

/** Resets as the script says. */
export const begin = (env: Env, { seed, options }: Script): Promise<Reset> =>
  env.reset(options === undefined ? { seed } : { seed, options })

/** Plays as far as the script goes. */
export async function play(env: Env, script: Script): Promise<Played> {
  const start = await begin(env, script)
  const steps: Step[] = []
  for (const action of script.actions) {
    const step = await env.step(action)
    steps.push(step)
    if (ended(step)) break
  }
  return { start, steps }
}

/** Plays to the end. A script that never gets there fails, since nothing could be tested. */
export async function playToEnd(
  env: Env,
  script: Script,
): Promise<Played & { readonly last: Step }> {
  const played = await play(env, script)
  const last = played.steps.at(-1)
  expectThat(
    last !== undefined && ended(last),
    '`actions` to end the episode (the contract cannot be tested otherwise)',
    `${played.steps.length} steps without an end`,
  )
  return { ...played, last }
}

/** Runs the work on a new env and disposes of it. */
export async function withEnv<T>(makeEnv: () => Env, work: (env: Env) => Promise<T>): Promise<T> {
  const env = makeEnv()
  try {
    return await work(env)
  } finally {
    await env[Symbol.asyncDispose]()
  }
}

/** Plays a script on each env, all taking their n-th step together. */
export async function playInterleaved(
  envs: readonly Env[],
  scripts: readonly Script[],
): Promise<Played[]> {
  const running = await Promise.all(
    envs.map(async (env, i) => {
      const script = scripts[i] as Script
      return { env, script, start: await begin(env, script), steps: [] as Step[] }
    }),
  )
  const longest = Math.max(...scripts.map(({ actions }) => actions.length))
  for (let t = 0; t < longest; t++)
    await Promise.all(
      running.map(async ({ env, script, steps }) => {
        const action = script.actions[t]
        const before = steps.at(-1)
        if (action === undefined || (before && ended(before))) return
        steps.push(await env.step(action))
      }),
    )
  return running.map(({ start, steps }) => ({ start, steps }))
}
