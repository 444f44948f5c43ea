import { expect, test } from 'vitest'
import { parseSavedEpisode } from '../../src/storage/episode-schema.js'
import { fc } from '../fixtures/property.js'
import { anyPlay } from './arbitrary.js'

const plays = fc.sample(anyPlay, { numRuns: 300, seed: 1 })

test('every arbitrary play is one that could have been saved', () => {
  for (const { episode, truth } of plays) {
    const { budget } = episode
    const limit = (n: number) => (n === Number.POSITIVE_INFINITY ? null : n)
    const written = {
      ...episode,
      budget: { money: limit(budget.money), minutes: limit(budget.minutes) },
    }
    expect(parseSavedEpisode({ episode: written, truth }, 'any').episode).toEqual(episode)
  }
})

test('and they reach what rewards look at', () => {
  const share = (has: (play: (typeof plays)[number]) => boolean) =>
    plays.filter(has).length / plays.length
  expect(share(({ episode }) => episode.stop === 'diagnosed')).toBeGreaterThan(0.4)
  expect(share(({ episode }) => episode.turns.length === 0)).toBeGreaterThan(0)
  expect(
    share(({ episode, truth }) =>
      episode.turns.some(({ facts }) =>
        facts.exams.some((exam) => truth.gold.exams?.required.includes(exam)),
      ),
    ),
  ).toBeGreaterThan(0.1)
  expect(share(({ truth }) => truth.gold.redFlags.length > 0)).toBeGreaterThan(0.5)
})
