import { describe, expect, test } from 'vitest'
import type { Key } from '../src/seed.js'
import {
  adversarySeeds,
  autoresetSeed,
  demonstrationSeeds,
  evaluationSeeds,
  fork,
  generatedCaseSeed,
  groupSeeds,
  pick,
  pickWeighted,
  resampleSeed,
  shuffle,
  uniform,
  uniformInt,
} from '../src/seed.js'
import { fc } from './fixtures/property.js'

const n = 100_000
const key = fc.oneof(fc.string(), fc.integer())

/** n draws of a stream. */
const draws = (draw: (i: number) => number): Float64Array =>
  Float64Array.from({ length: n }, (_, i) => draw(i))

/** How many standard errors the fullest or emptiest of ten bins is off. */
function worstBin(values: Float64Array): number {
  const bins = new Float64Array(10)
  for (const value of values) bins[Math.floor(value * 10)]!++
  const error = Math.sqrt(n * 0.1 * 0.9)
  return Math.max(...Array.from(bins, (count) => Math.abs(count - n / 10) / error))
}

/** Pearson correlation in standard errors of independent streams. */
function correlation(a: Float64Array, b: Float64Array): number {
  const mean = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0) / n
  const [meanA, meanB] = [mean(a), mean(b)]
  let [ab, aa, bb] = [0, 0, 0]
  for (let i = 0; i < n; i++) {
    const [x, y] = [a[i]! - meanA, b[i]! - meanB]
    ab += x * y
    aa += x * x
    bb += y * y
  }
  return (ab / Math.sqrt(aa * bb)) * Math.sqrt(n)
}

/** The ways in which draws follow one another in this package. */
const streams: Readonly<Record<string, (i: number) => number>> = {
  'consecutive seeds': (i) => uniform(i, 'dx'),
  'consecutive seeds, another name': (i) => uniform(i, 'age'),
  'consecutive seeds, no name': (i) => uniform(i),
  'consecutive number keys': (i) => uniform(7, 'turn', i),
  'consecutive number keys, next seed': (i) => uniform(8, 'turn', i),
  'consecutive string keys': (i) => uniform(7, `finding-${i}`),
  'forks of forks': (i) => uniform(fork(7, 'case', i), 'exam', 'ecg'),
  'forks of forks, another name': (i) => uniform(fork(7, 'case', i), 'exam', 'film'),
}

describe('uniform', () => {
  for (const [name, draw] of Object.entries(streams))
    test(`is uniform over ${name}: ten bins within 4 standard errors`, () => {
      expect(worstBin(draws(draw))).toBeLessThan(4)
    })

  test('streams of different names and seeds are uncorrelated within 4 standard errors', () => {
    const all = Object.values(streams).map(draws)
    const found = all.flatMap((a, i) => all.slice(i + 1).map((b) => Math.abs(correlation(a, b))))
    expect(found).toHaveLength(28)
    expect(Math.max(...found)).toBeLessThan(4)
  })

  test('a draw is uncorrelated with the one before it within 4 standard errors', () => {
    for (const draw of Object.values(streams)) {
      const lagged = draws((i) => draw(i + 1))
      expect(Math.abs(correlation(draws(draw), lagged))).toBeLessThan(4)
    }
  })

  test('stays in [0, 1)', () => {
    fc.assert(
      fc.property(fc.integer(), fc.array(key), (seed, keys) => {
        const value = uniform(seed, ...keys)
        expect(value).toBeGreaterThanOrEqual(0)
        expect(value).toBeLessThan(1)
      }),
    )
  })
})

describe('fork', () => {
  test('gives the same unsigned 32-bit integer for the same names, whatever else was drawn', () => {
    fc.assert(
      fc.property(fc.integer(), fc.array(key), key, (seed, keys, other) => {
        const first = fork(seed, ...keys)
        fork(seed, ...keys, other)
        expect(fork(seed, ...keys)).toBe(first)
        expect(first >>> 0).toBe(first)
      }),
    )
  })

  test('gives the values it gave when runs were first recorded', () => {
    // Changing one of them makes every recorded episode, case id and checkpoint a lie.
    expect([
      fork(0),
      fork(1),
      fork(0, 'dx'),
      fork(0, 'exam', 'ecg'),
      fork(12345, 'turn', 3),
    ]).toEqual([519224640, 4176560736, 181927024, 2490483770, 2768551679])
  })

  const different: readonly (readonly [string, readonly Key[], readonly Key[]])[] = [
    ['a number and its text', [1], ['1']],
    ['one name and the same in two parts', ['ab'], ['a', 'b']],
    ['names in another order', ['a', 'b'], ['b', 'a']],
    ['no name and an empty one', [], ['']],
    ['a name and the same with an empty one behind', ['a'], ['a', '']],
    ['0 and no name', [0], []],
    ['0 and -1', [0], [-1]],
    ['two languages', ['咳嗽'], ['cough']],
  ]
  for (const [what, one, other] of different)
    test(`tells apart ${what}`, () => {
      expect(fork(3, ...one)).not.toBe(fork(3, ...other))
    })

  test('meets no more collisions than 32 bits make likely', () => {
    const seen = new Set(Array.from({ length: n }, (_, i) => fork(0, 'case', i)))
    // n^2 / 2^33 is 1.2 expected collisions.
    expect(n - seen.size).toBeLessThan(8)
  })
})

