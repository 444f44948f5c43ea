import { describe, expect, test } from 'vitest'
import type { Backend } from '../../../src/backend.js'
import type { Loss } from '../../../src/batch.js'
import type { Episode } from '../../../src/episode.js'
import { criticBatch } from '../../../src/trainers/batches/critic-batch.js'
import { embedded } from '../../../src/trainers/embedded/embedded.js'
import { batchOf, played, segmentsOf, targetsOf, train } from '../embedded/batches.js'
import { right, words } from '../embedded/play.js'

const loss: Loss = { kind: 'ppo-clip', low: 0.2, high: 0.2, entropy: 0 }

/** A backend with a past: weights, a critic and a reference that differs from both. */
async function experienced(): Promise<Backend> {
  const backend = embedded({ actionSpace: words })
  await train(backend, 3)
  backend.keepReference?.()
  for (let step = 0; step < 4; step++) {
    const episodes = await played(backend, 6, { seed: step })
    const segments = segmentsOf(episodes)
    await backend.step(batchOf(backend, segments, targetsOf(segments, episodes)))
  }
  return backend
}

const scored = (episodes: readonly Episode[]) =>
  episodes.map((episode) => ({ episode, score: { total: right(episode), parts: {} } }))

/** As a policy would have drawn it that forgets what it read: one segment per move. */
const forked = (episode: Episode): Episode => ({
  ...episode,
  turns: episode.turns.map((turn, t) => {
    const draws = turn.draws?.map((draw) => ({ ...draw, stream: t, heard: [t, ...draw.heard] }))
    return draws ? { ...turn, draws } : turn
  }),
})

const drawn = (mask: Uint8Array, row: ArrayLike<number>): number[] =>
  [...mask].flatMap((one, t) => (one ? [row[t] ?? Number.NaN] : []))

/** What a token's place says of it, episode by episode. */
const numbersOf = (examples: Awaited<ReturnType<typeof criticBatch>>) =>
  examples.map(({ segments, returns, oldValues }) => ({
    returns: segments.flatMap(({ mask }, s) => drawn(mask, returns[s] ?? [])),
    values: segments.flatMap(({ mask }, s) => drawn(mask, oldValues[s] ?? [])),
    advantages: segments.flatMap(({ mask, advantages }) => drawn(mask, advantages)),
  }))

describe('examples', () => {
  test('with gamma and lambda 1 return the total at every token, whatever the critic says', async () => {
    const backend = await experienced()
    const members = scored(await played(backend, 6))
    const examples = numbersOf(await criticBatch({ backend, loss, lambda: 1 }, members))
    expect(examples.flatMap(({ values }) => values).some((value) => value !== 0)).toBe(true)
    examples.forEach(({ returns }, i) => {
      for (const value of returns) expect(value).toBeCloseTo(members[i]?.score.total ?? Number.NaN)
    })
  })

  test('take the penalty of a token and of those after it off its return', async () => {
    const backend = await experienced()
    const members = scored(await played(backend, 6))
    const rewardKl = { estimator: 'k1', coefficient: 0.3 } as const
    const examples = await criticBatch({ backend, loss, lambda: 1, rewardKl }, members)
    for (const [i, { segments, returns }] of examples.entries()) {
      const reference = (await backend.logprobs?.(segments, { reference: true })) ?? []
      let expected = members[i]?.score.total ?? Number.NaN
      segments.forEach(({ mask, logprobs }, s) => {
        const [p, q] = [drawn(mask, logprobs), drawn(mask, reference[s] ?? [])]
        const got = drawn(mask, returns[s] ?? [])
        for (let n = got.length - 1; n >= 0; n--) {
          expected -= 0.3 * ((p[n] ?? Number.NaN) - (q[n] ?? Number.NaN))
          expect(got[n]).toBeCloseTo(expected, 5)
        }
      })
    }
    const distances = numbersOf(examples).map(
      ({ returns }, i) => (returns[0] ?? Number.NaN) - (members[i]?.score.total ?? Number.NaN),
    )
    expect(distances.some((distance) => Math.abs(distance) > 0.01)).toBe(true)
  })

  test('follow Schulman’s recursion by the critic', async () => {
    const backend = await experienced()
    const members = scored(await played(backend, 6))
    const options = { backend, loss, gamma: 0.9, lambda: 0.7 }
    numbersOf(await criticBatch(options, members)).forEach(({ returns, values }, i) => {
      let [gain, next] = [0, 0]
      for (let n = values.length - 1; n >= 0; n--) {
        const value = values[n] ?? Number.NaN
        const reward = n === values.length - 1 ? (members[i]?.score.total ?? Number.NaN) : 0
        gain = reward + 0.9 * next - value + 0.9 * 0.7 * gain
        expect(returns[n]).toBeCloseTo(gain + value, 5)
        next = value
      }
    })
  })

  test('run on over the segments of one episode as over one', async () => {
    // Fresh: its critic is 0 everywhere, so that only the recursion can tell two episodes apart.
    const backend = embedded({ actionSpace: words })
    const whole = scored(await played(backend, 8))
    const parted = whole.map(({ episode, score }) => ({ episode: forked(episode), score }))
    const options = { backend, loss, gamma: 0.9, lambda: 0.8 }
    const [one, many] = [await criticBatch(options, whole), await criticBatch(options, parted)]
    expect(many.some(({ segments }) => segments.length > 1)).toBe(true)
    expect(numbersOf(many)).toEqual(numbersOf(one))
  })

  test('leave out what has no total or drew nothing, and are none of nothing', async () => {
    const backend = embedded({ actionSpace: words })
    const [first, second, third] = scored(await played(backend, 3)) as [
      ReturnType<typeof scored>[number],
      ReturnType<typeof scored>[number],
      ReturnType<typeof scored>[number],
    ]
    const unscored = { ...second, score: { total: null, parts: {} } }
    const { turns } = third.episode
    const undrawn = {
      ...third,
      episode: { ...third.episode, turns: turns.map(({ draws: _, ...turn }) => turn) },
    }
    const examples = await criticBatch({ backend, loss }, [undrawn, first, unscored])
    expect(examples.map(({ segments }) => segments[0]?.rolloutId)).toEqual([first.episode.id])
    expect(await criticBatch({ backend, loss }, [unscored, undrawn])).toEqual([])
  })

  test('hold what a correction and a penalty of the loss need', async () => {
    const backend = await experienced()
    const members = scored(await played(backend, 2))
    const needy: Loss = {
      ...{ kind: 'ppo-clip', low: 0.2, high: 0.2, entropy: 0 },
      kl: { estimator: 'k3', coefficient: 0.01 },
      correction: { level: 'token', mode: 'truncate', max: 2 },
    }
    for (const { segments } of await criticBatch({ backend, loss: needy }, members))
      for (const { logprobs, oldLogprobs, refLogprobs } of segments) {
        expect(oldLogprobs).toEqual(logprobs)
        expect(refLogprobs).not.toEqual(logprobs)
      }
  })
})
