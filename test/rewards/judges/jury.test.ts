import { describe, expect, test } from 'vitest'
import { Fault } from '../../../src/error.js'
import { cachedJudge } from '../../../src/rewards/judges/cached-judge.js'
import type { Judge, JudgeContext, JudgeRequest } from '../../../src/rewards/judges/judge.js'
import { jury } from '../../../src/rewards/judges/jury.js'

const same = { task: 'same-diagnosis', reference: 'Gout', answer: 'podagra' } as const
const similar = { task: 'similarity', of: 'diagnosis', reference: 'Gout', answer: 'x' } as const

/** A judge that says these words in turn and notes the contexts. */
function voting(words: readonly string[], judgeName = 'm') {
  const asked: JudgeContext[] = []
  const judge = async (_: JudgeRequest, context: JudgeContext = {}) =>
    words[asked.push(context) - 1] ?? words.at(-1) ?? ''
  return Object.assign(judge, { judgeName, asked })
}

describe('a jury', () => {
  test.each<[JudgeRequest, readonly string[], string]>([
    [same, ['Correct', 'Wrong', 'Correct'], 'Correct'],
    [same, ['Wrong', 'Wrong', 'Correct'], 'Wrong'],
    [similar, ['5', '1', '2'], '2'],
    [similar, ['５', '4', '1'], '4'],
    [{ task: 'count-matched', items: ['a', 'b'], list: ['a', 'b'] }, ['2', '0', '1'], '1'],
    [
      { task: 'consultation', grade: 'all', disease: 'x', dialogue: [] },
      ['.5', '0.9', '0.1'],
      '0.5',
    ],
    [
      { task: 'patient-conduct', profile: 'x', dialogue: [] },
      [0, 1, 2].map((n) => JSON.stringify({ extra: n, missing: 2 - n, opposite: n === 1 ? 3 : 0 })),
      '{"extra":1,"missing":1,"opposite":0}',
    ],
  ])('%#: takes the majority, or the median', async (request, words, reply) => {
    const judge = voting(words)
    expect(await jury(judge, { votes: 3 })(request)).toBe(reply)
    expect(judge.asked.map(({ vote }) => vote)).toEqual([0, 1, 2])
  })

  test('of several models is a panel, named by all', async () => {
    const panel = jury([voting(['Correct'], 'a'), voting(['Wrong'], 'b'), voting(['Correct'], 'c')])
    expect(await panel(same)).toBe('Correct')
    expect(panel.judgeName).toBe('a+b+c')
  })

  test('asks in both orders, and a verdict that hangs on the order decides nothing', async () => {
    const first: Judge = Object.assign(
      async (_: JudgeRequest, { swapped }: JudgeContext = {}) => (swapped ? 'Wrong' : 'Correct'),
      { judgeName: 'm' },
    )
    await expect(jury(first, { swap: true })(same)).rejects.toMatchObject({
      code: 'model-unreadable',
      message: 'jury m⇄, same-diagnosis: the votes decide nothing: Correct, Wrong',
    })
    expect(await jury(voting(['Correct']), { swap: true })(same)).toBe('Correct')
  })

  test('counts a vote that cannot be read as none: a majority is one of all', async () => {
    const blank = voting(['?'], 'b')
    const panel = jury([voting(['Correct']), blank, voting(['Correct'])], { asks: 3 })
    expect(await panel(same)).toBe('Correct')
    expect(blank.asked.map(({ attempt }) => attempt)).toEqual([0, 1, 2])
    await expect(jury([voting(['Correct']), blank])(same)).rejects.toThrow(
      /Correct, \(unreadable\)/,
    )
    await expect(jury([voting(['4']), blank])(similar)).rejects.toThrow(/decide nothing/)
  })

  test('is down where one of it is down', async () => {
    const down: Judge = Object.assign(
      async () => {
        throw new Fault('model-unavailable', 'no answer')
      },
      { judgeName: 'down' },
    )
    const panel = jury([voting(['Correct']), voting(['Correct']), down])
    await expect(panel(same)).rejects.toMatchObject({ code: 'model-unavailable' })
  })

  test.each([{ votes: 0 }, { votes: 1.5 }, { asks: 0 }])('refuses %j', (options) => {
    expect(() => jury(voting(['Correct']), options)).toThrow(RangeError)
    expect(() => jury([])).toThrow(RangeError)
  })
})

describe('a cached judge', () => {
  test('asks once for the same content, whatever the order of its keys', async () => {
    const judge = voting(['Correct', 'Wrong', 'second try', 'other vote', 'swapped'])
    const cached = cachedJudge(judge)
    const turned = { answer: 'podagra', reference: 'Gout', task: 'same-diagnosis' } as const
    expect(await Promise.all([cached(same), cached(turned)])).toEqual(['Correct', 'Correct'])
    expect(await cached(same)).toBe('Correct')
    expect(await cached({ ...same, answer: 'gouty arthritis' })).toBe('Wrong')
    expect(await cached(same, { attempt: 1 })).toBe('second try')
    expect(await cached(same, { vote: 1 })).toBe('other vote')
    expect(await cached(same, { swapped: true })).toBe('swapped')
    expect(judge.asked).toHaveLength(5)
    expect(cached.judgeName).toBe('m')
  })

  test('keeps no failure, and no more than it may', async () => {
    let calls = 0
    const judge: Judge = Object.assign(
      async ({ task }: JudgeRequest) => {
        if (calls++ === 0) throw new Fault('model-unavailable', 'once')
        return task
      },
      { judgeName: 'm' },
    )
    const cached = cachedJudge(judge, { most: 1 })
    await expect(cached(same)).rejects.toThrow('once')
    for (const request of [same, same, similar, same]) await cached(request)
    expect(calls).toBe(1 + 3)
    expect(() => cachedJudge(judge, { most: 0 })).toThrow(RangeError)
  })

  test('aborts a request when nobody waits for it any more, and not before', async () => {
    let signal: AbortSignal | undefined
    let resolve = (_: string): void => {}
    const promise = new Promise<string>((settle) => {
      resolve = settle
    })
    const judge: Judge = Object.assign(
      async (_: JudgeRequest, context: JudgeContext = {}) => {
        signal = context.signal
        return promise
      },
      { judgeName: 'm' },
    )
    const cached = cachedJudge(judge)
    const [one, other] = [new AbortController(), new AbortController()]
    const waiting = [one, other].map((by) => cached(same, { signal: by.signal }))
    const settled = Promise.allSettled(waiting)
    one.abort(new Error('gone'))
    await expect(waiting[0]).rejects.toThrow('gone')
    expect(signal?.aborted).toBe(false)
    other.abort(new Error('gone too'))
    await settled
    expect(signal?.aborted).toBe(true)
    // What comes next asks anew.
    const again = cached(same)
    resolve('Correct')
    expect(await again).toBe('Correct')
  })
})
