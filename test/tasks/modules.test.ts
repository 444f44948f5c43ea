import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  agentProblem,
  backendProblem,
  examsProblem,
  functionProblem,
  isModule,
  loadPart,
  partRegistry,
  unknownPart,
} from '../../src/tasks/modules.js'
import { bandit } from '../fixtures/bandit.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bedside-modules-'))
})
afterAll(() => rm(folder, { recursive: true }))

const written = async (name: string, code: string): Promise<string> => {
  const file = join(folder, name)
  await writeFile(file, code)
  return file
}
const loaded = (file: string) =>
  loadPart('patient', file, { at: '--patient', problemOf: functionProblem })

describe('a module', () => {
  test.each([
    ['./mine.mjs', true],
    ['mine.js', true],
    ['a/b.ts', true],
    ['mine.cjs', true],
    ['rule', false],
    ['mine.mjs.txt', false],
    ['mjs', false],
  ])('%s: %j', (name, is) => expect(isModule(name)).toBe(is))

  test('gives its export of the kind', async () => {
    const file = await written('good.mjs', "export const patient = () => 'yes'\n")
    await expect(loaded(file)).resolves.toBeTypeOf('function')
  })

  test.each([
    ['none.mjs', undefined, 'there is no such file'],
    ['broken.mjs', 'export const patient = (', '--patient'],
    ['throwing.mjs', 'throw new Error("no key")', 'no key'],
    ['empty.mjs', '', 'expected a function, got undefined among the exports (none)'],
    ['other.mjs', 'export const pateint = 1', 'got undefined among the exports pateint'],
    ['value.mjs', 'export const patient = null', 'export `patient`: expected a function, got null'],
  ])('%s is bad input', async (name, code, message) => {
    const file = code === undefined ? join(folder, name) : await written(name, code)
    const refused = expect(loaded(file)).rejects
    await refused.toMatchObject({ code: 'bad-input' })
    await expect(loaded(file)).rejects.toThrow(`--patient ${file}`)
    await expect(loaded(file)).rejects.toThrow(message)
  })

  test('in TypeScript is run where Node strips types, and refused in words elsewhere', async () => {
    const file = await written('typed.ts', "export const patient = (): string => 'yes'\n")
    const strips: unknown = Reflect.get(process.features, 'typescript')
    if (strips) await expect(loaded(file)).resolves.toBeTypeOf('function')
    else
      await expect(loaded(file)).rejects.toThrow(/\.mjs module, or Node 22\.18 or later.*got Node/)
  })
})

describe('a registry', () => {
  test('takes each name once, and none of the package or of a file', () => {
    const registry = partRegistry<() => number>('patient', ['rule'])
    registry.register('mine', () => 1)
    expect(registry.get('mine')?.()).toBe(1)
    expect(registry.names()).toEqual(['mine'])
    expect(() => registry.register('mine', () => 2)).toThrow(/new name .*`mine`, which is taken/)
    expect(() => registry.register('rule', () => 2)).toThrow(TypeError)
    expect(() => registry.register('./mine.mjs', () => 2)).toThrow(/no module file/)
    expect(() => registry.register('', () => 2)).toThrow(TypeError)
  })

  test('an unknown name is told with those near it', () =>
    expect(
      unknownPart('patient', 'ruel', { at: '--patient', names: ['rule', 'record'] }).message,
    ).toBe(
      '--patient: expected rule, record, or a module (.mjs) that exports `patient` (did you mean `rule`?), got `ruel`',
    ))
})

describe('a shape', () => {
  test('of exams is a function or several', () => {
    expect(examsProblem(() => undefined)).toBeUndefined()
    expect(examsProblem([() => undefined])).toBeUndefined()
    expect(examsProblem([])).toContain('at least one')
    expect(examsProblem([() => undefined, 3])).toContain('got number at 1')
    expect(examsProblem({})).toContain('got object')
  })

  test('of an agent is a function, or has forCase', () => {
    expect(agentProblem(() => undefined)).toBeUndefined()
    expect(agentProblem({ forCase: () => undefined })).toBeUndefined()
    expect(agentProblem({})).toBe('expected a function, got object')
  })

  test('of a backend lists all that is missing', () => {
    const whole = bandit([])
    expect(backendProblem(whole)).toBeUndefined()
    expect(backendProblem(undefined)).toContain('got undefined')
    expect(backendProblem({ name: 'x', capabilities: { losses: [] }, step() {}, values: 1 })).toBe(
      'expected a backend, got one without policyVersion (a number), capabilities.normalisers (an array), capabilities.exports (an array), capabilities.entropy (a boolean), sampler(), save(), load(), export(), values() or no values at all, [Symbol.asyncDispose]()',
    )
  })
})
