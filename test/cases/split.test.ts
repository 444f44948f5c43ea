import { describe, expect, test } from 'vitest'
import type { Case } from '../../src/case.js'
import { splitCases } from '../../src/cases/split.js'
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
      expect(Math.abs(split.heldout.length / many.length - heldout)).toBeLessThan(0.04)
    }
  })

  test('is fixed by its seed and differs between seeds', () => {
    const sides = (seed: number) => ids(splitCases(many, { seed }).heldout)
    expect(sides(1)).toEqual(sides(1))
    expect(sides(1)).not.toEqual(sides(2))
  })

  test('moves no case when others are added, removed or reordered', () => {
    const whole = new Set(ids(splitCases(many, { seed: 5 }).heldout))
    fc.assert(
      fc.property(fc.shuffledSubarray(many, { maxLength: 200 }), (some) => {
        const { train, heldout } = splitCases(some, { seed: 5 })
        return heldout.every(({ id }) => whole.has(id)) && train.every(({ id }) => !whole.has(id))
      }),
    )
  })

  test('keeps cases of the same text together, whatever their ids, case and spacing', () => {
    const twins = many.map(({ id, chiefComplaint }) =>
      caseOf(`twin-of-${id}`, `${chiefComplaint.text.en?.toUpperCase().replaceAll(' ', '  ')}`),
    )
    const { heldout } = splitCases([...many, ...twins], { seed: 7 })
    const out = new Set(ids(heldout))
    expect(out.size).toBeGreaterThan(300)
    for (const { id } of many) expect(out.has(`twin-of-${id}`)).toBe(out.has(id))
  })

  test.each([0, 1, -0.2, Number.NaN])('refuses to hold out %d of the cases', (heldout) => {
    expect(() => splitCases(many, { heldout })).toThrow(
      new RangeError(`Expected \`heldout\` to be between 0 and 1, got \`${heldout}\``),
    )
  })
})
