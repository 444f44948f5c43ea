import { describe, expect, test } from 'vitest'
import type { Episode } from '../src/episode.js'
import type { AdvantageEstimator, BatchEstimator, GroupPolicy, ScoredGroup } from '../src/group.js'
import { assertSiblings, estimateAcrossGroups, formGroup, isTruncated } from '../src/group.js'
import type { Score } from '../src/reward.js'
import { notApplicable, ok, unavailable } from '../src/reward.js'
import { noFacts } from '../src/turn.js'
import { drawnTurn } from './fixtures/draws.js'
import { fc } from './fixtures/property.js'

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

const form = (totals: readonly (number | null)[], options?: GroupPolicy) =>
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

/** A turn drawn as `tokens` tokens, the last of which may have met the limit. */
const turn = (tokens: number, stopReason: 'stop' | 'length' = 'stop'): Episode['turns'][number] =>
  drawnTurn(
    {
      action: { kind: 'ask', text: 'q' },
      outcome: { kind: 'answered', text: 'a' },
      facts: noFacts,
    },
    {
      prompt: [1],
      tokens: new Array<number>(tokens).fill(2),
      logprobs: new Array<number>(tokens).fill(-1),
      policyVersion: 0,
      temperature: 1,
      logprobMode: 'scaled',
      stopReason,
    },
  )

test('an episode is cut short by its env, or by the token limit in any of its turns', () => {
  expect(isTruncated(episode('a', { turns: [turn(3)] }))).toBe(false)
  expect(isTruncated(episode('a', { turns: [] }))).toBe(false)
  expect(isTruncated(episode('a', { end: 'truncated' }))).toBe(true)
  expect(isTruncated(episode('a', { turns: [turn(3, 'length'), turn(3)] }))).toBe(true)
})

describe('group policy', () => {
  const cut = { end: 'truncated' } as const
  const group = (
    truncated: GroupPolicy['truncated'],
    totals: readonly (number | null)[] = [1, 0.5, 0],
  ) =>
    formGroup(
      'g',
      totals.map((_, i) => episode(`e${i}`, i === 2 ? cut : {})),
      totals.map(score),
      centred,
      truncated === undefined ? {} : { truncated },
    )

  test('truncated members are kept unless told otherwise', () => {
    expect(group(undefined)).toEqual(group('keep'))
    expect(group('keep')).toMatchObject({
      advantages: [0.5, 0, -0.5],
      standings: ['learns', 'learns', 'learns'],
    })
  })

  test('zero leaves a truncated member in the mean, and teaches it nothing', () => {
    expect(group('zero')).toMatchObject({
      advantages: [0.5, 0, 0],
      standings: ['learns', 'learns', 'counts'],
      status: 'learns',
    })
  })

  test('drop leaves a truncated member out of the mean too', () => {
    expect(group('drop')).toMatchObject({
      advantages: [0.25, -0.25, 0],
      standings: ['learns', 'learns', 'out'],
      status: 'learns',
    })
  })

  test('what is left decides what the group teaches', () => {
    expect(group('drop', [1, null, 0]).status).toBe('singleton')
    expect(group('zero', [1, null, 0])).toMatchObject({
      status: 'learns',
      advantages: [0.5, 0, 0],
      standings: ['learns', 'out', 'counts'],
    })
    expect(group('drop', [1, 1, 0]).status).toBe('zero-variance')
    expect(group('zero', [null, null, 0.3]).status).toBe('singleton')
    const all = ['a', 'b'].map((id) => episode(id, cut))
    const none = formGroup('g', all, [score(1), score(0)], centred, { truncated: 'zero' })
    expect([none.status, none.advantages]).toEqual(['too-few-scored', [0, 0]])
  })

  test('totals within the tolerance are the same', () => {
    expect(form([0.5, 0.5625, 0.53], { tolerance: 0.0625 }).status).toBe('zero-variance')
    expect(form([0.5, 0.5625, 0.53], { tolerance: 0.06 }).status).toBe('learns')
    expect(form([0.1 + 0.2, 0.3]).status).toBe('learns')
  })

  test('with a baseline from elsewhere one member and equal totals teach too', () => {
    const raw: AdvantageEstimator = (totals) => totals
    const of = (totals: readonly (number | null)[], policy: GroupPolicy = {}) =>
      formGroup(
        'g',
        totals.map((_, i) => episode(`e${i}`)),
        totals.map(score),
        raw,
        { baseline: 'elsewhere', ...policy },
      )
    expect(of([0.7, null])).toMatchObject({ status: 'learns', advantages: [0.7, 0] })
    expect(of([0.7, 0.7])).toMatchObject({ status: 'learns', advantages: [0.7, 0.7] })
    expect(of([null])).toMatchObject({ status: 'too-few-scored', advantages: [0] })
    expect(of([0.7], { minScored: 2 }).status).toBe('too-few-scored')
  })

  test('a total that is no number is refused, with the member that has it', () => {
    for (const total of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])
      expect(() => form([1, total, 0])).toThrow(
        new RangeError(`Expected \`total\` of e1 to be finite, got \`${total}\``),
      )
  })

  test('options that make no sense are refused with their value', () => {
    expect(() => form([1, 0], { minScored: 0 })).toThrow(
      new RangeError('Expected `minScored` to be a positive integer, got `0`'),
    )
    expect(() => form([1, 0], { minScored: 1.5 })).toThrow('got `1.5`')
    expect(() => form([1, 0], { tolerance: -1 })).toThrow(
      new RangeError('Expected `tolerance` to be at least 0, got `-1`'),
    )
    expect(() => form([1, 0], { tolerance: Number.NaN })).toThrow('got `NaN`')
  })

  test('an estimator that gives another number of advantages is refused', () => {
    const members = [episode('a'), episode('b')]
    expect(() => formGroup('g', members, [score(1), score(0)], () => [1])).toThrow(
      new TypeError('Expected the estimator to give 2 advantages for group g, got 1'),
    )
  })
})

