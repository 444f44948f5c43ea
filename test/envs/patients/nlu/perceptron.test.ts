import { describe, expect, test } from 'vitest'
import type { FeatureVector } from '../../../../src/envs/patients/nlu/perceptron.js'
import { trainPerceptron } from '../../../../src/envs/patients/nlu/perceptron.js'
import type { Postings } from '../../../../src/envs/patients/nlu/perceptron-updates.js'
import { finish } from '../../../../src/platform/slices.js'
import { fc } from '../../../fixtures/property.js'

/** Phrases as lists of features, each of weight 1. */
function postingsOf(phrases: readonly (readonly number[])[], size: number): Postings {
  const owners: number[] = []
  const starts = [0]
  for (let feature = 0; feature < size; feature++) {
    phrases.forEach((features, p) => {
      if (features.includes(feature)) owners.push(p)
    })
    starts.push(owners.length)
  }
  return {
    starts: Int32Array.from(starts),
    owners: Int32Array.from(owners),
    weights: new Float64Array(owners.length).fill(1),
  }
}

const train = (
  phrases: readonly (readonly number[])[],
  features: number,
  of: Int32Array,
  size: number,
) => finish(trainPerceptron(postingsOf(phrases, features), of, size)).addScores

const textOf = (features: readonly number[]): FeatureVector => ({
  features: Int32Array.from(features),
  weights: new Float64Array(features.length).fill(1),
  size: features.length,
})

const shared = 0
const own = [1, 2] as const
/** Four phrases of each of two values, which share one feature and have one of their own. */
const of = Int32Array.from([0, 0, 0, 0, 1, 1, 1, 1])
const phrases = Array.from(of, (value) => [shared, own[value]!])

describe('what tells values apart', () => {
  test('raises the value whose own feature a text has, and lowers its rival', () => {
    const tell = train(phrases, 3, of, 2)
    const scores = Float64Array.from([0.5, 0.5])
    tell(textOf([shared, own[0]]), scores)
    expect(scores[0]).toBeGreaterThan(0.5)
    expect(scores[1]).toBeLessThan(0.5)
  })

  test('gives the feature that both have to neither', () => {
    const tell = train(phrases, 3, of, 2)
    const scores = Float64Array.from([0.5, 0.5])
    tell(textOf([shared]), scores)
    expect(Math.abs(scores[0]! - scores[1]!)).toBeLessThan(0.1)
  })

  test('says nothing of a value that a text has nothing in common with', () => {
    const tell = train(phrases, 3, of, 2)
    const scores = Float64Array.from([0.5, 0])
    tell(textOf([own[0]]), scores)
    expect(scores[1]).toBe(0)
  })

  test('learns nothing of a feature that fewer than four phrases have', () => {
    const tell = train([[1], [1], [1], [2]], 3, Int32Array.from([0, 0, 0, 1]), 2)
    const scores = Float64Array.from([0.5, 0.5])
    tell(textOf([1, 2]), scores)
    expect([...scores]).toEqual([0.5, 0.5])
  })

  test('tells any phrases apart that have features of their own', () => {
    // Features 3v to 3v + 2 belong to value v, the last to everybody.
    const phrase = fc.uniqueArray(fc.nat(2), { minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(fc.array(phrase, { minLength: 3, maxLength: 8 }), (made) => {
        const all = [0, 1, 2].flatMap((value) =>
          made.flatMap((mine) =>
            // Four of each, so that none is too rare to learn of.
            Array.from({ length: 4 }, () => [...mine.map((n) => 3 * value + n), 9]),
          ),
        )
        const values = Int32Array.from(all, (_, p) => Math.floor((3 * p) / all.length))
        const tell = train(all, 10, values, 3)
        all.forEach((features, p) => {
          const scores = new Float64Array(3).fill(0.5)
          tell(textOf(features), scores)
          expect(scores.indexOf(Math.max(...scores))).toBe(values[p])
        })
      }),
      { numRuns: 50 },
    )
  })
})