describe('derived seeds', () => {
  test('are the values they were when runs were first recorded', () => {
    // Changing one of them makes every recorded episode, case and interval a lie.
    expect([
      evaluationSeeds(3, 'easy-heldout-0-7'),
      groupSeeds(3, 2, 5, 1),
      demonstrationSeeds(3, 5, 1),
      adversarySeeds(3, 'easy-train-0-7'),
    ]).toEqual([
      { envSeed: 523781049, agentSeed: 1391462384 },
      { envSeed: 174539439, agentSeed: 2469959429 },
      { envSeed: 538398655, agentSeed: 4029457576 },
      { envSeed: 3113741253, agentSeed: 3113741253 },
    ])
    expect([
      generatedCaseSeed(3, 'train', 7),
      generatedCaseSeed(3, 'heldout', 7),
      autoresetSeed(3, 2),
      resampleSeed(3, 2),
    ]).toEqual([1115350328, 1765229639, 66447926, 3189189665])
  })

  test.each([2 ** 32, -1, 0.5, Number.NaN])(
    'refuses %d, which would play as another seed',
    (seed) => {
      const calls = [
        () => evaluationSeeds(seed, 'easy-heldout-0-7'),
        () => groupSeeds(seed, 2, 5, 1),
        () => demonstrationSeeds(seed, 5, 1),
        () => adversarySeeds(seed, 'easy-train-0-7'),
        () => resampleSeed(seed, 2),
      ]
      for (const call of calls)
        expect(call).toThrow(
          new RangeError(
            `Expected \`seed\` to be an integer from 0 to 4294967295, got \`${seed}\``,
          ),
        )
    },
  )

  test('siblings share the env and differ in the agent', () => {
    const many = Array.from({ length: 8 }, (_, member) => groupSeeds(1, 4, 2, member))
    expect(new Set(many.map(({ envSeed }) => envSeed)).size).toBe(1)
    expect(new Set(many.map(({ agentSeed }) => agentSeed)).size).toBe(8)
    expect(groupSeeds(1, 4, 3, 0).envSeed).not.toBe(many[0]?.envSeed)
  })

  test('a case of one split is never a case of the other', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.nat(), (seed, n, m) => {
        expect(generatedCaseSeed(seed, 'train', n) % 2).toBe(0)
        expect(generatedCaseSeed(seed, 'heldout', m) % 2).toBe(1)
      }),
    )
  })
})

describe('below', () => {
  test('gives every integer below n about equally often', () => {
    const counts = new Float64Array(7)
    for (let i = 0; i < n; i++) counts[uniformInt(7, i, 'die')]!++
    const error = Math.sqrt((n * 6) / 49)
    for (const count of counts) expect(Math.abs(count - n / 7) / error).toBeLessThan(4)
  })
})

describe('pick', () => {
  test('gives an element of the list', () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { minLength: 1 }), fc.integer(), (list, seed) => {
        expect(list).toContain(pick(list, seed, 'x'))
      }),
    )
  })

  test('refuses an empty list', () => {
    expect(() => pick([], 1)).toThrow(
      new RangeError('Expected a non-empty list to pick from, got []'),
    )
  })
})

describe('pickWeighted', () => {
  test('gives every index in proportion to its weight, within 4 standard errors', () => {
    const weights = [1, 0, 5, 0.5, 3.5]
    const counts = weights.map(() => 0)
    for (let i = 0; i < n; i++) counts[pickWeighted(weights, i, 'dx')]!++
    weights.forEach((weight, i) => {
      const p = weight / 10
      if (p === 0) expect(counts[i]).toBe(0)
      else expect(Math.abs(counts[i]! - n * p) / Math.sqrt(n * p * (1 - p))).toBeLessThan(4)
    })
  })

  test('never gives an index of weight 0, however the sum rounds', () => {
    const weight = fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1e300, noNaN: true }))
    fc.assert(
      fc.property(
        fc.array(weight, { minLength: 1, maxLength: 20 }),
        fc.integer(),
        (weights, seed) => {
          fc.pre(weights.some((w) => w > 0))
          expect(weights[pickWeighted(weights, seed, 'x')]).toBeGreaterThan(0)
        },
      ),
    )
  })

  for (const [what, weights, sum] of [
    ['no weights', [], '0'],
    ['only zeros', [0, 0], '0'],
    ['NaN', [1, Number.NaN], 'NaN'],
  ] as const)
    test(`refuses ${what}`, () => {
      expect(() => pickWeighted(weights, 1)).toThrow(
        new RangeError(`Expected weights with a positive sum, got sum ${sum}`),
      )
    })
})

describe('shuffle', () => {
  test('keeps every element once and leaves the list alone', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), fc.integer(), (list, seed) => {
        const before = [...list]
        const order = (a: number, b: number) => a - b
        expect(shuffle(list, seed, 'x').sort(order)).toEqual([...list].sort(order))
        expect(list).toEqual(before)
      }),
    )
  })

  test('puts every element first about equally often', () => {
    const counts = new Float64Array(5)
    const rounds = 20_000
    for (let i = 0; i < rounds; i++) counts[shuffle([0, 1, 2, 3, 4], i, 'order')[0]!]!++
    for (const count of counts)
      expect(Math.abs(count - rounds / 5) / Math.sqrt(rounds * 0.16)).toBeLessThan(4)
  })
})
