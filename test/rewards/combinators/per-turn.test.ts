import { describe, expect, test } from 'vitest'
import type { Case } from '../../../src/case.js'
import { Fault } from '../../../src/error.js'
import { unavailable } from '../../../src/reward.js'
import { perTurn } from '../../../src/rewards/combinators/per-turn.js'
import { rewardChecks } from '../../../src/testing/reward.js'
import { tokenTurns, turnRewards } from '../../../src/trainers/advantages/turn-rewards.js'
import { fc } from '../../fixtures/property.js'
import {
  ask,
  diagnose,
  episodeOf,
  order,
  present,
  truthOf,
} from '../../fixtures/reward-episodes.js'
import { anyPlay } from '../arbitrary.js'

const truth = truthOf()
/** What an early user would write: .5 for every finding told for the first time, -.25 for a turn that told none. */
const news = perTurn(
  { name: 'news', bounds: [0, 1], each: [-0.25, 1] },
  ({ action, facts }, { before }) => {
    if (action.kind === 'diagnose') return null
    const known = new Set(before.flatMap((turn) => turn.facts.told.map(({ finding }) => finding)))
    const fresh = new Set(facts.told.map(({ finding }) => finding).filter((id) => !known.has(id)))
    return Math.min(1, fresh.size / 2) || -0.25
  },
)

describe('perTurn', () => {
  const play = [ask(present('fever')), ask(present('fever')), order('cbc'), diagnose('flu')]

  test('gives what each turn is worth, and their sum within the bounds', async () => {
    const { total, turns, parts } = await news(episodeOf(play), truth)
    expect([turns, total]).toEqual([[0.5, -0.25, -0.25, 0], 0])
    expect(Object.keys(parts)).toEqual(['news'])
    const rich = episodeOf(['a', 'b', 'c', 'd'].map((id) => ask(present(id))))
    expect((await news(rich, truth)).total).toBe(1)
  })

  test('is what turn-level credit puts on the tokens', async () => {
    const { turns = [] } = await news(episodeOf(play), truth)
    const tokens = tokenTurns([Uint8Array.from([0, 1, 1, 0, 1, 1, 1])], [2, 1, 1, 1])
    expect([...(turnRewards(tokens, turns)[0] ?? [])]).toEqual([0, 0, 0.5, 0, -0.25, -0.25, 0])
  })

  test('turns are seen in order, each with those before it', async () => {
    const seen: number[] = []
    const watching = perTurn(
      { name: 'w', bounds: [0, 1] },
      (_, { before, episode, truth: view }) => {
        seen.push(before.length)
        expect([episode.id, view]).toEqual(['episode', truth])
        return 0
      },
    )
    await watching(episodeOf(play), truth)
    expect(seen).toEqual([0, 1, 2, 3])
  })

  test('a consultation without turns is worth 0, held within the bounds', async () => {
    expect(await news(episodeOf([]), truth)).toMatchObject({ total: 0, turns: [] })
    const high = perTurn({ name: 'h', bounds: [0.5, 1], each: [0, 1] }, () => 0)
    expect((await high(episodeOf([]), truth)).total).toBe(0.5)
  })

  test.each([1.5, -0.5, Number.NaN])(
    'a turn worth %s breaks its bounds and says so',
    async (wrong) => {
      const reward = perTurn({ name: 'wrong', bounds: [0, 1] }, () => wrong)
      await expect(reward(episodeOf(play), truth)).rejects.toThrow(
        new RangeError(`Expected turn 0 of reward \`wrong\` to be within [0, 1], got ${wrong}`),
      )
    },
  )

  test('a fault makes it unavailable, without turns', async () => {
    const down = perTurn({ name: 'down', bounds: [0, 1] }, () => {
      throw new Fault('model-unavailable', 'down')
    })
    expect(await down(episodeOf(play), truth)).toEqual({
      total: null,
      parts: { down: unavailable('down') },
    })
  })

  test('bounds that are none are refused', () => {
    expect(() => perTurn({ name: 'n', bounds: [1, 0] }, () => 0)).toThrow('Expected bounds of `n`')
    expect(() => perTurn({ name: 'n', bounds: [0, 1], each: [1, 0] }, () => 0)).toThrow(
      'Expected bounds of `each turn of n`',
    )
  })

  const plays: { episode: Parameters<typeof news>[0]; truth: Case }[] = fc
    .sample(anyPlay, { numRuns: 40, seed: 3 })
    .map(({ episode, case: whole }) => ({ episode, truth: whole }))
  for (const { name, run } of rewardChecks(news, { episodes: plays })) test(name, run)
})
