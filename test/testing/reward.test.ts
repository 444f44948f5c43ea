import { describe, expect, test } from 'vitest'
import type { Episode } from '../../src/episode.js'
import { Fault } from '../../src/error.js'
import type { Part, Reward, Score } from '../../src/reward.js'
import { ok, unavailable } from '../../src/reward.js'
import { rollout } from '../../src/rollout.js'
import { runChecks } from '../../src/testing/check.js'
import type { RewardMaterial } from '../../src/testing/reward.js'
import { rewardChecks } from '../../src/testing/reward.js'
import { tinyActions, tinyEnv, tinyLung, tinyReward, tinyStomach } from '../fixtures/tiny.js'

const episodes = await Promise.all(
  [tinyLung, tinyStomach].map(async (truth) => ({
    truth,
    episode: await rollout(
      tinyEnv(),
      ({ turns }) => ({ action: tinyActions[turns.length] ?? { kind: 'give-up' } }),
      { options: { case: truth } },
    ),
  })),
)
const material: RewardMaterial = { episodes }

/** A reward of one component, whose failure is a part and never a number. */
const careful = (judge: (episode: Episode) => number): Reward =>
  Object.assign(
    async (episode: Episode): Promise<Score> => {
      try {
        const value = judge(episode)
        return { total: value, parts: { judge: ok(value) } }
      } catch (error) {
        if (!Fault.is(error)) throw error
        return { total: null, parts: { judge: unavailable(error.message) } }
      }
    },
    { rewardName: 'careful', bounds: [0, 1] as const, source: 'test' },
  )

const down = (): never => {
  throw new Fault('model-unavailable', 'the judge is down')
}

const failing = async (reward: Reward, more: Partial<RewardMaterial> = {}) =>
  (await runChecks(rewardChecks(reward, { ...material, ...more }))).failures.map(
    ({ check }) => check,
  )

/** The tiny reward with its scores changed. */
const scoring = (
  change: (score: Score, episode: Episode) => Score,
  more: Partial<Pick<Reward, 'bounds' | 'rewardName' | 'source'>> = {},
): Reward =>
  Object.assign(
    async (...given: Parameters<Reward>) => change(await tinyReward(...given), given[0]),
    { rewardName: 'changed', bounds: [0, 1] as const, source: 'test' },
    more,
  )

describe('the tiny reward keeps the reward contract', () => {
  for (const { name, run } of rewardChecks(tinyReward, material)) test(name, run)
})

describe('a reward over a judge that is down keeps the reward contract', () => {
  const checks = rewardChecks(
    careful(() => 0.5),
    { ...material, faulty: careful(down) },
  )
  for (const { name, run } of checks) test(name, run)
})

describe('exactly the broken promise is reported when a reward', () => {
  const only = (what: string, check: string, reward: Reward, more?: Partial<RewardMaterial>) =>
    test(what, async () => expect(await failing(reward, more)).toEqual([check]))

  const declared = 'it declares a name, a source and finite bounds'
  only(
    'has no name',
    declared,
    scoring((score) => score, { rewardName: '' }),
  )
  only(
    'has no source',
    declared,
    scoring((score) => score, { source: '' }),
  )
  only(
    'has an open bound',
    declared,
    scoring((score) => score, { bounds: [0, Number.POSITIVE_INFINITY] }),
  )

  only(
    'pays more than it declared',
    'every total is within the bounds, or null',
    scoring((score) => ({ ...score, total: (score.total ?? 0) + 0.5 })),
  )

  const parts = 'parts are plain and well-formed'
  const withPart = (part: object): Reward =>
    // Not of the union: what a reward in JavaScript may send.
    scoring((score) => ({ ...score, parts: { ...score.parts, extra: part as Part } }))
  only('has a part of NaN', parts, withPart({ status: 'ok', value: Number.NaN }))
  only('has a part of unknown status', parts, withPart({ status: 'failed' }))
  only('gives no reason', parts, withPart({ status: 'unavailable', reason: '' }))
  only(
    'hides a number in a failure',
    parts,
    withPart({ status: 'unavailable', reason: 'x', value: 0 }),
  )

  only(
    'pays fewer turns than there were',
    parts,
    scoring((score) => ({ ...score, turns: [0.5] })),
  )
  only(
    'pays a turn NaN',
    parts,
    scoring((score, { turns }) => ({ ...score, turns: turns.map(() => Number.NaN) })),
  )

  const totals = 'there is a total exactly where something could be judged'
  only(
    'has no total though all was judged',
    totals,
    scoring((score, { caseId }) =>
      caseId === 'tiny-lung' ? score : { total: null, parts: { accuracy: ok(0) } },
    ),
  )
  only(
    'has a total though nothing was judged',
    totals,
    scoring((score) => ({ ...score, parts: { accuracy: unavailable('the judge is down') } })),
  )

  let scored = 0
  only(
    'scores the same episode differently',
    'the same episode gets the same score',
    scoring((score) => ({ ...score, total: (scored++ % 10) / 10 })),
  )

  only(
    'writes into the episode',
    'the episode and the truth are only read',
    scoring((score, episode) => {
      // Mutable on purpose: readonly is a promise of the compiler only.
      ;(episode as { agent: string }).agent = 'marked'
      return score
    }),
  )

  const failure = 'a failed component is never a number'
  only('scores a failure 0', failure, tinyReward, {
    faulty: scoring(() => ({ total: 0, parts: { judge: ok(0) } })),
  })
  only('calls a failure not applicable', failure, tinyReward, {
    faulty: scoring(() => ({ total: null, parts: { judge: { status: 'not-applicable' } } })),
  })
  only('lets the failure out', failure, tinyReward, { faulty: scoring(down) })
})

test('episodes without any total fail instead of passing in silence', async () => {
  expect(await failing(careful(down))).toEqual([
    'there is a total exactly where something could be judged',
  ])
})

test('without a faulty variant there is no check of failures to pass', () => {
  const names = rewardChecks(tinyReward, material).map(({ name }) => name)
  expect(names).not.toContain('a failed component is never a number')
})
