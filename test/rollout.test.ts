import { describe, expect, test } from 'vitest'
import type { Agent, PrivilegedAgent } from '../src/agent.js'
import { graderView } from '../src/case.js'
import type { Env, Observation } from '../src/env.js'
import type { Sample } from '../src/episode.js'
import { Fault } from '../src/error.js'
import type { Reward } from '../src/reward.js'
import { defineReward } from '../src/rewards/define.js'
import { play, rollout } from '../src/rollout.js'
import { tinyActions, tinyEnv, tinyLung } from './fixtures/tiny.js'

const options = { case: tinyLung }
const script: Agent = ({ turns }) => ({ action: tinyActions[turns.length] ?? { kind: 'give-up' } })

const sample = (token: number): Sample => ({
  prompt: [9],
  tokens: [token],
  logprobs: [-0.5],
  policyVersion: 2,
  temperature: 1,
  logprobMode: 'scaled',
  stopReason: 'stop',
})

describe('rollout', () => {
  test('refuses a seed beyond 32 bits by its name, of the env and of the agent', async () => {
    for (const name of ['seed', 'agentSeed'])
      await expect(rollout(tinyEnv(), script, { options, [name]: 2 ** 32 })).rejects.toThrow(
        new RangeError(
          `Expected \`${name}\` to be an integer from 0 to 4294967295, got \`4294967296\``,
        ),
      )
  })

  test('plays to the end and gives what happened', async () => {
    const episode = await rollout(tinyEnv(), script, { options, agentName: 'script' })
    expect(episode).toMatchObject({
      id: 'tiny-lung/0/0',
      caseId: 'tiny-lung',
      agent: 'script',
      end: 'terminated',
      stop: 'diagnosed',
      spent: { money: 50, minutes: 21 },
    })
    expect(episode.turns.map(({ action }) => action)).toEqual(tinyActions)
    expect(episode.turns.map(({ facts }) => facts.told)).toEqual([
      [{ finding: 'fever', state: 'present' }],
      [{ finding: 'shadow', state: 'present' }],
      [],
    ])
  })

  test('shows the agent every observation once, and its own seed', async () => {
    const seen: [Observation, number][] = []
    const watching: Agent = (observation, context) => {
      seen.push([observation, context.seed])
      return script(observation, context)
    }
    await rollout(tinyEnv(), watching, { options, seed: 4, agentSeed: 11 })
    expect(seen.map(([{ turns, turnsLeft }, seed]) => [turns.length, turnsLeft, seed])).toEqual([
      [0, 5, 11],
      [1, 4, 11],
      [2, 3, 11],
    ])
  })

  test("gives the agent the env's seed where it has none of its own", async () => {
    const seeds: number[] = []
    const watching: Agent = (observation, context) => {
      seeds.push(context.seed)
      return script(observation, context)
    }
    const { id, seed } = await rollout(tinyEnv(), watching, { options, seed: 4 })
    expect([seeds, id, seed]).toEqual([[4, 4, 4], 'tiny-lung/4/4', 4])
  })

  test('carries the sample of each move to its turn, and none where there was none', async () => {
    const sampling: Agent = async (observation, context) => {
      const move = await script(observation, context)
      const turn = observation.turns.length
      return turn === 1 ? move : { ...move, sample: sample(turn) }
    }
    const { turns } = await rollout(tinyEnv(), sampling, { options })
    const draw = (turn: number, stream: number) => {
      const { prompt: heard, ...drawn } = sample(turn)
      return [{ role: 'doctor', policy: 'agent', stream, heard, ...drawn }]
    }
    expect(turns.map(({ draws }) => draws)).toEqual([draw(0, 0), undefined, draw(2, 1)])
    expect(turns.map((turn) => 'draws' in turn)).toEqual([true, false, true])
  })

  test('carries the reply as it was written, an empty one too, and none where there was none', async () => {
    const replies = ['<think>flu?</think>Question: Any fever?', '']
    const writing: Agent = async (observation, context) => {
      const text = replies[observation.turns.length]
      const move = await script(observation, context)
      return text === undefined ? move : { ...move, text }
    }
    const { turns } = await rollout(tinyEnv(), writing, { options })
    expect(turns.map((turn) => turn.text)).toEqual([...replies, undefined])
    expect(turns.map((turn) => 'text' in turn)).toEqual([true, true, false])
  })

  test('takes the id it is given', async () => {
    expect((await rollout(tinyEnv(), script, { options, id: '3/1/0' })).id).toBe('3/1/0')
  })

  test('gives the same episode for the same seeds', async () => {
    const play = () => rollout(tinyEnv(), script, { seed: 8 })
    expect(await play()).toEqual(await play())
  })

  test('an agent that throws is a fault, not an episode', async () => {
    const broken: Agent = () => {
      throw new TypeError('no such finding')
    }
    const play = rollout(tinyEnv(), broken, { options, agentName: 'mine' })
    await expect(play).rejects.toMatchObject({
      name: 'Fault',
      code: 'component-failed',
      message: 'mine: no such finding',
    })
  })

  test('a fault of the agent keeps its code', async () => {
    const down = new Fault('model-unavailable', 'no answer')
    await expect(rollout(tinyEnv(), () => Promise.reject(down), { options })).rejects.toBe(down)
  })

  test('a patient that throws is a fault, not an answer', async () => {
    const env = tinyEnv({
      patient: () => {
        throw new Error('asleep')
      },
    })
    await expect(rollout(env, script, { options })).rejects.toMatchObject({
      code: 'component-failed',
      message: 'patient: asleep',
    })
  })

  test('stops at an aborted signal, before the next move', async () => {
    const controller = new AbortController()
    let moves = 0
    const agent: Agent = (observation, context) => {
      if (++moves === 2) controller.abort()
      return script(observation, context)
    }
    const play = rollout(tinyEnv(), agent, { options, signal: controller.signal })
    await expect(play).rejects.toThrow(/abort/i)
    expect(moves).toBe(2)
  })

  test('hands the signal to the agent', async () => {
    const { signal } = new AbortController()
    const seen = new Set<AbortSignal | undefined>()
    const agent: Agent = (observation, context) => {
      seen.add(context.signal)
      return script(observation, context)
    }
    await rollout(tinyEnv(), agent, { options, signal })
    expect([...seen]).toEqual([signal])
  })

  test('refuses an env that ends without an episode', async () => {
    const inner = tinyEnv()
    const env: Env = {
      ...inner,
      step: async (action, given) => {
        const { info, ...step } = await inner.step(action, given)
        const { episode: _, ...rest } = info
        return { ...step, info: rest }
      },
    }
    await expect(rollout(env, script, { options })).rejects.toThrow(
      new TypeError('Expected the last step to carry `info.episode`, got none'),
    )
  })
})

