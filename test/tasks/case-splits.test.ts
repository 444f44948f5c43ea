import { describe, expect, test } from 'vitest'
import { type Case, graderView } from '../../src/case.js'
import { questionCase } from '../../src/cases/importers/huatuo.js'
import { loadKnowledge } from '../../src/knowledge/load.js'
import { maxSeed } from '../../src/seed.js'
import { generatedSplits, splitFileCases } from '../../src/tasks/case-splits.js'
import { fc } from '../fixtures/property.js'

const knowledge = loadKnowledge()
const ids = (cases: readonly Case[]): string[] => cases.map(({ id }) => id)
const shared = (one: readonly Case[], other: readonly Case[]): string[] => {
  const known = new Set(ids(other))
  return ids(one).filter((id) => known.has(id))
}

describe('the selection of generated cases', () => {
  const options = { seed: 3, heldOut: 12, selection: 5 }
  const splits = generatedSplits(knowledge, 'easy', options)

  test('is none of the held-out cases, however many those are, and moves none of them', () => {
    const more = generatedSplits(knowledge, 'easy', { ...options, heldOut: 40, selection: 0 })
    expect(splits.selection).toHaveLength(5)
    expect(more.selection).toEqual([])
    expect(shared(splits.selection, more.heldOut)).toEqual([])
    expect(ids(splits.heldOut)).toEqual(ids(more.heldOut).slice(0, 12))
  })

  test('is held out from training with every case of that split, of whatever tier, seed and number', () => {
    for (const truth of [...splits.selection, ...splits.heldOut])
      expect(splits.isHeldOut(graderView(truth))).toBe(true)
    expect(splits.isHeldOut({ caseId: 'hard-heldout-9-77' })).toBe(true)
    for (const truth of splits.train(8)) expect(splits.isHeldOut(graderView(truth))).toBe(false)
  })
})

describe('the selection of a file', () => {
  const many = Array.from({ length: 80 }, (_, n) => questionCase(`Question ${n}?`, `D ${n % 6}`))

  test('is a part of what is held out, at most half, and the rest is the final score’s', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: many.length }),
        fc.integer({ min: 0, max: 30 }),
        fc.integer({ min: 0, max: maxSeed }),
        (count, wanted, splitSeed) => {
          const cases = many.slice(0, count)
          const of = (selection: number) => splitFileCases(cases, { splitSeed, selection })
          const [split, plain] = [of(wanted), of(0)]
          const { all, selection, heldOut, isHeldOut } = split
          expect(ids(all)).toEqual(ids(plain.all))
          expect(ids([...selection, ...heldOut]).sort()).toEqual(ids(plain.heldOut).sort())
          expect(shared(selection, heldOut)).toEqual([])
          expect(selection).toHaveLength(Math.min(wanted, Math.floor(plain.heldOut.length / 2)))
          for (const truth of cases)
            expect(isHeldOut(graderView(truth))).toBe(!ids(all).includes(truth.id))
        },
      ),
    )
  })

  test('holds out those beyond the number of held-out cases too', () => {
    const { heldOut, all, isHeldOut } = splitFileCases(many, { heldOut: 3 })
    expect(heldOut).toHaveLength(3)
    expect(many.filter((truth) => isHeldOut(graderView(truth)))).toHaveLength(80 - all.length)
  })
})
