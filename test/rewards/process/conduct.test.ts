import { describe, expect, test } from 'vitest'
import type { EpisodeTurn } from '../../../src/episode.js'
import { communication } from '../../../src/rewards/process/conduct.js'
import { efficiency } from '../../../src/rewards/process/savings.js'
import { noHarm } from '../../../src/rewards/safety/safety.js'
import {
  ask,
  diagnose,
  episodeOf,
  invalid,
  order,
  truthOf,
} from '../../fixtures/reward-episodes.js'

const truth = truthOf({ gold: { exams: { harmful: ['contrast-ct'] } } })

describe('communication', () => {
  const judge = async (...turns: EpisodeTurn[]) =>
    (await communication()(episodeOf([...turns, diagnose('flu')]), truth)).total

  test.each(['answered', 'unknown', 'exam-only', 'open'] as const)(
    'one question taken for `%s` is good form',
    async (understood) => {
      expect(await judge(ask([], { understood }))).toBe(1)
    },
  )

  test.each(['repeated', 'unclear', 'refused', 'courtesy'] as const)(
    'an utterance taken for `%s` is not',
    async (understood) => {
      expect(await judge(ask([], { understood }))).toBe(0)
    },
  )

  test.each([0, 2, 5])('%i questions in a turn are not good form', async (questions) => {
    expect(await judge(ask([], { questions }))).toBe(0)
  })

  test('an order is good form when it brings something new', async () => {
    expect(await judge(order('cbc'))).toBe(1)
    expect(await judge(order('cbc'), order('cbc'))).toBe(0.5)
    expect(await judge(order('cbc'), order('cbc', 'film'))).toBe(1)
    expect(await judge(order())).toBe(0)
    const rejected = { ...order(), outcome: { kind: 'rejected', text: 'unknown' } } as const
    expect(await judge(rejected)).toBe(0)
  })

  test('it is the share of all turns, unreadable ones included, the diagnosis not', async () => {
    expect(await judge(ask(), ask(), order('cbc'), invalid)).toBe(0.75)
  })

  test('a doctor who did nothing but diagnose has none', async () => {
    expect(await judge()).toBeNull()
  })
})

describe('efficiency', () => {
  const judge = async (money: number, turns: number, budget = 200) => {
    const episode = episodeOf(new Array<EpisodeTurn>(turns).fill(ask()), {
      spent: { money, minutes: 0 },
      budget: { money: budget, minutes: 0 },
    })
    return (await efficiency()(episode, truth)).total
  }

  test('halves go to money and turns', async () => {
    expect(await judge(0, 0)).toBe(1)
    expect(await judge(200, 0)).toBe(0.5)
    expect(await judge(0, 10)).toBe(0.5)
    expect(await judge(100, 5)).toBe(0.5)
    expect(await judge(200, 10)).toBe(0)
  })

  test('a budget without end is never used up, and an empty one is by the first coin', async () => {
    expect(await judge(1e9, 0, Number.POSITIVE_INFINITY)).toBe(1)
    expect(await judge(0, 0, 0)).toBe(1)
    expect(await judge(1, 0, 0)).toBe(0.5)
  })

  test('overspending stays within the bounds', async () => {
    expect(await judge(1000, 10)).toBe(0)
  })
})

describe('no harm', () => {
  const judge = async (...exams: string[]) =>
    (await noHarm()(episodeOf([order(...exams)]), truth)).total

  test('a harmful examination carried out is 0, also inside a panel', async () => {
    expect(await judge('contrast-ct')).toBe(0)
    expect(await judge('cbc', 'contrast-ct')).toBe(0)
    expect(await judge('cbc')).toBe(1)
  })

  test('a case that names none cannot be harmed', async () => {
    expect((await noHarm()(episodeOf([order('contrast-ct')]), truthOf())).total).toBe(1)
  })
})
