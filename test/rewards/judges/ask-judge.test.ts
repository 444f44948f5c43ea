import { describe, expect, test } from 'vitest'
import { Fault } from '../../../src/error.js'
import { askJudge } from '../../../src/rewards/judges/ask-judge.js'
import type { Judge } from '../../../src/rewards/judges/judge.js'
import {
  readCounts,
  readDecimal,
  readInteger,
  readSimilarity,
  readVerdict,
} from '../../../src/rewards/judges/read-reply.js'
import { saying } from '../../fixtures/judges.js'

const verdict = { task: 'same-diagnosis', reference: 'Gout', answer: 'Gout' } as const

describe('a strict reader', () => {
  test.each([
    ['Correct', true],
    ['wrong', false],
    [' **Wrong**.\n', false],
    ['[Correct]', true],
    ['<think>Wrong? No.</think>Correct', true],
    ['Verdict: Correct', true],
    ['**Answer:** Wrong', false],
    ['判断：正确', true],
    ['<think>…</think><answer> Wrong </answer>', false],
    ['Ｃｏｒｒｅｃｔ', true],
    ['Incorrect', undefined],
    ['不正确', undefined],
    ['constructor', undefined],
    ['[Correct|Wrong]', undefined],
    ['Correct. Not wrong.', undefined],
    ['not correct', undefined],
    ['Yes', undefined],
    ['', undefined],
  ])('takes %j for the verdict %j', (reply, read) => expect(readVerdict(reply)).toBe(read))

  test.each([
    ['3', 3],
    ['`0`', 0],
    ['5.', 5],
    ['３', 3],
    ['٣', 3],
    ['<answer>4</answer>', 4],
    ['<answer>4</answer> of 5', undefined],
    ['6', undefined],
    ['②', 2],
    ['-1', undefined],
    ['2.5', undefined],
    ['There are 2 lists; 0 match', undefined],
    ['3/5', undefined],
    ['', undefined],
  ])('takes %j for the integer %j of 5', (reply, read) => expect(readInteger(reply, 5)).toBe(read))

  test.each([
    ['4', 4],
    ['Score: 4', 4],
    ['**Score:** ４/５', 4],
    ['similarity = 3 out of 5.', 3],
    ['评分：４分（满分5分）', 4],
    ['<think>5? no</think>\n<answer> 2 </answer>', 2],
    ['3.5', undefined],
    ['6/5', undefined],
    ['4/10', undefined],
    ['4 to 5', undefined],
    ['scores 4', undefined],
    ['1. The texts differ', undefined],
    ['', undefined],
  ])('takes %j for the similarity %j', (reply, read) => expect(readSimilarity(reply)).toBe(read))

  test.each([
    ['0.7', 0.7],
    ['Score: 0.4 out of 1.0', 0.4],
    ['The final score is 0.4/1', 0.4],
    ['得分：０．４（满分１）', 0.4],
    ['٠.٤', 0.4],
    ['Score: 0.4 out of 10', undefined],
    ['Score: 0.4 because 1.0 is too much', undefined],
    ['.75', 0.75],
    ['1', 1],
    ['1.0', 1],
    ['"0"', 0],
    ['8/10', undefined],
    ['70% -> 0.7', undefined],
    ['70%', undefined],
    ['1.2', undefined],
    ['-0.4', undefined],
    ['1) accuracy 0.2', undefined],
    ['0.2-0.4', undefined],
    ['', undefined],
  ])('takes %j for the decimal %j', (reply, read) => expect(readDecimal(reply)).toBe(read))

  const counts = { extra: 1, missing: 0, opposite: 2 }
  test.each<[string, typeof counts | undefined]>([
    ['{"extra":1,"missing":0,"opposite":2}', counts],
    ['```json\n{"opposite":2,"missing":0,"extra":1}\n```', counts],
    [
      '{"information_control_rate":0.8,"response_completeness_rate":1,"factual_conflict_rate":0.6}',
      counts,
    ],
    [
      '{"information_control_rate":0.75,"response_completeness_rate":1,"factual_conflict_rate":1}',
      undefined,
    ],
    ['{"extra":1,"missing":0}', undefined],
    ['{"extra":1,"missing":0,"opposite":-2}', undefined],
    ['{"extra":1.5,"missing":0,"opposite":2}', undefined],
    ['{"extra":"1","missing":0,"opposite":2}', undefined],
    ['{"extra":1,"missing":0,"opposite":2,"why":"x"}', undefined],
    ['Here: {"extra":1,"missing":0,"opposite":2}', undefined],
    ['[1,0,2]', undefined],
    ['null', undefined],
  ])('takes %j for the counts %j', (reply, read) => expect(readCounts(reply)).toEqual(read))
})

describe('asking a judge', () => {
  test('asks once more where the reply cannot be read', async () => {
    const replies = ['Hm.', 'Wrong']
    const judge = saying(() => replies.shift() ?? 'Correct')
    expect(await askJudge<'same-diagnosis'>(judge, verdict)).toBe(false)
    expect(judge.asked).toEqual([verdict, verdict])
  })

  test('and no third time', async () => {
    const judge = saying(() => 'Incorrect')
    await expect(askJudge<'same-diagnosis'>(judge, verdict)).rejects.toMatchObject({
      code: 'model-unreadable',
      message: 'judge scripted, same-diagnosis: expected `Correct` or `Wrong`, got `Incorrect`',
    })
    expect(judge.asked).toHaveLength(2)
  })

  test('asks as often as it is told to, another attempt each time', async () => {
    const attempts: (number | undefined)[] = []
    const judge: Judge = Object.assign(
      async (...[, context]: Parameters<Judge>) => {
        attempts.push(context?.attempt)
        if (attempts.length === 2) throw new Fault('model-unreadable', 'an empty reply')
        return attempts.length < 5 ? '?' : 'Correct'
      },
      { judgeName: 'slow' },
    )
    expect(await askJudge<'same-diagnosis'>(judge, verdict, {}, { asks: 5 })).toBe(true)
    expect(attempts).toEqual([undefined, 1, 2, 3, 4])
    attempts.length = 0
    await expect(askJudge<'same-diagnosis'>(judge, verdict, {}, { asks: 4 })).rejects.toMatchObject(
      { code: 'model-unreadable' },
    )
  })

  test('holds a count to the shorter list', async () => {
    const request = { task: 'count-matched', items: ['a', 'b', 'c'], list: ['a', 'b'] } as const
    expect(
      await askJudge<'count-matched'>(
        saying(() => '2'),
        request,
      ),
    ).toBe(2)
    await expect(
      askJudge<'count-matched'>(
        saying(() => '3'),
        request,
      ),
    ).rejects.toThrow(/an integer from 0 to 2, got `3`/)
  })

  test('hands on the context, and the fault of a judge that is down', async () => {
    const down = new Fault('model-unavailable', 'no answer')
    const { signal } = new AbortController()
    const judge: Judge = Object.assign(
      async (...[, context]: Parameters<Judge>): Promise<string> => {
        expect(context?.signal).toBe(signal)
        throw down
      },
      { judgeName: 'down' },
    )
    await expect(askJudge<'same-diagnosis'>(judge, verdict, { signal })).rejects.toBe(down)
  })
})
