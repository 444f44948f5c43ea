/** Conformance checks of an env (`env.ts`): call order, episode ends, determinism, plain data, transactions, no leak. */
import type { Case } from '../case.js'
import { type Env, ended, type Info, type Observation, type Reset, type Step } from '../env.js'
import type { Action } from '../turn.js'
import { type Check, type CheckReport, runChecks } from './check.js'
import { sessionPromises } from './env-session.js'
import { expectPlain, expectRefused, expectSame, expectThat, expectWithin } from './expect.js'
import { diagnosisNames, findName } from './leak.js'
import { allStrings } from './plain-data.js'
import { type EnvScript, playInterleaved, playScript, playToEnd, resetEnv } from './play.js'

/** Inputs of {@link envChecks}. */
export interface EnvMaterial {
  /** Actions played in order after `reset`; they must end the episode. */
  readonly actions: readonly (Action | string)[]
  /** Seed of every `reset`. @default 0 */
  readonly seed?: number
  /** Options of every `reset`. */
  readonly options?: object
  /** The case that the seed and options play; absent leaves out the leak check, which needs it. */
  readonly truth?: Case
  /** Milliseconds within which an aborted step must settle. @default 1000 */
  readonly patience?: number
}

type Make = () => Env

/** Copies a value through JSON, so that only values are compared, not types. */
const asBytes = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** Checks by name, each given an env of its own, disposed of afterwards, and how to make more. */
type Promises = Readonly<
  Record<string, (env: Env, script: EnvScript, makeEnv: Make) => Promise<void>>
>

const order: Promises = {
  'step before reset is refused': async (env, { actions }) => {
    expectThat(actions.length > 0, 'at least one action', 'none')
    await expectRefused('step() before reset()', () => env.step(actions[0] as Action))
  },

  'the actions end the episode': async (env, script) => {
    await playToEnd(env, script)
  },

  'step after the end is refused': async (env, script) => {
    await playToEnd(env, script)
    await expectRefused('step() after the end', () => env.step(script.actions[0] as Action))
  },

  'closing is possible before reset, and twice': async (env, script, makeEnv) => {
    const unbegun = makeEnv()
    const { close }: { readonly close?: unknown } = unbegun
    expectThat(typeof close === 'function', '`close` to be a function', typeof close)
    await unbegun.close()
    await resetEnv(env, script)
    await env.close()
    await env.close()
  },

  'disposing is possible before reset, and twice': async (env, script, makeEnv) => {
    await makeEnv()[Symbol.asyncDispose]()
    await resetEnv(env, script)
    await env[Symbol.asyncDispose]()
    await env[Symbol.asyncDispose]()
  },
}

const ends: Promises = {
  'no step is both terminated and truncated': async (env, script) => {
    for (const [t, step] of (await playScript(env, script)).steps.entries())
      expectThat(!(step.terminated && step.truncated), `one flag at most in step ${t}`, 'both')
  },

  'the last step, and no other, says why it stopped': async (env, script) => {
    const { start, steps, last } = await playToEnd(env, script)
    expectThat(start.info.stop === undefined, 'no `info.stop` after reset', start.info.stop)
    for (const [t, { info }] of steps.slice(0, -1).entries())
      expectThat(info.stop === undefined, `no \`info.stop\` in step ${t}`, info.stop)
    expectThat(typeof last.info.stop === 'string', '`info.stop` in the last step', last.info.stop)
  },

  'the last step, and no other, carries the finished episode': async (env, script) => {
    const { start, steps, last } = await playToEnd(env, script)
    expectThat(start.info.episode === undefined, 'no `info.episode` after reset', 'one')
    for (const [t, { info }] of steps.slice(0, -1).entries())
      expectThat(info.episode === undefined, `no \`info.episode\` in step ${t}`, 'one')
    const { episode, stop } = last.info
    expectThat(episode !== undefined, '`info.episode` in the last step', 'none')
    expectThat(last[episode.end], `the flag \`${episode.end}\` that the episode reports`, 'false')
    if (stop !== undefined) expectSame('episode.stop', episode.stop, stop)
    expectSame('episode.seed', episode.seed, script.seed)
    expectSame('episode.caseId', episode.caseId, start.info.caseId)
    expectSame('the number of turns in the episode', episode.turns.length, steps.length)
  },

  'the episode ends within turnsLeft': async (env, script) => {
    const { turnsLeft } = (await resetEnv(env, script)).observation
    expectThat(Number.isInteger(turnsLeft) && turnsLeft > 0, 'turnsLeft > 0 after reset', turnsLeft)
    for (let t = 0; t < turnsLeft; t++)
      if (ended(await env.step(script.actions[0] as Action))) return
    expectThat(false, `an end within the ${turnsLeft} turns announced`, 'none')
  },
}

