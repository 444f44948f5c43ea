import { describe, expect, test } from 'vitest'
import type { Case } from '../../src/case.js'
import type { Env, Info, Observation, Step } from '../../src/env.js'
import { ended } from '../../src/env.js'
import { deepFreeze } from '../../src/platform/freeze.js'
import { runChecks } from '../../src/testing/check.js'
import type { EnvMaterial } from '../../src/testing/env.js'
import { checkEnv, envChecks } from '../../src/testing/env.js'
import { tinyActions, tinyCases, tinyEnv, tinyLung, tinyStomach } from '../fixtures/tiny.js'

const material: EnvMaterial = { actions: tinyActions, options: { case: tinyLung }, truth: tinyLung }

const failing = async (makeEnv: () => Env, more: Partial<EnvMaterial> = {}) =>
  (await runChecks(envChecks(makeEnv, { ...material, ...more }))).failures.map(({ check }) => check)

/** A tiny env with one thing changed. */
const changed = (change: (env: Env) => Partial<Env>) => (): Env => {
  const env = tinyEnv()
  const inner: Env = {
    reset: (start) => env.reset(start),
    step: (action, options) => env.step(action, options),
    close: () => env.close(),
    [Symbol.asyncDispose]: () => env[Symbol.asyncDispose](),
  }
  return { ...inner, ...change(inner) }
}

const withStep = (use: (step: Step) => Step): (() => Env) =>
  changed((env) => ({ step: async (action, options) => use(await env.step(action, options)) }))

const withInfo = (use: (info: Info, last: boolean) => Info): (() => Env) =>
  withStep((step) => ({ ...step, info: use(step.info, ended(step)) }))

describe('a consultation keeps the env contract', () => {
  for (const { name, run } of envChecks(tinyEnv, material)) test(name, run)
})

describe('a consultation with drawn cases keeps the env contract', () => {
  for (const { name, run } of envChecks(tinyEnv, { actions: tinyActions, seed: 3 })) test(name, run)
})