describe('estimateTogether', () => {
  const scored = (total: number | null): Score => ({
    total,
    parts: {
      accuracy: total === null ? unavailable('the judge is down') : ok(total),
      cost: ok(0.5),
      exams: notApplicable,
    },
  })
  const groups = [
    formGroup(
      'teaches',
      [
        episode('a', { turns: [turn(2), turn(3)] }),
        episode('b'),
        episode('c', { end: 'truncated' }),
      ],
      [scored(1), scored(null), scored(0)],
      centred,
      { truncated: 'zero' },
    ),
    formGroup('does not', [episode('d')], [scored(0.5)], centred),
    formGroup(
      'teaches too',
      [episode('e', { turns: [turn(4)] }), episode('f', { turns: [turn(1)] })],
      [scored(0.25), scored(0.75)],
      centred,
    ),
  ]

  test('asks once about every group that teaches, and puts the answers back', () => {
    const asked: (readonly ScoredGroup[])[] = []
    const estimate: BatchEstimator = (batch) => {
      asked.push(batch)
      return batch.map(({ totals }, g) => totals.map((_, i) => 10 * (g + 1) + i))
    }
    const made = estimateAcrossGroups(groups, estimate)
    expect(asked).toEqual([
      [
        {
          totals: [1, 0],
          parts: [
            { accuracy: 1, cost: 0.5 },
            { accuracy: 0, cost: 0.5 },
          ],
          tokens: [5, 0],
        },
        {
          totals: [0.25, 0.75],
          parts: [
            { accuracy: 0.25, cost: 0.5 },
            { accuracy: 0.75, cost: 0.5 },
          ],
          tokens: [4, 1],
        },
      ],
    ])
    expect(made.map(({ advantages }) => advantages)).toEqual([[10, 0, 0], [0], [20, 21]])
    expect(made[1]).toBe(groups[1])
    expect(groups[0]?.advantages).toEqual([0.5, 0, 0])
  })

  test('episodes without tokens are not weighed by them', () => {
    const bare = form([1, 0])
    estimateAcrossGroups([bare], (batch) => {
      expect(batch[0]).not.toHaveProperty('tokens')
      return batch.map(({ totals }) => totals)
    })
    expect.assertions(1)
  })

  test('asks about nothing when nothing teaches', () => {
    const idle = [form([1, 1]), form([0.5])]
    const never: BatchEstimator = () => {
      throw new Error('asked')
    }
    expect(estimateAcrossGroups(idle, never)).toBe(idle)
  })

  test('refuses an answer for another number of members or groups', () => {
    expect(() => estimateAcrossGroups(groups, () => [[1, 2], [1]])).toThrow(
      new TypeError('Expected the estimator to give 2 advantages for group teaches too, got 1'),
    )
    expect(() => estimateAcrossGroups(groups, () => [[1, 2]])).toThrow(
      'for group teaches too, got 0',
    )
  })
})
