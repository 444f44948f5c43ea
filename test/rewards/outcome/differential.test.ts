import { describe, expect, test } from 'vitest'
import {
  differentialAgreement,
  differentialBrier,
  differentialF1,
  differentialSpherical,
} from '../../../src/rewards/outcome/differential.js'
import { fc } from '../../fixtures/property.js'
import { truthOf } from '../../fixtures/reward-episodes.js'
import { among, formulary, givingUp, stating, total } from '../../fixtures/stating.js'

const differential = [
  { id: 'influenza', p: 0.6 },
  { id: 'pneumonia', p: 0.3 },
  { id: 'cold', p: 0.1 },
  { id: 'asthma', p: 0.005 },
]
const truth = truthOf({ gold: { differential } })
const f1 = differentialF1({ formulary })
const grave = differentialF1({ formulary, grave: true })
const brier = differentialBrier({ formulary })
const spherical = differentialSpherical({ formulary })
const agreement = differentialAgreement({ formulary })

describe('F1 of the set', () => {
  test.each<[string, number, string, string[]]>([
    ['all three', 1, 'flu', ['pneumonia', 'cold']],
    ['whatever the order', 1, 'cold', ['pneumonia', 'flu']],
    ['one of three', 2 / 4, 'flu', []],
    ['two of three and a wrong one', 4 / 6, 'flu', ['pneumonia', 'gout']],
    ['below .01 is not of it', 6 / 7, 'flu', ['pneumonia', 'cold', 'asthma']],
    ['and may be listed as such', 1, 'flu', ['pneumonia', 'cold', 'asthma@0.005']],
    ['a repeat counts once', 2 / 4, 'flu', ['influenza', '流感']],
    ['what nobody knows counts as named', 2 / 5, 'flu', ['moon fever']],
    ['a list is one name, of nothing', 0, 'flu, pneumonia, cold', []],
  ])('%s: %f', async (_, value, diagnosis, others) => {
    const episode = stating(diagnosis, { differential: among(...others) })
    expect(await total(f1, episode, truth)).toBeCloseTo(value, 12)
  })

  test('to list everything is paid what ten places hold', async () => {
    const all = formulary.flatMap(({ names }) => names.slice(0, 1)).reverse()
    const [first = '', ...rest] = all
    const value = await total(f1, stating(first, { differential: among(...rest) }), truth)
    expect(value).toBeCloseTo((2 * 2) / (10 + 3), 12)
  })

  test('of the grave ones alone', async () => {
    expect(await total(grave, stating('flu'), truth)).toBe(0)
    const both = stating('flu', { differential: among('Lung infection', 'gout') })
    expect(await total(grave, both, truth)).toBe(1)
    const more = stating('flu', { differential: among('pneumonia', 'PE', 'moon fever') })
    expect(await total(grave, more, truth)).toBeCloseTo(2 / 3, 12)
  })

  test('does not apply where there is nothing to compare with', async () => {
    expect(await total(f1, stating('flu'), truthOf())).toBeNull()
    const mild = truthOf({ gold: { differential: [{ id: 'influenza', p: 1 }] } })
    expect(await total(grave, stating('flu'), mild)).toBeNull()
    expect(await total(f1, stating('flu'), mild)).toBe(1)
  })
})

