import { describe, expect, test } from 'vitest'
import type { Group } from '../../../src/group.js'
import { planResampling } from '../../../src/trainers/rollouts/dynamic-sampling.js'
import { fc } from '../../fixtures/property.js'

const group = (status: Group['status'], i: number): Group => ({
  id: `g${i}`,
  caseId: 'case-1',
  seed: i,
  role: 'doctor',
  episodes: [],
  scores: [],
  advantages: [],
  standings: [],
  status,
})
const groupsOf = (...statuses: readonly Group['status'][]) => statuses.map(group)
const ids = (groups: readonly Group[]) => groups.map(({ id }) => id)

describe('shouldResample', () => {
  test('says which groups teach nothing and how many are missing', () => {
    const drawn = groupsOf('learns', 'zero-variance', 'singleton', 'learns')
    const { kept, idle, surplus, draw, exhausted } = planResampling(drawn, { wanted: 4 })
    expect([ids(kept), ids(idle), ids(surplus)]).toEqual([['g0', 'g3'], ['g1', 'g2'], []])
    expect([draw, exhausted]).toEqual([2, false])
  })

  test('keeps the first that teach when there are more than wanted', () => {
    const drawn = groupsOf('learns', 'too-few-scored', 'learns', 'learns')
    const { kept, surplus, draw, exhausted } = planResampling(drawn, { wanted: 2 })
    expect([ids(kept), ids(surplus), draw, exhausted]).toEqual([['g0', 'g2'], ['g3'], 0, false])
  })

  test('draws no more than the bound leaves', () => {
    const drawn = groupsOf('learns', 'zero-variance', 'zero-variance')
    expect(planResampling(drawn, { wanted: 3, most: 4 })).toMatchObject({
      draw: 1,
      exhausted: false,
    })
    expect(planResampling(drawn, { wanted: 3, most: 3 })).toMatchObject({
      draw: 0,
      exhausted: true,
    })
    // A group whose every member failed is not there to be seen, but was drawn.
    expect(planResampling(drawn, { wanted: 3, most: 4, drawn: 4 })).toMatchObject({
      draw: 0,
      exhausted: true,
    })
  })

  test('allows ten times what is wanted unless told otherwise', () => {
    expect(planResampling([], { wanted: 2, drawn: 19 }).draw).toBe(1)
    expect(planResampling([], { wanted: 2, drawn: 20 })).toMatchObject({ draw: 0, exhausted: true })
  })

  test('drawing what it asks for ends, with enough groups or at the bound', () => {
    const statuses = fc.infiniteStream(fc.constantFrom<Group['status']>('learns', 'zero-variance'))
    const sizes = fc.integer({ min: 1, max: 6 })
    fc.assert(
      fc.property(statuses, sizes, sizes, (stream, wanted, more) => {
        const most = wanted * more
        const drawn: Group[] = []
        for (;;) {
          const { kept, draw, exhausted } = planResampling(drawn, { wanted, most })
          expect(drawn.length).toBeLessThanOrEqual(most)
          if (draw === 0) {
            expect(exhausted).toBe(kept.length < wanted)
            if (exhausted) expect(drawn).toHaveLength(most)
            return
          }
          for (let i = 0; i < draw; i++) drawn.push(group(stream.next().value, drawn.length))
        }
      }),
    )
  })

  test('refuses counts that make no sense', () => {
    expect(() => planResampling([], { wanted: 0 })).toThrow(
      new RangeError('Expected `wanted` to be an integer of at least 1, got `0`'),
    )
    expect(() => planResampling([], { wanted: 4, most: 3 })).toThrow(
      new RangeError('Expected `most` to be an integer of at least 4, got `3`'),
    )
    expect(() => planResampling(groupsOf('learns'), { wanted: 1, drawn: 0 })).toThrow(
      new RangeError('Expected `drawn` to be an integer of at least 1, got `0`'),
    )
  })
})
