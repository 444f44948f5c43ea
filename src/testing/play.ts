/** Playing a script of actions on an env: as far as it goes, to the end, or interleaved with others. */
import { type Env, ended, type Reset, type Step } from '../env.js'
import type { Action } from '../turn.js'
import { expectThat } from './expect.js'

/** The reset and the steps of a played script. */
export interface PlayedScript {
  readonly start: Reset
  readonly steps: readonly Step[]
}

/** Actions to play on an env, with the arguments of `reset`. */
export interface EnvScript {
  readonly actions: readonly (Action | string)[]
  readonly seed: number
  readonly options?: object | undefined
}

/** Resets an env with the script's seed and options. */
export const resetEnv = (env: Env, { seed, options }: EnvScript): Promise<Reset> =>
  env.reset(options === undefined ? { seed } : { seed, options })

/** Resets the env and plays until the script or the episode ends. */
export async function playScript(env: Env, script: EnvScript): Promise<PlayedScript> {
  const start = await resetEnv(env, script)
  const steps: Step[] = []
  for (const action of script.actions) {
    const step = await env.step(action)
    steps.push(step)
    if (ended(step)) break
  }
  return { start, steps }
}

/** Plays to the end of the episode. Throws where the script does not get there, as nothing can be tested then. */
export async function playToEnd(
  env: Env,
  script: EnvScript,
): Promise<PlayedScript & { readonly last: Step }> {
  const played = await playScript(env, script)
  const last = played.steps.at(-1)
  expectThat(
    last !== undefined && ended(last),
    '`actions` to end the episode (the contract cannot be tested otherwise)',
    `${played.steps.length} steps without an end`,
  )
  return { ...played, last }
}

/** Plays one script on each env, with all envs taking their n-th step concurrently. */
export async function playInterleaved(
  envs: readonly Env[],
  scripts: readonly EnvScript[],
): Promise<PlayedScript[]> {
  const running = await Promise.all(
    envs.map(async (env, i) => {
      const script = scripts[i] as EnvScript
      return { env, script, start: await resetEnv(env, script), steps: [] as Step[] }
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
