import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Episode } from '../src/episode.js'
import type { AdvantageEstimator } from '../src/group.js'
import { assertSiblings, formGroup } from '../src/group.js'
import type { Score } from '../src/reward.js'
import { ok, unavailable } from '../src/reward.js'

const episode = (id: string, change: Partial<Episode> = {}): Episode => ({
  id,
  caseId: 'case-1',
  seed: 7,
  agent: 'agent',
  language: 'en',
  intake: { view: 'doctor', demographics: { speaker: 'self' }, complaint: { en: 'It hurts.' } },
  turns: [],
  end: 'terminated',
  stop: 'gave-up',
  maxTurns: 10,
  spent: { money: 0, minutes: 0 },
  budget: { money: 100, minutes: 60 },
  ...change,
})

const score = (total: number | null): Score => ({
  total,
  parts: { accuracy: total === null ? unavailable('the judge is down') : ok(total) },
})

/** Total minus mean: what an estimator is, at its simplest. */
const centred: AdvantageEstimator = (totals) => {
  const mean = totals.reduce((sum, total) => sum + total, 0) / totals.length
  return totals.map((total) => total - mean)
}

const form = (totals: readonly (number | null)[], options?: { readonly minScored: number }) =>
  formGroup(
    'g',
    totals.map((_, i) => episode(`e${i}`)),
    totals.map(score),
    centred,
    options,
  )

describe('assertSiblings', () => {
  test('lets siblings differ in what they did', () => {
    const other = episode('b', { stop: 'diagnosed', spent: { money: 50, minutes: 20 }, agent: 'b' })
    expect(() => assertSiblings([episode('a'), other])).not.toThrow()
  })

  test('lets one episode and none be a group', () => {
    expect(() => assertSiblings([episode('a')])).not.toThrow()
    expect(() => assertSiblings([])).not.toThrow()
  })

  const stranger = (what: string, change: Partial<Episode>) =>
    test(`refuses a sibling of another ${what}, and names it`, () => {
      const members = [episode('a'), episode('b'), episode('odd', change), episode('c')]
      expect(() => assertSiblings(members)).toThrow(TypeError)
      expect(() => assertSiblings(members)).toThrow(
        /^Expected siblings of one group to share case, seed, intake and budget: a has .*, odd has /,
      )
    })
  stranger('case', { caseId: 'case-2' })
  stranger('seed', { seed: 8 })
  stranger('language', { language: 'zh' })
  stranger('intake', {
    intake: { ...episode('x').intake, complaint: { en: 'It hurts badly.' } },
  })
  stranger('turn budget', { maxTurns: 9 })
  stranger('money budget', { budget: { money: 101, minutes: 60 } })
})

describe('formGroup', () => {
  test('estimates the advantages of a group that teaches', () => {
    const group = form([1, 0, 1, 0])
    expect(group).toMatchObject({ id: 'g', caseId: 'case-1', seed: 7, status: 'learns' })
    expect(group.advantages).toEqual([0.5, -0.5, 0.5, -0.5])
  })

  test('leaves members without a total out of the estimate, and gives them 0', () => {
    const group = form([1, null, 0, null])
    expect([group.status, group.advantages]).toEqual(['learns', [0.5, 0, -0.5, 0]])
  })

  for (const [totals, status] of [
    [[0.3], 'singleton'],
    [[0.3, null, null], 'singleton'],
    [[0.3, 0.3, 0.3], 'zero-variance'],
    [[0, null, 0], 'zero-variance'],
    [[null, null], 'too-few-scored'],
    [[null], 'too-few-scored'],
  ] as const)
    test(`totals ${JSON.stringify(totals)} teach nothing: ${status}`, () => {
      const group = form(totals)
      expect([group.status, group.advantages]).toEqual([status, totals.map(() => 0)])
    })

  test('teaches nothing with fewer scored members than asked for', () => {
    expect(form([1, 0, null], { minScored: 3 }).status).toBe('too-few-scored')
    expect(form([1, 0, 1], { minScored: 3 }).status).toBe('learns')
  })

  test('does not ask the estimator about a group that teaches nothing', () => {
    const never: AdvantageEstimator = () => {
      throw new Error('asked')
    }
    const episodes = [episode('a'), episode('b')]
    expect(formGroup('g', episodes, [score(1), score(1)], never).status).toBe('zero-variance')
  })

  test('gives every member one finite advantage, 0 where there is no total', () => {
    const total = fc.option(fc.integer({ min: -3, max: 3 }))
    fc.assert(
      fc.property(fc.array(total, { minLength: 1, maxLength: 12 }), (totals) => {
        const { advantages } = form(totals)
        expect(advantages).toHaveLength(totals.length)
        totals.forEach((each, i) => {
          expect(Number.isFinite(advantages[i])).toBe(true)
          if (each === null) expect(advantages[i]).toBe(0)
        })
      }),
    )
  })

  test('refuses no episodes, and another number of scores', () => {
    expect(() => formGroup('g', [], [], centred)).toThrow(
      new TypeError(
        'Expected as many scores as episodes and at least one, got 0 episodes and 0 scores',
      ),
    )
    expect(() => formGroup('g', [episode('a')], [], centred)).toThrow('got 1 episodes and 0 scores')
  })

  test('refuses members that met different patients', () => {
    const members = [episode('a'), episode('b', { seed: 8 })]
    expect(() => formGroup('g', members, [score(1), score(0)], centred)).toThrow(TypeError)
  })
})
