import { expect, test } from 'vitest'
import type { Sample } from '../../../src/episode.js'
import { episodeSegments } from '../../../src/trainers/batches/segments.js'
import { sampledEpisode as episode } from '../../fixtures/draws.js'
import { fc } from '../../fixtures/property.js'

const sample = (prompt: readonly number[], tokens: readonly number[]): Sample => ({
  prompt,
  tokens,
  logprobs: tokens.map((token) => -token / 100),
  policyVersion: 3,
  temperature: 1,
  logprobMode: 'scaled',
  stopReason: 'stop',
})

test('masks what the world wrote and carries what the policy drew', () => {
  const { segments, forks } = episodeSegments(
    episode([sample([1, 2], [3]), undefined, sample([1, 2, 3, 4, 5], [6, 7])]),
    0.5,
    'g',
  )
  expect(forks).toBe(0)
  expect(segments).toHaveLength(1)
  const [one] = segments
  expect([...(one?.tokens ?? [])]).toEqual([1, 2, 3, 4, 5, 6, 7])
  expect(one?.promptLength).toBe(2)
  expect([...(one?.mask ?? [])]).toEqual([1, 0, 0, 1, 1])
  expect([...(one?.advantages ?? [])]).toEqual([0.5, 0, 0, 0.5, 0.5])
  expect([...(one?.policyVersions ?? [])]).toEqual([3, -1, -1, 3, 3])
  expect([...(one?.logprobs ?? [])]).toEqual([...Float32Array.of(-0.03, 0, 0, -0.06, -0.07)])
})

test('a prompt that rewrites history forks the segment and is counted', () => {
  const { segments, forks } = episodeSegments(
    episode([sample([1, 2], [3]), sample([1, 9, 3, 4], [5])]),
    1,
    'g',
  )
  expect(forks).toBe(1)
  expect(segments.map(({ rolloutId }) => rolloutId)).toEqual(['e', 'e'])
})

test('an episode without samples makes no segment', () => {
  expect(episodeSegments(episode([undefined]), 1, 'g')).toEqual({ segments: [], forks: 0 })
})

test('every drawn token is carried exactly once, whatever the stream', () => {
  const parts = fc.array(
    fc.record({
      world: fc.array(fc.nat(50), { minLength: 1, maxLength: 5 }),
      drawn: fc.array(fc.nat(50), { minLength: 1, maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 6 },
  )
  fc.assert(
    fc.property(parts, (stream) => {
      const samples: Sample[] = []
      let all: number[] = []
      for (const { world, drawn } of stream) {
        all = [...all, ...world]
        samples.push(sample(all, drawn))
        all = [...all, ...drawn]
      }
      const { segments } = episodeSegments(episode(samples), 1, 'g')
      const [one] = segments
      expect([...(one?.tokens ?? [])]).toEqual(all)
      const drawn = [...(one?.tokens ?? [])].filter(
        (_, i) => one?.mask[i - (one?.promptLength ?? 0)] === 1,
      )
      expect(drawn).toEqual(stream.flatMap((part) => part.drawn))
    }),
  )
})

test('a prompt that rewrites what was drawn, or ends before it, forks the segment', () => {
  for (const prompt of [
    [1, 2, 9, 4],
    [1, 2],
  ])
    expect(episodeSegments(episode([sample([1, 2], [3]), sample(prompt, [5])]), 1, 'g').forks).toBe(
      1,
    )
})
