/** Conformance checks of an env as a transaction: one call at a time, no trace of a failed step, safe repetition. */
import { type Env, ended, type Step } from '../env.js'
import type { Action } from '../turn.js'
import { expectAnswer, expectRefused, expectSame, expectThat, expectWithin } from './expect.js'
import { type EnvScript, playScript, resetEnv } from './play.js'

/** A check is given an env of its own, and how to make more. */
type SessionPromise = (env: Env, script: EnvScript, makeEnv: () => Env) => Promise<void>

/** Plays the script with `take` in place of a plain step, and holds the transcript to that of an undisturbed env. */
const undisturbed =
  (
    what: string,
    take: (env: Env, action: Action | string, index: number) => Promise<Step>,
  ): SessionPromise =>
  async (env, script, makeEnv) => {
    await using calm = makeEnv()
    const alone = await playScript(calm, script)
    const start = await resetEnv(env, script)
    const steps: Step[] = []
    for (const [index, action] of script.actions.entries()) {
      const step = await take(env, action, index)
      steps.push(step)
      if (ended(step)) break
    }
    expectSame(what, { start, steps }, alone)
  }

/** An action other than the given one. */
const otherThan = (action: Action | string | undefined): Action =>
  typeof action === 'object' && action.kind === 'give-up'
    ? { kind: 'ask', text: 'Hello?' }
    : { kind: 'give-up' }

const malformedActions: readonly unknown[] = [
  undefined,
  null,
  5,
  [],
  {},
  { kind: 'nonsense' },
  { kind: '__proto__' },
  { kind: 'ask' },
  { kind: 'ask', text: 5 },
  { kind: 'order' },
  { kind: 'diagnose' },
  { kind: 'diagnose', diagnosis: 'x', confidence: 99 },
  { kind: 'diagnose', diagnosis: 'x', confidence: Number.NaN },
  { kind: 'diagnose', diagnosis: 'x', triage: -4 },
  { kind: 'diagnose', diagnosis: 'x', differential: [{ diagnosis: 'y', p: 7 }] },
]

/** The first part of a value that is not frozen, as a path; undefined where all of it is. */
function unfrozenPart(value: unknown, path: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (!Object.isFrozen(value)) return path
  for (const [key, part] of Object.entries(value)) {
    const found = unfrozenPart(part, `${path}.${key}`)
    if (found) return found
  }
  return undefined
}

type SessionPromises = Readonly<Record<string, SessionPromise>>

const promises: SessionPromises = {
  'a call while a step is under way is refused': undisturbed(
    'the playing with refused calls',
    async (env, action, index) => {
      const step = env.step(action)
      await expectRefused(`a second step() during step ${index}`, () => env.step(action))
      return step
    },
  ),

  'a reset while a step is under way is refused': async (env, script) => {
    await resetEnv(env, script)
    const step = env.step(script.actions[0] as Action)
    const reset = expectRefused('reset() during a step', () => resetEnv(env, script))
    await Promise.all([step, reset])
  },

  'a step asked for again by its index is answered as before': undisturbed(
    'the playing with repeated steps',
    async (env, action, index) => {
      const step = await env.step(action, { index })
      const what = `step ${index}, asked for again`
      expectSame(what, await expectAnswer(what, () => env.step(action, { index })), step)
      return step
    },
  ),

  'another action at the index of a step is refused': undisturbed(
    'the playing with refused indices',
    async (env, action, index) => {
      const step = await env.step(action, { index })
      const other = otherThan(action)
      await expectRefused(`another action at index ${index}`, () => env.step(other, { index }))
      await expectRefused('an index ahead', () => env.step(other, { index: index + 2 }))
      return step
    },
  ),

  'a malformed action is an outcome': async (_, script, makeEnv) => {
    for (const malformed of malformedActions) {
      await using env = makeEnv()
      await resetEnv(env, script)
      const what = `the action ${JSON.stringify(malformed)}`
      // The type says that this cannot be; a caller without a compiler may send it.
      const { observation } = await expectAnswer(what, () => env.step(malformed as Action))
      const { outcome } = observation.turns.at(-1) ?? {}
      expectThat(outcome?.kind === 'rejected', `${what} to be rejected`, outcome)
    }
  },

  'observations are frozen': async (env, script) => {
    const { start, steps } = await playScript(env, script)
    for (const [t, { observation }] of [start, ...steps].entries()) {
      const part = unfrozenPart(observation, 'observation')
      expectThat(part === undefined, `observation ${t} to be frozen`, `a writable ${part}`)
    }
  },

  'a closed env refuses calls': async (env, script) => {
    await resetEnv(env, script)
    await env.close()
    await expectRefused('step() after close()', () => env.step(script.actions[0] as Action))
    await expectRefused('reset() after close()', () => resetEnv(env, script))
  },

  'a seed that is no unsigned 32-bit integer is refused': async (env, script) => {
    for (const seed of [-1, 1.5, Number.NaN, 2 ** 32])
      await expectRefused(`the seed ${seed}`, () => resetEnv(env, { ...script, seed }))
  },

  'an aborted signal stops a reset': async (env, { seed, options }) => {
    const signal = AbortSignal.abort()
    await expectRefused('a reset whose signal was aborted before', () =>
      env.reset({ seed, signal, ...(options ? { options } : {}) }),
    )
  },
}

/**
 * The promises of an env as a transaction, by name.
 * @param patience milliseconds within which an aborted step must settle
 */
export const sessionPromises = (patience: number): SessionPromises => ({
  ...promises,
  'an aborted step leaves no trace': undisturbed(
    'the playing with aborted steps',
    async (env, action, index) => {
      const controller = new AbortController()
      const aborted = env.step(action, { signal: controller.signal, index })
      controller.abort()
      await expectWithin(patience, `step ${index}, whose signal is aborted`, aborted)
      return env.step(action, { index })
    },
  ),
})
