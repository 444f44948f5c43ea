import { describe, expect, test } from 'vitest'
import { errorMessage, Fault, rethrowAsFault } from '../src/error.js'

describe('Fault', () => {
  test('is an error with a code, a name and a cause', () => {
    const cause = new Error('ECONNREFUSED')
    const fault = new Fault('model-unavailable', 'no answer', { cause })
    expect(fault).toBeInstanceOf(Error)
    expect([fault.name, fault.code, fault.message, fault.cause]).toEqual([
      'Fault',
      'model-unavailable',
      'no answer',
      cause,
    ])
  })

  test('is known by Fault.is, also where another copy of the package made it', () => {
    const foreign = Object.assign(new Error('far away'), { [Symbol.for('bedside.fault')]: true })
    expect(Fault.is(new Fault('aborted', 'stop'))).toBe(true)
    expect(Fault.is(foreign)).toBe(true)
  })

  for (const value of [new Error('x'), { code: 'aborted' }, null, undefined, 'Fault', 3])
    test(`is not ${JSON.stringify(value) ?? String(value)}`, () => {
      expect(Fault.is(value)).toBe(false)
    })
})

describe('boundary', () => {
  test('gives what the work gives, waited for', async () => {
    expect(await rethrowAsFault('component-failed', 'patient', () => 3)).toBe(3)
    expect(await rethrowAsFault('component-failed', 'patient', async () => 4)).toBe(4)
  })

  for (const [what, work] of [
    [
      'throws',
      () => {
        throw new TypeError('no such finding')
      },
    ],
    [
      'rejects with',
      async () => {
        throw new TypeError('no such finding')
      },
    ],
  ] as const)
    test(`makes a fault of an error the work ${what}, with its name and cause`, async () => {
      const fault = await rethrowAsFault('component-failed', 'patient', work).catch(
        (error) => error,
      )
      expect(Fault.is(fault)).toBe(true)
      expect(fault).toMatchObject({
        code: 'component-failed',
        message: 'patient: no such finding',
        cause: new TypeError('no such finding'),
      })
    })

  test('makes a fault of what is no error at all', async () => {
    const fault = rethrowAsFault('component-failed', 'patient', () => Promise.reject('just text'))
    await expect(fault).rejects.toMatchObject({ message: 'patient: just text', cause: 'just text' })
  })

  test('leaves a fault of a nearer boundary as it is', async () => {
    const near = new Fault('model-unavailable', 'no answer')
    const outer = rethrowAsFault('component-failed', 'episode', () =>
      rethrowAsFault('component-failed', 'patient', () => Promise.reject(near)),
    )
    await expect(outer).rejects.toBe(near)
  })
})

test('messageOf gives the message of anything thrown', () => {
  expect([new Error('x'), 'y', 3, null].map(errorMessage)).toEqual(['x', 'y', '3', 'null'])
})
