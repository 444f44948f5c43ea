import { describe, expect, expectTypeOf, test } from 'vitest'
import type { Env, Info, Observation, Step } from '../../src/env.js'
import { ended, termination, transition } from '../../src/env.js'
import { mapReward, onStep, recordEpisodes, timeLimit, wrap } from '../../src/envs/wrappers.js'
import type { Episode } from '../../src/episode.js'
import { rollout } from '../../src/rollout.js'
import { envChecks } from '../../src/testing/env.js'
import type { Action } from '../../src/turn.js'
import { tinyActions, tinyEnv, tinyLung } from '../fixtures/tiny.js'

const options = { case: tinyLung }
const ask: Action = { kind: 'ask', text: 'Do you have a fever?' }

async function play(env: Env, actions: readonly Action[] = tinyActions): Promise<Step[]> {
  await env.reset({ options })
  const steps: Step[] = []
  for (const action of actions) steps.push(await env.step(action))
  return steps
}

describe('timeLimit', () => {
  const limited = () => timeLimit(2)(tinyEnv())

  describe('keeps the env contract when it cuts an episode short', () => {
    const material = { actions: tinyActions, options, truth: tinyLung }
    for (const { name, run } of envChecks(limited, material)) test(name, run)
  })

  describe('keeps the env contract when the env ends by itself', () => {
    const material = { actions: tinyActions.slice(2), options, truth: tinyLung }
    for (const { name, run } of envChecks(limited, material)) test(name, run)
  })

  test('truncates after its turns with an episode of what was seen', async () => {
    const [first, last] = (await play(limited(), tinyActions.slice(0, 2))) as [Step, Step]
    expect(ended(first)).toBe(false)
    expect(last).toMatchObject({ terminated: false, truncated: true, reward: 0 })
    const { episode, stop, score } = last.info
    expect([stop, score]).toEqual(['max-turns', undefined])
    expect(episode).toEqual({
      id: 'tiny-lung/0',
      caseId: 'tiny-lung',
      seed: 0,
      agent: 'agent',
      language: 'en',
      intake: last.observation.intake,
      turns: [first, last].map(({ observation, info }) => ({
        ...observation.turns.at(-1),
        facts: info.facts,
      })),
      end: 'truncated',
      stop: 'max-turns',
      maxTurns: 2,
      spent: last.observation.spent,
      budget: last.observation.budget,
    })
  })

  test('the episode of a shorter limit says what the longer one would have said', async () => {
    const inner = (await play(tinyEnv({ maxTurns: 2 }), tinyActions.slice(0, 2))).at(-1)
    const outer = (await play(limited(), tinyActions.slice(0, 2))).at(-1)
    expect(outer?.info.episode).toEqual(inner?.info.episode)
  })

  test('tells the doctor the turns that are really left', async () => {
    const env = limited()
    const { observation } = await env.reset({ options })
    const next = await env.step(ask)
    expect([observation.turnsLeft, next.observation.turnsLeft]).toEqual([2, 1])
  })

  test('leaves a longer limit to the env inside', async () => {
    const steps = await play(timeLimit(50)(tinyEnv()))
    expect(steps).toEqual(await play(tinyEnv()))
  })

  test('starts anew with every reset', async () => {
    const env = limited()
    await play(env, [ask, ask])
    expect((await play(env, [ask])).map(ended)).toEqual([false])
  })

  for (const turns of [0, -1, 1.5, Number.NaN])
    test(`refuses ${turns} turns`, () => {
      expect(() => timeLimit(turns)).toThrow(
        new RangeError(`Expected \`turns\` to be a positive integer, got \`${turns}\``),
      )
    })
})

describe('mapReward', () => {
  test('pays the mapped reward and leaves the score alone', async () => {
    const steps = await play(
      mapReward((reward, step: Step) => reward * 2 - (ended(step) ? 0 : 0.1))(tinyEnv()),
    )
    expect(steps.map(({ reward }) => reward)).toEqual([-0.1, -0.1, 2])
    expect(steps.at(-1)?.info.score?.total).toBe(1)
  })
})

