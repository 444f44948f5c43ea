import { describe, expect, test } from 'vitest'
import { bagF1, wordF1, wordTokens } from '../../../src/rewards/text/bag-f1.js'
import { characterLcs, lcsLength } from '../../../src/rewards/text/common-subsequence.js'
import type { RougeKind } from '../../../src/rewards/text/rouge.js'
import {
  doctorAgentBleu,
  doctorAgentRouge,
  googleRouge,
  rouge,
} from '../../../src/rewards/text/rouge.js'
import { charactersOrWords, googleTokens, ngrams } from '../../../src/rewards/text/tokens.js'
import { golden, pairs } from '../../fixtures/golden-texts.js'
import { fc } from '../../fixtures/property.js'

type Pair = (typeof pairs)[number]
const kinds: readonly RougeKind[] = [1, 2, 'l']

/** The pairs on which a measure is further than `within` from what was recorded. */
const off = (
  recorded: readonly (readonly number[])[],
  of: (pair: Pair) => readonly number[],
  within: number,
) =>
  pairs.flatMap((pair, n) => {
    const given = of(pair)
    const want = recorded[n] ?? []
    const same =
      given.length === want.length &&
      given.every((value, at) => Math.abs(value - (want[at] ?? Number.NaN)) <= within)
    return same ? [] : [{ ...pair, given, want }]
  })

const numbers =
  (of: typeof googleRouge) =>
  ({ candidate, gold }: Pair) =>
    kinds.flatMap((kind) => {
      const { precision, recall, f1 } = of(candidate, gold, kind)
      return [precision, recall, f1]
    })

describe('the published functions give the same', () => {
  test('there are enough Chinese pairs, and they score from nothing to everything', () => {
    const chinese = pairs.filter(({ gold }) => /[\u4e00-\u9fff]/.test(gold))
    expect(chinese.length).toBeGreaterThanOrEqual(1000)
    expect(Math.min(...golden.bagF1)).toBe(0)
    expect(Math.max(...golden.bagF1)).toBeGreaterThan(0.9)
    expect(
      golden.googleRouge.filter((row) => row.some((value) => value > 0)).length,
    ).toBeGreaterThan(200)
  })

  test('bag F1, to the last bit', () => {
    const want = golden.bagF1.map((value) => [value])
    expect(off(want, ({ candidate, gold }) => [bagF1(candidate, gold)], 0)).toEqual([])
  })

  test('character LCS, to the last bit', () => {
    const want = golden.characterLcs.map((value) => [value])
    expect(off(want, ({ candidate, gold }) => [characterLcs(candidate, gold)], 0)).toEqual([])
  })

  test("google's ROUGE", () =>
    expect(off(golden.googleRouge, numbers(googleRouge), 1e-9)).toEqual([]))

  test("DoctorAgent-RL's ROUGE", () =>
    expect(off(golden.doctorAgentRouge, numbers(doctorAgentRouge), 1e-9)).toEqual([]))

  test("DoctorAgent-RL's BLEU", () =>
    expect(
      off(
        golden.doctorAgentBleu,
        ({ candidate, gold }) =>
          ([1, 2, 3, 4] as const).map((n) => doctorAgentBleu(candidate, gold, n)),
        1e-9,
      ),
    ).toEqual([]))
})

describe('bag F1', () => {
  test('whitespace and punctuation count, and case matters', () => {
    expect(bagF1('a b', 'c d')).toBeCloseTo(1 / 3, 12)
    expect(bagF1('感冒。', '肺炎。')).toBe(0.5)
    expect(bagF1('CT', 'ct')).toBe(0)
  })

  test('of words alone they do not', () => {
    expect(wordF1('a b', 'c d')).toBe(0)
    expect(wordF1('感冒。', '肺炎。')).toBe(0)
    expect(wordF1('ＣＴ, 检查', 'ct检查')).toBe(1)
    expect(wordTokens('38.5 ℃！Flu')).toEqual(['38.5', 'c', 'flu'])
  })

  test('spaces earn nothing by words, and a text without words earns nothing', () => {
    expect(bagF1(' '.repeat(13), 'You have a cold and a fever, so rest well.')).toBeGreaterThan(0.4)
    expect(wordF1(' '.repeat(13), 'You have a cold and a fever, so rest well.')).toBe(0)
    expect(wordF1('。！', '。！')).toBe(0)
  })

  test('saying a thing again and again does not help', () => {
    const once = wordF1('急性胃炎', '您得了急性胃炎')
    expect(wordF1('急性胃炎'.repeat(9), '您得了急性胃炎')).toBeLessThan(once)
  })

  test('a gold text met again scores as before', () => {
    const gold = '病毒性胃肠炎，多喝水'
    const first = bagF1('胃肠炎', gold)
    for (let n = 0; n < 2100; n++) bagF1('胃', `第${n}位`)
    expect(bagF1('胃肠炎', gold)).toBe(first)
    expect(first).toBeGreaterThan(0)
  })
})

