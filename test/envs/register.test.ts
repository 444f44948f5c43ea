import { describe, expect, expectTypeOf, test } from 'vitest'
import type { Env } from '../../src/env.js'
import { make, register } from '../../src/envs/register.js'
import { tinyEnv } from '../fixtures/tiny.js'

interface Named {
  readonly name: string
}

declare module '../../src/envs/register.js' {
  interface EnvRegistry {
    'test/tiny': { options: { readonly maxTurns?: number }; env: Env }
    'test/named': { options: Named; env: Env & Named }
    'test/missing': { options: object; env: Env }
    'test/wrong': { options: object; env: Env & Named }
  }
}

register('test/tiny', (options) => tinyEnv(options))
register('test/named', ({ name }) => ({ ...tinyEnv(), name }))

describe('make', () => {
  test('makes a registered env with its options', async () => {
    const env = make('test/tiny', { maxTurns: 2 })
    expect((await env.reset()).observation.turnsLeft).toBe(2)
  })

  test('makes a new env at every call', () => {
    expect(make('test/tiny')).not.toBe(make('test/tiny'))
  })

  test('has the type that was registered', () => {
    expectTypeOf(make('test/named', { name: 'a' })).toEqualTypeOf<Env & Named>()
    expect(make('test/named', { name: 'a' }).name).toBe('a')
  })

  test('lists the names there are when it does not know one', () => {
    expect(() => make('test/missing')).toThrow(
      /^Expected a registered environment \((.*, )?test\/named, test\/tiny(, .*)?\), got `test\/missing`$/,
    )
    expect(() => make('test/missing')).toThrow(RangeError)
  })

  test('does not compile with a name nobody declared, or without options that are needed', () => {
    // @ts-expect-error no such name
    expect(() => make('test/tinny')).toThrow('got `test/tinny`')
    // @ts-expect-error `name` is needed
    expect(() => make('test/named')).toThrow()
    // @ts-expect-error a name is a text
    expect(make('test/named', { name: 3 }).name).toBe(3)
  })
})

describe('register', () => {
  test('refuses a name that is taken, and keeps the first maker', () => {
    expect(() => register('test/tiny', () => tinyEnv({ maxTurns: 1 }))).toThrow(
      new TypeError('Expected a new name to register, got `test/tiny`, which is taken'),
    )
    expect(make('test/tiny', {})).toBeDefined()
  })

  test('does not compile with a maker of another env', () => {
    // @ts-expect-error the env has no name
    register('test/wrong', () => tinyEnv())
    expect(make('test/wrong')).toBeDefined()
  })
})
