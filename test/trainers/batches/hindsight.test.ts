import { describe, expect, test } from 'vitest'
import { scripted } from '../../../src/agents/scripted.js'
import type { TokenSegment } from '../../../src/batch.js'
import { lookBack, turnGains } from '../../../src/trainers/batches/hindsight.js'
import { embedded } from '../../../src/trainers/embedded/embedded.js'
import type { Action } from '../../../src/turn.js'
import { fc } from '../../fixtures/property.js'
import { train } from '../embedded/batches.js'
import { consult, words } from '../embedded/play.js'

const [fever, chest, , influenza] = words.actions as [Action, Action, Action, Action]

describe('the gain of a turn', () => {
  test('is what its move told, less the mean of the siblings at that turn', () => {
    expect(
      turnGains([
        [-4, -2, -1],
        [-4, -4, -3],
        [-4, -3],
      ]),
    ).toEqual([[1, 0], [-1, 0], [0]])
  })

  test('of a belief below .001 counts from there', () => {
    expect(
      turnGains([
        [-30, -6],
        [-7, -7],
      ]),
    ).toEqual([[0.5], [-0.5]])
  })

  const logs = fc.array(fc.double({ min: -7, max: 0, noNaN: true }), { minLength: 1, maxLength: 6 })
  test('is 0 on average at every turn, and for a single consultation', () => {
    fc.assert(
      fc.property(fc.array(logs, { minLength: 1, maxLength: 5 }), (beliefs) => {
        const gains = turnGains(beliefs)
        expect(gains.map((own) => own.length)).toEqual(beliefs.map((own) => own.length - 1))
        for (let turn = 0; turn < 5; turn++) {
          const there = gains.flatMap((own) => own[turn] ?? [])
          expect(there.reduce((sum, one) => sum + one, 0)).toBeCloseTo(0, 9)
        }
      }),
    )
  })
})

/** Two consultations of one patient as segments: one asks what tells, the other what does not. */
async function consultations() {
  const backend = embedded({ actionSpace: words })
  await train(backend, 6)
  const segments: TokenSegment[] = []
  for (const moves of [
    [fever, influenza],
    [chest, influenza],
  ])
    segments.push(...(backend.demonstrate?.(await consult(scripted(moves), 0, 0)) ?? []))
  return {
    backend,
    segments: segments.map((segment, i) => ({ ...segment, rolloutId: `rollout-${i}` })),
  }
}

describe('looking back', () => {
  test('credits a move with the belief before and after it', async () => {
    const { backend, segments } = await consultations()
    const understood = [{ segments, diagnosis: influenza }]
    const { labelled, credits } = await lookBack(backend, understood, {
      ...{ adam: { learningRate: 1 }, gain: 2 },
    })
    const logprobs = (await backend.logprobs?.(labelled)) ?? []
    const beliefs = labelled.map(({ mask }, s) => [...logprobs[s]!].filter((_, t) => mask[t] === 1))
    const gains = turnGains(beliefs)
    segments.forEach(({ rolloutId, mask }, s) => {
      const [credit] = credits.get(rolloutId) ?? []
      const drawn = [...(credit ?? [])].filter((_, t) => mask[t] === 1)
      // The diagnosis itself tells nothing.
      expect(drawn).toHaveLength(gains[s]!.length + 1)
      expect(drawn.at(-1)).toBe(0)
      for (const [n, gain] of gains[s]!.entries()) expect(drawn[n]).toBeCloseTo(2 * gain, 5)
      expect([...(credit ?? [])].filter((_, t) => mask[t] === 0).every((one) => one === 0)).toBe(
        true,
      )
    })
    expect(gains.flat().some((gain) => Math.abs(gain) > 1e-4)).toBe(true)
  })

  test('credits nothing at gain 0, and labels nothing with an unknown diagnosis', async () => {
    const { backend, segments } = await consultations()
    const adam = { learningRate: 1 }
    const without = await lookBack(backend, [{ segments, diagnosis: influenza }], { adam })
    expect(without.credits.size).toBe(0)
    expect(without.labelled).toHaveLength(2)
    const gout: Action = { kind: 'diagnose', diagnosis: 'Gout' }
    const unknown = await lookBack(backend, [{ segments, diagnosis: gout }], { adam, gain: 1 })
    expect(unknown).toEqual({ labelled: [], credits: new Map() })
  })
})