describe('onStep', () => {
  test('is called once a step with the action, and changes nothing', async () => {
    const seen: unknown[] = []
    const env = onStep((step, action) => {
      seen.push([action, step.reward])
      return 'ignored'
    })(tinyEnv())
    expect(await play(env)).toEqual(await play(tinyEnv()))
    expect(seen).toEqual(tinyActions.map((action, t) => [action, t === 2 ? 1 : 0]))
  })

  test('is waited for', async () => {
    const order: string[] = []
    const env = onStep(async () => {
      await new Promise((resolve) => setTimeout(resolve, 5))
      order.push('seen')
    })(tinyEnv())
    await env.reset({ options })
    await env.step(ask)
    order.push('stepped')
    expect(order).toEqual(['seen', 'stepped'])
  })

  test('does not hear of a step that failed', async () => {
    let calls = 0
    const env = onStep(() => calls++)(tinyEnv())
    await expect(env.step(ask)).rejects.toThrow('Expected reset()')
    expect(calls).toBe(0)
  })
})

describe('recordEpisodes', () => {
  test('hands over every finished episode with its info', async () => {
    const recorded: [Episode, Info][] = []
    const env = recordEpisodes((episode, info) => recorded.push([episode, info]))(tinyEnv())
    const last = (await play(env)).at(-1)
    await play(env, [ask])
    const given = (await play(env, [{ kind: 'give-up' }])).at(-1)
    expect(recorded).toEqual([last, given].map((step) => [step?.info.episode, step?.info]))
  })

  test('lets the error of its sink out', async () => {
    const env = recordEpisodes(() => {
      throw new Error('the disk is full')
    })(tinyEnv())
    await expect(play(env)).rejects.toThrow('the disk is full')
  })
})

describe('wrap', () => {
  test('applies wrappers from the inside out', async () => {
    const recorded: Episode[] = []
    const env = wrap(
      tinyEnv(),
      timeLimit(1),
      mapReward((reward) => reward + 1),
      mapReward((reward) => reward * 10),
      recordEpisodes((episode) => recorded.push(episode)),
    )
    expect((await play(env, [ask])).map(({ reward }) => reward)).toEqual([10])
    expect(recorded.map(({ stop }) => stop)).toEqual(['max-turns'])
  })

  test('gives the env itself without wrappers', () => {
    const env = tinyEnv()
    expect(wrap(env)).toBe(env)
  })

  test('closes the env inside', async () => {
    let closed = 0
    const env: Env = { ...tinyEnv(), close: async () => void closed++ }
    const wrapped = wrap(
      env,
      timeLimit(3),
      onStep(() => {}),
      recordEpisodes(() => {}),
    )
    await wrapped.close()
    expect(closed).toBe(1)
    await wrapped[Symbol.asyncDispose]()
    expect(closed).toBe(2)
    {
      await using _ = wrapped
    }
    expect(closed).toBe(3)
  })

  test('passes the signal on', async () => {
    const env = wrap(
      tinyEnv(),
      timeLimit(3),
      mapReward((reward) => reward),
    )
    await env.reset({ options })
    await expect(env.step(ask, { signal: AbortSignal.abort() })).rejects.toThrow('aborted')
  })

  test('plays in a rollout like any env', async () => {
    const agent = () => ({ action: ask })
    const episode = await rollout(wrap(tinyEnv(), timeLimit(2)), agent, { options })
    expect([episode.turns.length, episode.stop]).toEqual([2, 'max-turns'])
  })

  test('keeps types from one wrapper to the next', () => {
    const env = wrap(
      tinyEnv(),
      timeLimit(3),
      mapReward((reward, step) => reward + step.observation.turnsLeft),
    )
    expectTypeOf(env).toEqualTypeOf<Env<Observation, Action | string>>()
    const counting = wrap(
      counter,
      mapReward((reward, step: Step<number, object>) => reward + step.observation),
    )
    expectTypeOf(counting).toEqualTypeOf<Env<number, number, object>>()
    // @ts-expect-error a time limit reads the doctor's observation, which a counter does not have
    wrap(counter, timeLimit(3))
  })
})

/** An env of another kind: it counts to three. */
const counter: Env<number, number, object> = {
  reset: async () => ({ observation: 0, info: {} }),
  step: async (by) => (by < 3 ? transition(by, {}) : termination(by, { stop: 'enough' })),
  close: async () => {},
  [Symbol.asyncDispose]: async () => {},
}

test('an env of other observations and actions can be wrapped', async () => {
  const env = mapReward((_, step: Step<number, object>) => step.observation)(counter)
  await env.reset()
  expect(await env.step(3)).toMatchObject({ reward: 3, terminated: true })
})
