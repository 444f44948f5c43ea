import { describe, expect, test } from 'vitest'
import { estimate } from '../../src/evaluation/bootstrap.js'
import { estimateByCase, passAt } from '../../src/evaluation/by-case.js'
import { uniform } from '../../src/seed.js'
import { tinyLung } from '../fixtures/tiny.js'

const valuesOf = (cases: readonly (readonly number[])[]) =>
  cases.flatMap((values, n) =>
    values.map((value) => ({ truth: { ...tinyLung, id: `case-${n}` }, value })),
  )

describe('estimates of cases that are played several times', () => {
  const once = Array.from({ length: 40 }, (_, n) => Math.round(uniform(n) * 4) / 4)

  test('are those of a case played once, if its consultations say the same', () => {
    const often = once.map((value) => Array.from({ length: 6 }, () => value))
    expect(estimateByCase(valuesOf(once.map((value) => [value])), 2)).toEqual(estimate(once, 2))
    const { mean, ci95 } = estimate(once, 2)
    const close = (value = Number.NaN) => expect.closeTo(value, 12)
    expect(estimateByCase(valuesOf(often), 2)).toEqual({
      ...{ mean: close(mean ?? undefined), ci95: [close(ci95?.[0]), close(ci95?.[1])] },
    })
  })

  test('at a bound are no surer than so many cases allow', () => {
    const right = estimateByCase(
      valuesOf([
        [1, 1, 1, 1],
        [1, 1, 1, 1],
      ]),
    )
    expect(right).toEqual(estimate([1, 1]))
    expect(right.ci95?.[0]).toBeLessThan(0.5)
  })
})

/** Every choice of k among the values. */
function choices(values: readonly number[], k: number): readonly (readonly number[])[] {
  const [first, ...rest] = values
  if (k === 0) return [[]]
  if (first === undefined) return []
  return [...choices(rest, k - 1).map((one) => [first, ...one]), ...choices(rest, k)]
}

test('pass@k is the share of all choices of k consultations that hold a right one', () => {
  const cases = [
    [0, 1, 0, 0, 0],
    [1, 1, 0, 1, 0],
    [0, 0, 0, 0, 0],
    [0.5, 1],
    [1, 1, 1, 1, 1],
  ]
  const told = passAt(valuesOf(cases), 5)
  for (const k of [1, 2, 3, 4, 5]) {
    const enough = cases.filter((values) => values.length >= k)
    const shares = enough.map((values) => {
      const all = choices(values, k)
      return all.filter((one) => one.includes(1)).length / all.length
    })
    const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length
    expect(told[k]).toMatchObject({ mean: expect.closeTo(mean, 12), cases: enough.length })
  }
  expect(Object.keys(told)).toEqual(['1', '2', '3', '4', '5'])
})

test('pass@k without enough consultations is no number', () => {
  expect(passAt(valuesOf([[1, 0]]), 3)[3]).toEqual({ mean: null, ci95: null, cases: 0 })
})