describe('exactly the broken promise is reported when an env', () => {
  const only = (
    what: string,
    checks: string | readonly string[],
    makeEnv: () => Env,
    more?: Partial<EnvMaterial>,
  ) => test(what, async () => expect(await failing(makeEnv, more)).toEqual([checks].flat()))

  only(
    'steps before it was reset',
    'step before reset is refused',
    changed((env) => {
      let begun = false
      return {
        reset: (start) => {
          begun = true
          return env.reset(start)
        },
        step: async (action, options) => {
          if (!begun) await env.reset(material.options ? { options: material.options } : {})
          begun = true
          return env.step(action, options)
        },
      }
    }),
  )

  only(
    'answers a step after the end with the last one',
    'step after the end is refused',
    changed((env) => {
      let last: Step | undefined
      return {
        reset: (start) => {
          last = undefined
          return env.reset(start)
        },
        step: async (action, options) => {
          if (last && ended(last) && options?.index === undefined) return last
          last = await env.step(action, options)
          return last
        },
      }
    }),
  )

  only(
    'raises both flags at the end',
    'no step is both terminated and truncated',
    withStep((step) => (ended(step) ? { ...step, terminated: true, truncated: true } : step)),
  )

  only(
    'ends without a stop',
    'the last step, and no other, says why it stopped',
    withInfo(({ stop: _, ...info }) => info),
  )

  only(
    'gives a stop in every step',
    'the last step, and no other, says why it stopped',
    withInfo((info) => ({ stop: 'diagnosed', ...info })),
  )

  only(
    'ends without the episode',
    'the last step, and no other, carries the finished episode',
    withInfo(({ episode: _, ...info }) => info),
  )

  only(
    'carries an episode of another length',
    'the last step, and no other, carries the finished episode',
    withInfo((info) =>
      info.episode ? { ...info, episode: { ...info.episode, turns: [] } } : info,
    ),
  )

  only(
    'carries an episode that ended the other way',
    'the last step, and no other, carries the finished episode',
    withInfo((info) =>
      info.episode ? { ...info, episode: { ...info.episode, end: 'truncated' } } : info,
    ),
  )

  only(
    'announces fewer turns than it gives',
    'the episode ends within turnsLeft',
    changed((env) => ({
      reset: async (start) => {
        const { observation, info } = await env.reset(start)
        return { observation: Object.freeze({ ...observation, turnsLeft: 2 }), info }
      },
    })),
  )

  only(
    'names another seed',
    'info names the seed it was given',
    withInfo((info) => ({ ...info, seed: 7 })),
  )

  only(
    'remembers earlier episodes',
    'a later reset is like a fresh env',
    changed((env) => {
      let episodes = 0
      return {
        reset: (start) => {
          episodes++
          return env.reset(start)
        },
        step: async (action, options) => {
          const step = await env.step(action, options)
          return { ...step, reward: step.reward + episodes }
        },
      }
    }),
  )

  only(
    'writes into an observation it gave',
    [
      'an observation once given does not change',
      'a step asked for again by its index is answered as before',
      'observations are frozen',
    ],
    changed((env) => {
      let given: { turnsLeft: number } | undefined
      return {
        step: async (action, options) => {
          const step = await env.step(action, options)
          if (given) given.turnsLeft = 0
          given = { ...step.observation }
          return { ...step, observation: given as Observation }
        },
      }
    }),
  )

  only(
    'pays NaN',
    'every reward is a finite number',
    withStep((step) => ({ ...step, reward: Number.NaN })),
  )

  only(
    'puts a Map into info',
    'observations and infos are plain data',
    withInfo((info) => ({ ...info, seen: new Map() }) as Info),
  )

  only(
    'does not look at the signal',
    'an aborted signal frees the caller',
    changed((env) => ({ step: (action, options) => env.step(action, { index: options?.index }) })),
  )

  only(
    'never answers once the signal is aborted',
    ['an aborted step leaves no trace', 'an aborted signal frees the caller'],
    changed((env) => ({
      step: (action, options) =>
        options?.signal ? new Promise<Step>(() => {}) : env.step(action, options),
    })),
    { patience: 20 },
  )

  only(
    'cannot be disposed of twice',
    'disposing is possible before reset, and twice',
    changed((env) => {
      let gone = false
      return {
        [Symbol.asyncDispose]: async () => {
          if (gone) throw new Error('gone already')
          gone = true
          await env[Symbol.asyncDispose]()
        },
      }
    }),
  )

  only(
    'cannot be closed before reset',
    'closing is possible before reset, and twice',
    changed((env) => {
      let begun = false
      return {
        reset: (start) => {
          begun = true
          return env.reset(start)
        },
        close: async () => {
          if (!begun) throw new Error('nothing to close')
          await env.close()
        },
      }
    }),
  )

  test('has no close(), and says so in place of the rest', async () => {
    const { failures } = await checkEnv(
      changed(() => ({ close: undefined as never })), // as an env in JavaScript may be
      material,
    )
    expect(failures).toEqual([
      {
        check: 'closing is possible before reset, and twice',
        message: 'Expected `close` to be a function, got undefined',
      },
      { check: 'a closed env refuses calls', message: 'env.close is not a function' },
    ])
  })

  for (const [language, name] of [
    ['English', 'Likely a LUNG INFECTION.'],
    ['Chinese', '多半是肺部感染吧'],
  ] as const)
    only(
      `tells the diagnosis by an alias in ${language}`,
      'the diagnosis is not told before the end',
      withStep((step) => ({ ...step, observation: deepFreeze(leak(step.observation, name)) })),
    )

  only(
    'carries out one call after the other in place of refusing the second',
    ['a call while a step is under way is refused', 'a reset while a step is under way is refused'],
    changed((env) => {
      let before: Promise<unknown> = Promise.resolve()
      const queue = <T>(work: () => Promise<T>): Promise<T> => {
        const result = before.then(work)
        before = result.catch(() => undefined)
        return result
      }
      return {
        reset: (start) => queue(() => env.reset(start)),
        step: (action, options) => queue(() => env.step(action, options)),
      }
    }),
  )

  only(
    'does not know the index of a step',
    [
      'a step asked for again by its index is answered as before',
      'another action at the index of a step is refused',
    ],
    changed((env) => ({
      step: (action, options) => env.step(action, { signal: options?.signal }),
    })),
  )

  only(
    'has carried out what was aborted',
    'an aborted step leaves no trace',
    changed((env) => ({
      step: async (action, { signal, index } = {}) => {
        signal?.throwIfAborted()
        if (!signal) return env.step(action, { index })
        await env.step({ kind: 'ask', text: 'Do you have heartburn?' }, {})
        throw signal.reason
      },
    })),
  )

  only(
    'throws for a malformed action',
    'a malformed action is an outcome',
    changed((env) => ({
      step: async (action, options) => {
        if (!Object.hasOwn(action as object, 'kind')) throw new TypeError('no action')
        return env.step(action, options)
      },
    })),
  )

  only(
    'goes on after it was closed',
    'a closed env refuses calls',
    changed(() => ({ close: async () => {} })),
  )

  only(
    'takes a seed for another',
    'a seed that is no unsigned 32-bit integer is refused',
    changed((env) => ({
      reset: (start) => env.reset({ ...start, seed: (start?.seed ?? 0) >>> 0 }),
    })),
  )

  only(
    'starts an episode that nobody waits for',
    'an aborted signal stops a reset',
    changed((env) => ({
      reset: ({ seed, options } = {}) =>
        env.reset({ seed: seed ?? 0, ...(options && { options }) }),
    })),
  )

  test('shares the running episode with another env', async () => {
    let current: Env | undefined
    const shared = changed((env) => ({
      reset: (start) => {
        current = env
        return env.reset(start)
      },
      step: (action, options) => (current ?? env).step(action, options),
    }))
    expect(await failing(shared)).toEqual(['two envs at once do not disturb each other'])
  })
})

