import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bedside, document } from '../terminal.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bedside-judge-check-'))
})
afterAll(() => rm(folder, { recursive: true }))

let files = 0
async function file(lines: readonly unknown[], ending = 'jsonl'): Promise<string> {
  const path = join(folder, `set-${files++}.${ending}`)
  await writeFile(
    path,
    lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
  )
  return path
}
const same = (reference: string, answer: string, label: string) => ({
  ...{ task: 'same-diagnosis', reference, answer, label },
})
const check = (...argv: readonly string[]) => ['rewards', 'judge-check', ...argv]

describe('rewards judge-check', () => {
  test('holds the rule judge against a labelled set', async () => {
    const path = await file([
      same('Influenza', 'the flu', 'Correct'),
      same('Influenza', 'Gout', 'Wrong'),
      '',
      same('Influenza', 'not influenza', 'Wrong'),
      same('Influenza', 'that winter fever of ours', 'Correct'),
    ])
    const report = await document(check(path))
    expect(report).toMatchObject({
      ...{ judge: 'rule', n: 4, unavailable: 0, unreadable: 0 },
      accuracy: { mean: 0.75 },
      agreement: { mean: 0.75 },
      kappa: { value: expect.closeTo(0.5, 12), n: 4 },
      byLabel: { Correct: { n: 2, agreement: 0.5 }, Wrong: { n: 2, agreement: 1 } },
      confusion: { Correct: { Correct: 1, Wrong: 1 }, Wrong: { Correct: 0, Wrong: 2 } },
    })
    const people = await bedside(check(path))
    expect(people.code).toBe(0)
    expect(people.stdout).toContain('4 requests to rule')
    expect(people.stdout).toMatch(/kappa\s+0\.50/)
  })

  test('takes modules as judges, several as a panel', async () => {
    const judge = (words: string) => file([`export const judge = async () => '${words}'`], 'mjs')
    const [yes, no] = [await judge('Correct'), await judge('Wrong')]
    const path = await file([same('x', 'y', 'Correct')])
    expect(
      await document(check(path, '--judge', yes, '--judge', no, '--judge', yes)),
    ).toMatchObject({
      judge: `${yes}+${no}+${yes}`,
      accuracy: { mean: 1 },
    })
  })

  test('a judge that answers nothing fails the work, and says why', async () => {
    const mute = await file(["export const judge = async () => 'Perhaps.'"], 'mjs')
    const path = await file([same('x', 'y', 'Correct'), same('x', 'z', 'Wrong')])
    const { code, stderr } = await bedside(check(path, '--judge', mute))
    expect(code).toBe(1)
    expect(stderr).toContain('none of 2 requests was answered')
    expect(stderr).toContain('got `Perhaps.`')
  })

  test.each<[string, readonly unknown[], RegExp]>([
    ['no JSON', [same('x', 'y', 'Wrong'), '{'], /set-\d+\.jsonl:2: /],
    ['another label', [same('x', 'y', 'maybe')], /:1: label: /],
    ['an unknown task', [{ ...same('x', 'y', 'Wrong'), task: 'guess' }], /:1: task: /],
    ['a key too many', [{ ...same('x', 'y', 'Wrong'), why: '?' }], /why/],
    [
      'two tasks',
      [same('x', 'y', 'Wrong'), { task: 'count-matched', items: [], list: [], label: 0 }],
      /:2: task: expected one task in a labelled set, `same-diagnosis` as before/,
    ],
    ['nothing', [''], /expected labelled requests, found none/],
    ['an array', ['[{}]'], /expected JSON lines \(one request a line\)/],
  ])('%s is bad input', async (_, lines, message) => {
    const { code, stderr } = await bedside(check(await file(lines)))
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
  })

  test.each<[readonly string[], RegExp]>([
    [['--judge', 'rules'], /--judge: expected rule, or a module/],
    [['--votes', '0'], /votes/],
    [['--prompts', 'mine'], /prompts/],
  ])('%j is bad input', async (flags, message) => {
    const path = await file([same('x', 'y', 'Wrong')])
    const { code, stderr } = await bedside(check(path, ...flags))
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
  })
})
