import { describe, expect, test } from 'vitest'
import { graderView } from '../../src/case.js'
import { Fault } from '../../src/error.js'
import { loadKnowledge } from '../../src/knowledge/load.js'
import type { Reward } from '../../src/reward.js'
import { notApplicable } from '../../src/reward.js'
import { otherwise, weigh } from '../../src/rewards/combinators/compose.js'
import { defineReward } from '../../src/rewards/define.js'
import { namedReward, presetNames, rewardNames } from '../../src/rewards/named.js'
import { formularyOf } from '../../src/rewards/outcome/formulary.js'
import { fc } from '../fixtures/property.js'
import type { Play } from './arbitrary.js'
import { anyCase, anyEpisode, anyPlay } from './arbitrary.js'

const knowledge = loadKnowledge()
const formulary = formularyOf(knowledge)
const components = rewardNames.filter((name) => !presetNames.includes(name))
const make = (name: string): Reward => namedReward(name, { knowledge, formulary })
const judge = (reward: Reward, { episode, truth }: Play) => reward(episode, truth)

describe.each(components)('%s, on any consultation on any case', (name) => {
  const reward = make(name)

  test('keeps within finite bounds, or says that it does not apply', () =>
    fc.assert(
      fc.asyncProperty(anyPlay, async (play) => {
        const [low, high] = reward.bounds
        expect(Number.isFinite(low) && Number.isFinite(high)).toBe(true)
        const { total, parts } = await judge(reward, play)
        if (total === null) expect(Object.values(parts)).toEqual([notApplicable])
        else {
          expect(total).toBeGreaterThanOrEqual(low)
          expect(total).toBeLessThanOrEqual(high)
        }
      }),
      { numRuns: 60 },
    ))

  test('added where it does not apply, it changes nothing; over a failed judge, it is no number', () =>
    fc.assert(
      fc.asyncProperty(anyPlay, async (play) => {
        const sure = defineReward({ name: 'sure', bounds: [0, 1] }, () => 0.3)
        const with_ = weigh({ sure: [2, sure], added: [1, reward] })
        const { parts, total } = await judge(with_, play)
        if (parts.added?.status === 'not-applicable') expect(total).toBe(0.3)
        const down = (): never => {
          throw new Fault('model-unavailable', 'the judge is down')
        }
        const failed = weigh({ own: [1, otherwise(reward, 0)], judge: [1, down] })
        expect((await judge(failed, play)).total).toBeNull()
      }),
      { numRuns: 20 },
    ))
})

test('the order of parts changes nothing', () =>
  fc.assert(
    fc.asyncProperty(
      anyPlay,
      fc.shuffledSubarray(components.slice(), { minLength: 2 }),
      fc.nat(),
      async (play, names, turn) => {
        const rotated = [
          ...names.slice(turn % names.length),
          ...names.slice(0, turn % names.length),
        ]
        const weighed = (order: readonly string[]) =>
          weigh(
            Object.fromEntries(
              order.map((name): [string, [number, Reward]] => [name, [name.length, make(name)]]),
            ),
          )
        const [one, other] = [
          await judge(weighed(names), play),
          await judge(weighed(rotated), play),
        ]
        expect(other.parts).toEqual(one.parts)
        if (one.total === null) expect(other.total).toBeNull()
        else expect(other.total ?? Number.NaN).toBeCloseTo(one.total, 12)
      },
    ),
    { numRuns: 30 },
  ))

/** These do not apply where nothing was required and nothing done, or where nobody spoke; their docs say why. */
const byConduct = ['communication', 'exam-f1', 'exam-precision', 'exam-iou', 'information-gain']
const own = components.filter((name) => !byConduct.includes(name))

test('whether a component applies is the case’s doing, and never the doctor’s', () =>
  fc.assert(
    fc.asyncProperty(
      anyCase.chain((truth) => {
        // An episode that never began is unavailable, whoever did not begin it.
        const begun = anyEpisode(truth).filter(({ turns }) => turns.length > 0)
        return fc.tuple(fc.constant(truth), begun, begun)
      }),
      async ([truth, ...episodes]) => {
        for (const name of own) {
          const reward = make(name)
          const [one, other] = await Promise.all(
            episodes.map(
              async (episode) => (await reward(episode, graderView(truth))).total === null,
            ),
          )
          expect([name, other]).toEqual([name, one])
        }
      },
    ),
    { numRuns: 40 },
  ))

test('rules show what they judged on', async () => {
  const [play] = fc.sample(anyPlay, { numRuns: 1, seed: 7 })
  const parts = await Promise.all(
    ['cost', 'time', 'invasiveness', 'format', 'repetition', 'one-question'].map(
      async (name) => (await judge(make(name), play!)).parts[name],
    ),
  )
  for (const part of parts) expect(part?.status === 'ok' && part.evidence).toBeTruthy()
})