const leak = (observation: Observation, text: string): Observation => ({
  ...observation,
  turns: observation.turns.map((turn) =>
    turn.outcome.kind === 'answered' ? { ...turn, outcome: { ...turn.outcome, text } } : turn,
  ),
})

test('an env that draws from a shared stream fails every check of sameness', async () => {
  let drawn = 0
  const noisy = withStep((step) => ({ ...step, reward: step.reward + drawn++ }))
  expect(await failing(noisy)).toEqual([
    'one seed gives the same bytes',
    'a later reset is like a fresh env',
    'two envs at once do not disturb each other',
    'a call while a step is under way is refused',
    'a step asked for again by its index is answered as before',
    'another action at the index of a step is refused',
    'an aborted step leaves no trace',
  ])
})

test('actions that never end the episode fail instead of passing in silence', async () => {
  expect(await failing(tinyEnv, { actions: [{ kind: 'ask', text: 'How are you?' }] })).toEqual([
    'the actions end the episode',
    'step after the end is refused',
    'the last step, and no other, says why it stopped',
    'the last step, and no other, carries the finished episode',
  ])
})

test('a truth that is not the case played fails instead of passing in silence', async () => {
  expect(await failing(tinyEnv, { truth: tinyStomach })).toEqual([
    'the diagnosis is not told before the end',
  ])
})

test('without a truth there is no leak check to pass', () => {
  const names = envChecks(tinyEnv, { actions: tinyActions }).map(({ name }) => name)
  expect(names).not.toContain('the diagnosis is not told before the end')
})

test('the doctor may name the diagnosis; only the world may not', async () => {
  const actions = [{ kind: 'ask', text: 'Is it pneumonia?' } as const, ...tinyActions]
  expect(await failing(tinyEnv, { actions })).toEqual([])
})

test('checkEnv reports what passed and what was expected and got', async () => {
  const report = await checkEnv(
    withStep((step) => ({ ...step, reward: Number.POSITIVE_INFINITY })),
    material,
  )
  expect(report.failures).toEqual([
    {
      check: 'every reward is a finite number',
      message: 'Expected a finite reward in step 0, got Infinity',
    },
  ])
  expect(report.passed).toHaveLength(envChecks(tinyEnv, material).length - 1)
})

test('a check says where two playings differ', async () => {
  let odd = false
  const report = await checkEnv(
    () => {
      odd = !odd
      const cases: readonly Case[] = odd ? tinyCases : [...tinyCases].reverse()
      return tinyEnv({ cases })
    },
    { actions: tinyActions },
  )
  const first = report.failures.find(({ check }) => check === 'one seed gives the same bytes')
  expect(first?.message).toMatch(/^the second playing\.start\..*: expected 44, got 31$/)
})