describe('play', () => {
  const seeds = { envSeed: 4, agentSeed: 11 }
  const pays = (name: string, pay: Parameters<typeof defineReward>[1]) =>
    defineReward({ name, bounds: [0, 1] }, pay)
  const half = pays('half', () => 0.5)
  const playing = {
    makeEnv: tinyEnv,
    agent: script,
    agentName: 'script',
    seeds,
    rewards: { half },
  }

  test('gives the episode of the case under its two seeds, and a score under the name of each reward', async () => {
    const turns = pays('turns', (episode) => episode.turns.length / 10)
    const played = await play(tinyLung, { ...playing, rewards: { half, turns } })
    if (Fault.is(played)) throw played
    const { episode, scores } = played
    const { envSeed: seed, agentSeed } = seeds
    expect(episode).toEqual(
      await rollout(tinyEnv(), script, { seed, agentSeed, options, agentName: 'script' }),
    )
    expect(episode.id).toBe('tiny-lung/4/11')
    expect([scores.half.total, scores.turns.total]).toEqual([0.5, 0.3])
    expect(Object.keys(scores)).toEqual(['half', 'turns'])
  })

  test("scores one reward after another, each with the grader's view, the step and the signal", async () => {
    const { signal } = new AbortController()
    const calls: unknown[] = []
    const spy = (name: string): Reward =>
      Object.assign(
        async (...[episode, truth, context]: Parameters<Reward>) => {
          calls.push([`${name} begins`, episode.caseId, truth, context])
          await Promise.resolve()
          calls.push(`${name} ends`)
          return { total: 0, parts: {} }
        },
        { rewardName: name, bounds: [0, 1] as const, source: 'test' },
      )
    const rewards = { b: spy('b'), a: spy('a') }
    await play(tinyLung, { ...playing, rewards, step: 3, signal })
    const heard = ['tiny-lung', graderView(tinyLung), { signal, step: 3 }]
    expect(calls).toEqual([['b begins', ...heard], 'b ends', ['a begins', ...heard], 'a ends'])
  })

  test('takes the id it is given, and no reward where none is wanted', async () => {
    const played = await play(tinyLung, { ...playing, rewards: {}, id: '3/1/0' })
    expect(played).toMatchObject({ episode: { id: '3/1/0' }, scores: {} })
  })

  test('gives a privileged agent the case, and no other agent anything but its observations', async () => {
    const given: unknown[] = []
    const agent: PrivilegedAgent = {
      forCase: (truth) => {
        given.push(truth)
        return script
      },
    }
    const played = await play(tinyLung, { ...playing, agent })
    expect(played).toEqual(await play(tinyLung, playing))
    expect(given).toEqual([tinyLung])
  })

  const down = new Fault('model-unavailable', 'no answer')
  const failing: Readonly<Record<string, Partial<typeof playing>>> = {
    patient: { makeEnv: () => tinyEnv({ patient: () => Promise.reject(down) }) },
    agent: { agent: () => Promise.reject(down) },
    reward: { rewards: { half: Object.assign(() => Promise.reject(down), { ...half }) } },
  }
  test.each(Object.entries(failing))('returns the fault of its %s', async (_, options) => {
    expect(await play(tinyLung, { ...playing, ...options })).toBe(down)
  })

  test.each<[string, Error]>([
    ['a lost backend', new Fault('backend-lost', 'gone')],
    ['an abort', new Fault('aborted', 'stopped')],
  ])('throws %s, which ends more than one episode', async (_, error) => {
    const agent: Agent = () => Promise.reject(error)
    await expect(play(tinyLung, { ...playing, agent })).rejects.toBe(error)
  })

  test("throws an env's own error, and any fault once its signal is aborted", async () => {
    const makeEnv = () => {
      throw new TypeError('no cases')
    }
    await expect(play(tinyLung, { ...playing, makeEnv })).rejects.toThrow(new TypeError('no cases'))
    const stop = new AbortController()
    const agent: Agent = () => {
      stop.abort()
      return Promise.reject(down)
    }
    await expect(play(tinyLung, { ...playing, agent, signal: stop.signal })).rejects.toBe(down)
  })

  test('makes no env once its signal is aborted', async () => {
    const made: Env[] = []
    const makeEnv = () => {
      const env = tinyEnv()
      made.push(env)
      return env
    }
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(play(tinyLung, { ...playing, makeEnv, signal })).rejects.toThrow('enough')
    expect(made).toHaveLength(0)
  })

  test('disposes of the env after the scores, whatever came of it', async () => {
    const order: string[] = []
    const makeEnv = (): Env => ({
      ...tinyEnv(),
      async [Symbol.asyncDispose]() {
        order.push('disposed')
      },
    })
    const noted = pays('noted', () => {
      order.push('scored')
      return 1
    })
    await play(tinyLung, { ...playing, makeEnv, rewards: { noted } })
    expect(order).toEqual(['scored', 'disposed'])
    await play(tinyLung, { ...playing, makeEnv, agent: () => Promise.reject(down) })
    expect(order).toEqual(['scored', 'disposed', 'disposed'])
  })
})
