import { describe, expect, test } from 'vitest'
import type { Case } from '../../src/case.js'
import { generateCase } from '../../src/cases/generator/generate.js'
import { splitCases } from '../../src/cases/split.js'
import { clinic } from '../../src/knowledge/knowledge.js'
import { loadKnowledge } from '../../src/knowledge/load.js'
import { maxSeed } from '../../src/seed.js'
import { caseSchema } from '../../src/storage/case-schema.js'
import { fc } from '../fixtures/property.js'

const caseOf = (id: string, complaint: string): Case =>
  caseSchema.parse({
    schema: 'bedside-case/1',
    id,
    provenance: { source: 'test', license: 'CC0-1.0', synthetic: true, redistributable: true },
    demographics: {},
    chiefComplaint: { text: { en: complaint }, findings: [] },
    findings: [],
    exams: [],
    examDefault: 'normal',
    gold: { dx: [{ id: 'cold', name: { en: 'cold' }, role: 'primary' }] },
  })
const many = Array.from({ length: 2000 }, (_, n) => caseOf(`case-${n}`, `Complaint number ${n}`))
const ids = (cases: readonly Case[]) => cases.map(({ id }) => id)

describe('a split', () => {
  test('puts every case on one side and holds out about the share that was asked for', () => {
    for (const heldout of [0.1, 0.2, 0.5]) {
      const split = splitCases(many, { seed: 3, heldout })
      expect(ids([...split.train, ...split.heldout]).sort()).toEqual(ids(many).sort())
      expect(split.heldout).toHaveLength(many.length * heldout)
    }
  })

  test('holds out the share, rounded, and leaves a case on each side where there are two', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 60 }),
        fc.double({ min: 0.001, max: 0.999, noNaN: true }),
        fc.integer({ min: 0, max: maxSeed }),
        (count, share, seed) => {
          const { train, heldout } = splitCases(many.slice(0, count), { seed, heldout: share })
          expect(train.length + heldout.length).toBe(count)
          if (count < 2) return
          expect(Math.abs(heldout.length - share * count)).toBeLessThan(1)
          expect(Math.min(train.length, heldout.length)).toBeGreaterThan(0)
        },
      ),
    )
    expect(splitCases(many.slice(0, 3), { heldout: 0.2 }).heldout).toHaveLength(1)
  })

  test('agrees with the split of earlier versions but for the few cases that the rounding moves', () => {
    for (const seed of [0, 1, 2]) {
      const now = new Set(ids(splitCases(many, { seed }).heldout))
      const before = ids(splitCases(many, { seed, exact: false }).heldout)
      const kept = before.filter((id) => now.has(id)).length
      expect(kept).toBe(Math.min(now.size, before.length))
    }
  })

  test('keeps a generated patient of several tiers and clinics together, under any id', () => {
    const knowledge = loadKnowledge()
    const bowel = clinic(knowledge, ['bowel'])
    const numbers = Array.from({ length: 30 }, (_, n) => n)
    const cases = numbers.flatMap((n) => [
      generateCase(knowledge, { n }),
      generateCase(knowledge, { n, tier: 'standard' }),
      { ...generateCase(knowledge, { n, tier: 'hard' }), id: `mine-${n}` },
      generateCase(bowel, { n }),
    ])
    const out = new Set(ids(splitCases(cases).heldout))
    expect(out.size).toBe(4 * 6)
    for (const n of numbers)
      expect(new Set(cases.slice(4 * n, 4 * n + 4).map(({ id }) => out.has(id))).size).toBe(1)
  })

  test('is fixed by its seed and differs between seeds', () => {
    const sides = (seed: number) => ids(splitCases(many, { seed }).heldout)
    expect(sides(1)).toEqual(sides(1))
    expect(sides(1)).not.toEqual(sides(2))
  })

  test('moves no case when others are reordered, nor under `exact: false` when others are added or removed', () => {
    const whole = new Set(ids(splitCases(many, { seed: 5, exact: false }).heldout))
    fc.assert(
      fc.property(fc.shuffledSubarray(many, { maxLength: 200 }), (some) => {
        const { train, heldout } = splitCases(some, { seed: 5, exact: false })
        expect(heldout.every(({ id }) => whole.has(id))).toBe(true)
        expect(train.every(({ id }) => !whole.has(id))).toBe(true)
        const reordered = splitCases(
          [...some].sort((a, b) => (a.id < b.id ? -1 : 1)),
          { seed: 5 },
        )
        expect(ids(reordered.heldout)).toEqual(ids(splitCases(some, { seed: 5 }).heldout).sort())
      }),
    )
  })

  test('keeps cases of the same text together, whatever their ids, case and spacing', () => {
    const twins = many.map(({ id, chiefComplaint }) =>
      caseOf(`twin-of-${id}`, `${chiefComplaint.text.en?.toUpperCase().replaceAll(' ', '  ')}`),
    )
    const { heldout } = splitCases([...many, ...twins], { seed: 7 })
    const out = new Set(ids(heldout))
    expect(out.size).toBe(2 * 0.2 * many.length)
    for (const { id } of many) expect(out.has(`twin-of-${id}`)).toBe(out.has(id))
  })

  test.each([0, 1, -0.2, Number.NaN])('refuses to hold out %d of the cases', (heldout) => {
    expect(() => splitCases(many, { heldout })).toThrow(
      new RangeError(`Expected \`heldout\` to be between 0 and 1, got \`${heldout}\``),
    )
  })
})
