import { describe, expect, test } from 'vitest'
import type { Episode } from '../../../src/episode.js'
import { notApplicable, ok } from '../../../src/reward.js'
import { characterLcs } from '../../../src/rewards/text/common-subsequence.js'
import type { OverlapMeasure } from '../../../src/rewards/text/overlap-measures.js'
import { overlapMeasures } from '../../../src/rewards/text/overlap-measures.js'
import type { TextOverlapOptions } from '../../../src/rewards/text/text-overlap.js'
import { textOverlap } from '../../../src/rewards/text/text-overlap.js'
import { rewardChecks } from '../../../src/testing/reward.js'
import { fc } from '../../fixtures/property.js'
import {
  ask,
  diagnose,
  episodeOf,
  influenza,
  present,
  saying,
  truthOf,
} from '../../fixtures/reward-episodes.js'
import { tinyCase } from '../../fixtures/tiny-case.js'

const zh = { language: 'zh' } as const
const advice = { recommendation: { zh: '多喝水，卧床休息。' } }

const advising = (recommendation: string): Episode =>
  episodeOf(
    [{ ...diagnose('流感'), action: { kind: 'diagnose', diagnosis: '流感', recommendation } }],
    zh,
  )

const total = async (episode: Episode, options: TextOverlapOptions = {}, gold: object = advice) =>
  (await textOverlap(options)(episode, truthOf({ gold }))).total

// A keyof of the table itself.
const measures = Object.keys(overlapMeasures) as OverlapMeasure[]

describe.each(measures)('%s', (measure) => {
  const material = [saying('Influenza'), episodeOf([ask(present('cough'))])].map((episode) => ({
    episode,
    truth: tinyCase(),
  }))
  for (const { name, run } of rewardChecks(textOverlap({ measure }), { episodes: material }))
    test(name, run)

  test('stays within its bounds whatever is said', () =>
    fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (said) => {
        const value = (await total(saying(said), { measure })) ?? Number.NaN
        expect(value).toBeGreaterThanOrEqual(0)
        expect(value).toBeLessThanOrEqual(1)
      }),
      { numRuns: 30 },
    ))

  test('is named after what it compares, and says where it is from', () => {
    const { rewardName, source } = textOverlap({ measure, of: 'recommendation' })
    expect(rewardName).toBe(`recommendation-${measure}`)
    expect(source).toMatch(/MrlX|DoctorAgent/)
  })
})

test('the diagnosis is held against the name in the language of the episode', async () => {
  const both = { measure: 'character-lcs' } as const
  expect(await total(saying('Influenza'), both)).toBe(1)
  expect(await total(episodeOf([diagnose('流感')], zh), both)).toBe(1)
  expect(await total(episodeOf([diagnose('Influenza')], zh), both)).toBe(0)
})

test('the recommendation is held against the recorded one, in whatever language it is', async () => {
  const of = 'recommendation'
  expect(await total(advising('多喝水，卧床休息。'), { of })).toBe(1)
  expect(await total(advising('多喝水'), { of, measure: 'character-lcs' })).toBe(3 / 9)
  expect(await total({ ...advising('多喝水，卧床休息。'), language: 'en' }, { of })).toBe(1)
})

test('a case without a text to compare with does not apply; a doctor without one earns nothing', async () => {
  const of = 'recommendation'
  expect(await total(advising('多喝水'), { of }, {})).toBeNull()
  const { parts } = await textOverlap({ of })(advising('多喝水'), truthOf())
  expect(parts).toEqual({ 'recommendation-bag-f1': notApplicable })
  for (const silent of [advising(''), saying('flu'), episodeOf([ask()])])
    expect(await total(silent, { of })).toBe(0)
  expect(await total(episodeOf([ask()]))).toBe(0)
  expect(await total(saying(''))).toBe(0)
})

test('another gold text may be given', async () => {
  const gold: TextOverlapOptions['gold'] = (truth) => truth.gold.dx[0]?.aliases[0]
  expect(await total(saying(influenza.aliases[0] ?? ''), { gold })).toBe(1)
  expect(await total(saying('Influenza'), { gold })).toBe(0)
})

test('words beyond the first 20,000 characters are not read', async () => {
  const long = `${'Influenza'.repeat(1)}${' '.repeat(20_000)}`
  const options = { measure: 'character-lcs' } as const
  expect(await total(saying(long), options)).toBe(9 / 20_000)
  expect(await total(saying(`${' '.repeat(20_000)}Influenza`), options)).toBe(0)
})

test('workers may compute it', async () => {
  const asked: string[][] = []
  const workers = {
    overlap: async (measure: OverlapMeasure, candidate: string, gold: string) => {
      asked.push([measure, candidate, gold])
      return characterLcs(candidate, gold)
    },
  }
  const reward = textOverlap({ measure: 'character-lcs', workers })
  expect((await reward(saying('Influ'), truthOf())).parts).toEqual({
    'diagnosis-character-lcs': ok(5 / 9),
  })
  expect(asked).toEqual([['character-lcs', 'Influ', 'Influenza']])
})

test('workers that fail leave the part unavailable, never 0', async () => {
  const workers = {
    overlap: async (): Promise<number> => {
      throw new Error('the thread is gone')
    },
  }
  const { total, parts } = await textOverlap({ workers })(saying('flu'), truthOf())
  expect(total).toBeNull()
  expect(parts['diagnosis-bag-f1']?.status).toBe('unavailable')
})

test('a measure that does not exist is refused at once, with the ones that do', () => {
  // Not in the type.
  const measure = 'rouge-9' as OverlapMeasure
  expect(() => textOverlap({ measure })).toThrow(/of bag-f1, word-f1, .*got `rouge-9`/)
  expect(() => textOverlap({ measure: 'toString' as OverlapMeasure })).toThrow(RangeError)
})

test('it pays for the wording: what the documentation warns of', async () => {
  const gold = {
    recommendation: { zh: '根据您的症状，您可能得了急性胃炎，建议清淡饮食，多休息。' },
  }
  const wrong = advising('根据您的症状，您可能得了支气管炎，建议清淡饮食，多休息。')
  expect(await total(wrong, { of: 'recommendation' }, gold)).toBeGreaterThan(0.8)
})
