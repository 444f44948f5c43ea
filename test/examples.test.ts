import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

/** What an example printed, one string a call. */
const printed: string[] = []

beforeEach(() => {
  printed.length = 0
  vi.spyOn(console, 'log').mockImplementation((...words) => {
    printed.push(
      words.map((word) => (typeof word === 'string' ? word : JSON.stringify(word))).join(' '),
    )
  })
})
afterEach(() => vi.restoreAllMocks())

const linesOf = (name: string): number =>
  readFileSync(new URL(`../examples/${name}`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n').length

test('01: a loop of your own in at most eight lines plays to the end and is paid', async () => {
  expect(linesOf('01-own-loop.ts')).toBeLessThanOrEqual(8)
  await import('../examples/01-own-loop.js')
  expect(printed).toEqual([expect.stringMatching(/^diagnosed 0\.\d+$/)])
})

test('02: a reward of your own scores saved episodes', async () => {
  await import('../examples/02-own-reward.js')
  expect(printed).toEqual([expect.stringMatching(/^mean reward 0\.\d{3} over 50 saved episodes$/)])
})

test('03: a patient of your own is shy once', async () => {
  await import('../examples/03-own-patient.js')
  expect(printed[0]).toBe('Hello, doctor.')
  expect(printed[1]).toMatch(/\w/)
  expect(printed[1]).not.toBe('Hello, doctor.')
})

test('04: a backend of your own takes fewer than 60 lines; its conformance is tested with the trainers', () => {
  expect(linesOf('04-own-backend.ts')).toBeLessThan(60)
})

test('05: a case file of your own is played', async () => {
  await import('../examples/05-own-cases.js')
  expect(printed).toEqual([expect.stringContaining('woke me up'), 'reward 1'])
})

test('06: a doctor and a patient that are both policies take their steps', async () => {
  process.env.STEPS = '2'
  await import('../examples/06-two-policies.js')
  expect(printed).toEqual([
    expect.stringMatching(/^step 1: doctor right 0\.\d\d, patient answers 0\.\d\d$/),
  ])
})