describe('the stated probabilities as a bet', () => {
  test.each<[string, number, string, number | undefined, string[]]>([
    ['right and sure', 1, 'flu', 1, []],
    ['right, unqualified', 1, 'flu', undefined, []],
    ['wrong and sure', 0, 'gout', 1, []],
    ['wrong, unqualified', 0, 'gout', undefined, []],
    ['nothing that is known', 0, 'moon fever', 0.4, ['sun fever@0.6']],
    // 1 - (.4² + .4²) / 2: what is left over is in one place, where the truth is not.
    ['right at .6, the rest left over', 0.84, 'flu', 0.6, []],
    // 1 - (.4² + .3² + .1²) / 2
    ['right at .6, the rest told apart', 0.87, 'flu', 0.6, ['pneumonia@0.3', 'cold@0.1']],
    ['names without a number say nothing', 0.84, 'flu', 0.6, ['pneumonia', 'cold', 'gout']],
    [
      'the diagnosis has what the differential leaves',
      0.87,
      'flu',
      undefined,
      ['pneumonia@0.3', 'cold@0.1'],
    ],
    ['a repeat is not a second bet', 0.84, 'flu', 0.6, ['influenza@0.4']],
    // Scaled to .5 and .5.
    ['more than all is scaled', 0.75, 'flu', 0.8, ['gout@0.8']],
    ['sure of nothing', 0, 'flu', 0, []],
  ])('%s: %f', async (_, value, diagnosis, confidence, others) => {
    const beside = confidence === undefined ? {} : { confidence }
    const episode = stating(diagnosis, { ...beside, differential: among(...others) })
    expect(await total(brier, episode, truth)).toBeCloseTo(value, 12)
  })

  test('a probability that is none is not stated', async () => {
    for (const confidence of [-1, 2, Number.NaN, Number.POSITIVE_INFINITY])
      expect(await total(brier, stating('flu', { confidence }), truth)).toBe(1)
  })

  test('an honest statement beats any other, in expectation, by both scores', async () => {
    const ids = ['influenza', 'pneumonia', 'cold']
    const worlds = ids.map((id) =>
      truthOf({ gold: { dx: [{ id, name: { en: id }, role: 'primary' }] } }),
    )
    const stated = ([a, b, c]: readonly number[]) =>
      stating('influenza', {
        confidence: a ?? 0,
        differential: among(`pneumonia@${b}`, `cold@${c}`),
      })
    const share = fc.integer({ min: 1, max: 20 })
    const shares = fc.tuple(share, share, share).map((parts) => {
      const sum = parts.reduce((all, n) => all + n, 0)
      return parts.map((n) => n / sum)
    })
    await fc.assert(
      fc.asyncProperty(shares, shares, async (belief, other) => {
        for (const score of [brier, spherical]) {
          const expected = async (say: readonly number[]) => {
            let sum = 0
            for (const [i, world] of worlds.entries())
              sum += belief[i]! * ((await total(score, stated(say), world)) ?? Number.NaN)
            return sum
          }
          expect(await expected(belief)).toBeGreaterThanOrEqual((await expected(other)) - 1e-12)
        }
      }),
      { numRuns: 50 },
    )
  })

  test('the spherical score starts at 0', async () => {
    const even = (...names: string[]) =>
      stating(names[0] ?? '', {
        confidence: 0.1,
        differential: among(...names.slice(1).map((name) => `${name}@0.1`)),
      })
    const others = formulary.slice(1).map(({ id }) => id)
    expect(await total(spherical, even(...others), truth)).toBe(0)
    expect(await total(brier, even(...others), truth)).toBeCloseTo(0.45, 12)
    const withIt = even('influenza', ...others.slice(1))
    expect(await total(spherical, withIt, truth)).toBeCloseTo(Math.sqrt(0.1), 12)
    expect(await total(spherical, stating('flu'), truth)).toBe(1)
  })
})

describe('agreement with the posterior', () => {
  test.each<[string, number, string, number, string[]]>([
    [
      'the same',
      1,
      'flu',
      0.6 / 1.005,
      ['pneumonia@0.2985075', 'cold@0.0995025', 'asthma@0.0049751'],
    ],
    ['all on the likeliest', 0.6 / 1.005, 'flu', 1, []],
    ['all on the least likely', 0.005 / 1.005, 'asthma', 1, []],
    ['elsewhere', 0, 'gout', 0.5, ['moon fever@0.5']],
  ])('%s: %f', async (_, value, diagnosis, confidence, others) => {
    const episode = stating(diagnosis, { confidence, differential: among(...others) })
    expect(await total(agreement, episode, truth)).toBeCloseTo(value, 6)
  })

  test('does not apply without one', async () => {
    expect(await total(agreement, stating('flu'), truthOf())).toBeNull()
    const none = truthOf({ gold: { differential: [{ id: 'influenza', p: 0 }] } })
    expect(await total(agreement, stating('flu'), none)).toBeNull()
  })
})

test('no diagnosis states nothing', async () => {
  for (const reward of [f1, grave, brier, spherical, agreement])
    expect(await total(reward, givingUp, truth)).toBe(0)
})
