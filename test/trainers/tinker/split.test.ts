import { describe, expect, test } from 'vitest'
import { joinOutputs, splitData } from '../../../src/trainers/tinker/run-pass.js'
import { fc } from '../../fixtures/property.js'

describe('a batch larger than a request', () => {
  test('is split in order, within both limits, into no more parts than needed', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 1 }),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 20, max: 60 }),
        (lengths, maxDatums, maxBytes) => {
          const data = lengths.map((length) => new Uint8Array(length))
          const parts = splitData(data, { maxDatums, maxBytes })
          expect(parts.flat()).toEqual(data)
          const bytesOf = (part: readonly Uint8Array[]) => part.reduce((n, d) => n + d.length, 0)
          parts.forEach((part, i) => {
            expect(part.length).toBeLessThanOrEqual(maxDatums)
            expect(bytesOf(part)).toBeLessThanOrEqual(maxBytes)
            const next = parts[i + 1]?.[0]
            if (next)
              expect(part.length === maxDatums || bytesOf(part) + next.length > maxBytes).toBe(true)
          })
        },
      ),
    )
  })

  test('with a datum that is too large by itself is refused', () => {
    const data = [new Uint8Array(3), new Uint8Array(11)]
    expect(() => splitData(data, { maxDatums: 9, maxBytes: 10 })).toThrow(
      'data[1]: expected at most 10 bytes, got 11',
    )
  })

  test('has its metrics joined by their reduction, weighted by data', () => {
    const part = (data: number, value: number) => ({
      outputs: Array.from({ length: data }, (_, i) => ({ logprobs: Float32Array.of(value, i) })),
      metrics: {
        'loss:sum': value,
        'a:mean': value,
        'a:min': value,
        'a:max': value,
        'a:slack': value,
        'id:hash2': value,
        [`only-${value}:sum`]: 1,
      },
    })
    const joined = joinOutputs([part(1, 2), part(3, 6)])
    expect(joined.metrics).toEqual({
      'loss:sum': 8,
      'a:mean': 5,
      'a:min': 2,
      'a:max': 6,
      'a:slack': 1,
    })
    expect(joined.outputs.map(({ logprobs }) => [...logprobs!])).toEqual([
      [2, 0],
      [6, 0],
      [6, 1],
      [6, 2],
    ])
  })
})