const sameness: Promises = {
  'one seed gives the same bytes': async (env, script, makeEnv) => {
    const one = await playScript(env, script)
    await using second = makeEnv()
    const other = await playScript(second, script)
    expectSame('the second playing', other, one)
    expectSame('its bytes', JSON.stringify(other), JSON.stringify(one))
  },

  'info names the seed it was given': async (env, script) => {
    const { start, steps } = await playScript(env, script)
    for (const { info } of [start, ...steps]) expectSame('info.seed', info.seed, script.seed)
  },

  'a later reset is like a fresh env': async (env, script, makeEnv) => {
    await using first = makeEnv()
    const fresh = await playScript(first, script)
    await playScript(env, { ...script, seed: script.seed + 1 })
    // Left in the middle, like a caller whose own budget is spent.
    await resetEnv(env, script)
    await env.step(script.actions[0] as Action)
    expectSame('the playing of a used env', await playScript(env, script), fresh)
  },

  'two envs at once do not disturb each other': async (env, script, makeEnv) => {
    const scripts = [script, { ...script, seed: script.seed + 1 }]
    const alone: unknown[] = []
    for (const one of scripts) {
      await using single = makeEnv()
      alone.push(asBytes(await playScript(single, one)))
    }
    await using beside = makeEnv()
    for (const [i, played] of (await playInterleaved([env, beside], scripts)).entries())
      expectSame(`env ${i} beside another`, asBytes(played), alone[i])
  },

  'an observation once given does not change': async (env, script) => {
    const start = await resetEnv(env, script)
    const kept: { observation: Observation; copy: unknown }[] = []
    const keep = ({ observation }: Reset) => kept.push({ observation, copy: asBytes(observation) })
    keep(start)
    for (const action of script.actions) {
      const step = await env.step(action)
      keep(step)
      if (ended(step)) break
    }
    kept.forEach(({ observation, copy }, t) => {
      expectSame(`observation ${t} at the end`, asBytes(observation), copy)
    })
  },
}

const values: Promises = {
  'every reward is a finite number': async (env, script) => {
    for (const [t, { reward }] of (await playScript(env, script)).steps.entries())
      expectThat(Number.isFinite(reward), `a finite reward in step ${t}`, String(reward))
  },

  'observations and infos are plain data': async (env, script) => {
    const { start, steps } = await playScript(env, script)
    for (const { observation, info } of [start, ...steps]) {
      expectPlain('observation', observation)
      expectPlain('info', info)
    }
  },
}

/** A first step as a promise, whichever way it fails. */
const attempt = async (env: Env, { actions }: EnvScript, signal: AbortSignal): Promise<Step> =>
  env.step(actions[0] as Action, { signal })

const aborting =
  (patience: number): Promises[string] =>
  async (env, script, makeEnv) => {
    await resetEnv(env, script)
    const never = attempt(env, script, AbortSignal.abort())
    await expectWithin(patience, 'a step whose signal was aborted before', never)
    await expectRefused('a step whose signal was aborted before', () => never)
    await using other = makeEnv()
    await resetEnv(other, script)
    const controller = new AbortController()
    const step = attempt(other, script, controller.signal)
    controller.abort()
    await expectWithin(patience, 'a step whose signal is aborted', step)
  }

/** The observation without the doctor's own words, which may name anything. */
const worldsWords = ({ turns, ...rest }: Observation): unknown => ({
  ...rest,
  outcomes: turns.map(({ outcome }) => outcome),
})

const silence =
  (truth: Case): Promises[string] =>
  async (env, script) => {
    const { start, steps } = await playScript(env, script)
    expectSame('the case that is played', start.info.caseId, truth.id)
    const names = diagnosisNames(truth)
    const before: readonly { observation: Observation; info: Info }[] = [
      start,
      ...steps.filter((step) => !ended(step)),
    ]
    for (const [t, { observation }] of before.entries())
      for (const text of allStrings(worldsWords(observation))) {
        const name = findName(text, names)
        expectThat(name === undefined, `no diagnosis in observation ${t}`, `"${name}" in "${text}"`)
      }
  }

/**
 * Lists every promise of the env contract as a check. Each check makes its own envs and disposes of them.
 * @param makeEnv makes a new env at every call
 */
export function envChecks(makeEnv: () => Env, material: EnvMaterial): readonly Check[] {
  const { actions, seed = 0, options, truth, patience = 1000 } = material
  const script: EnvScript = { actions, seed, options }
  const promises: Promises = {
    ...order,
    ...ends,
    ...sameness,
    ...values,
    ...sessionPromises(patience),
    'an aborted signal frees the caller': aborting(patience),
    ...(truth ? { 'the diagnosis is not told before the end': silence(truth) } : {}),
  }
  return Object.entries(promises).map(([name, check]) => ({
    name,
    async run() {
      await using env = makeEnv()
      await check(env, script, makeEnv)
    },
  }))
}

/** Runs all checks of an env and reports, like Gymnasium's `check_env`. */
export const checkEnv = (makeEnv: () => Env, material: EnvMaterial): Promise<CheckReport> =>
  runChecks(envChecks(makeEnv, material))
