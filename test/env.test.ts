import { describe, expect, test } from 'vitest'
import { ended, termination, transition, truncation } from '../src/env.js'

const info = { caseId: 'a', seed: 0 }

describe('the constructors of a step', () => {
  test('transition goes on, at no reward unless one is given', () => {
    expect(transition('seen', info)).toEqual({
      observation: 'seen',
      reward: 0,
      terminated: false,
      truncated: false,
      info,
    })
    expect(transition('seen', info, 0.5).reward).toBe(0.5)
  })

  test('termination and truncation raise one flag each and keep the stop', () => {
    const last = { ...info, stop: 'diagnosed' } as const
    expect(termination('seen', last, 1)).toEqual({
      observation: 'seen',
      reward: 1,
      terminated: true,
      truncated: false,
      info: last,
    })
    expect(truncation('seen', last)).toMatchObject({
      terminated: false,
      truncated: true,
      reward: 0,
    })
  })

  test('a last step without a stop does not compile', () => {
    // @ts-expect-error it must say why
    expect(ended(termination('seen', info))).toBe(true)
    // @ts-expect-error it must say why
    expect(ended(truncation('seen', info))).toBe(true)
  })

  test('ended is true of a last step alone', () => {
    const last = { ...info, stop: 'max-turns' }
    expect([transition(0, info), termination(0, last), truncation(0, last)].map(ended)).toEqual([
      false,
      true,
      true,
    ])
  })
})