/** The table of prefixes as every textbook has it. */
const table = (one: readonly string[], other: readonly string[]): number => {
  let above = new Array<number>(other.length + 1).fill(0)
  for (const symbol of one) {
    const row = [0]
    other.forEach((against, at) => {
      const kept = Math.max(row[at] ?? 0, above[at + 1] ?? 0)
      row.push(symbol === against ? (above[at] ?? 0) + 1 : kept)
    })
    above = row
  }
  return above.at(-1) ?? 0
}

describe('the longest common subsequence', () => {
  test('is what the plain table gives, also over many words of bits', () => {
    const symbols = fc.array(fc.constantFrom('a', 'b', 'c', '痛'), { maxLength: 150 })
    fc.assert(
      fc.property(symbols, symbols, (one, other) => {
        expect(lcsLength(one, other)).toBe(table(one, other))
      }),
    )
  })

  test('carries from one word of bits into the next', () => {
    const one = 'a'.repeat(100)
    expect(lcsLength([...one], [...one])).toBe(100)
    expect(lcsLength([...`${one}b`], [...`b${one}`])).toBe(100)
  })

  test('counts code points, and divides by the longer text', () => {
    expect(characterLcs('😷痛', '😷')).toBe(0.5)
    expect(characterLcs('', '痛')).toBe(0)
    expect(characterLcs('\ud83d', '😷')).toBe(0)
  })

  test('of two texts of 20,000 characters is found', () => {
    const long = '头痛发热'.repeat(5000)
    expect(characterLcs(long, `${long.slice(0, 19_996)}咳嗽两天`)).toBe(19_996 / 20_000)
  })
})

describe('tokens and runs', () => {
  test('whitespace is what Python takes for it', () => {
    expect(charactersOrWords('a\x1cb\x85c\u3000d')).toEqual(['a', 'b', 'c', 'd'])
    expect(charactersOrWords('a\ufeffb ')).toEqual(['a\ufeffb'])
    expect(charactersOrWords('a 痛')).toEqual(['a', ' ', '痛'])
  })

  test("google's tokens are ASCII words", () =>
    expect(googleTokens("It's 38.5℃ İ_X 痛")).toEqual(['it', 's', '38', '5', 'i', 'x']))

  test('two different runs never look the same', () =>
    expect(ngrams(['ab', 'c'], 2)).not.toEqual(ngrams(['a', 'bc'], 2)))

  test('a text too short to have a run scores 0; both empty are 1 for DoctorAgent-RL alone', () => {
    expect(rouge(['a'], ['a'], 2).f1).toBe(0)
    expect(doctorAgentRouge('', '', 'l').f1).toBe(1)
    expect(googleRouge('', '', 'l').f1).toBe(0)
    expect(doctorAgentBleu('', '', 4)).toBe(1)
    expect(doctorAgentBleu('a', '', 1)).toBe(0)
  })
})

test('every measure of any two texts is within 0 and 1', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.constantFrom(...pairs.slice(0, 50).map(({ gold }) => gold)),
  )
  fc.assert(
    fc.property(text, text, (candidate, gold) => {
      const all = [
        bagF1(candidate, gold),
        wordF1(candidate, gold),
        characterLcs(candidate, gold),
        ...kinds.map((kind) => doctorAgentRouge(candidate, gold, kind).f1),
        ...kinds.map((kind) => googleRouge(candidate, gold, kind).f1),
        ...([1, 2, 3, 4] as const).map((n) => doctorAgentBleu(candidate, gold, n)),
      ]
      for (const value of all) {
        expect(value).toBeGreaterThanOrEqual(0)
        expect(value).toBeLessThanOrEqual(1)
      }
    }),
  )
})
