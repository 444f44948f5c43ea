import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bedside } from '../terminal.js'

let folder: string
let talk: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bedside-audit-'))
  talk = join(folder, 'talk.mjs')
  await writeFile(
    talk,
    `const asks = (episode) => episode.turns.filter((turn) => turn.action.kind === 'ask').length
     export const reward = (episode) => asks(episode) / episode.maxTurns`,
  )
})
afterAll(() => rm(folder, { recursive: true }))

const audit = (...argv: readonly string[]) =>
  bedside(['rewards', 'audit', '--cases', '12', ...argv])

describe('rewards audit', () => {
  test('--json is one document with the keys that scripts read, and exit code 0 where it passed', async () => {
    const { code, stdout } = await audit('--reward', 'default', '--json')
    const found = JSON.parse(stdout)
    expect(code).toBe(0)
    expect(found).toMatchObject({
      ...{ reward: 'default', random: expect.any(Number), passed: true },
      ...{ cases: 12, tier: 'easy', lang: 'en', seed: 0, parity: false, warnings: [] },
      ceiling: { name: 'oracle', mean: expect.any(Number) },
      timing: { seconds: expect.any(Number) },
    })
    expect(found.policies.length).toBeGreaterThan(20)
    for (const policy of found.policies)
      expect(policy).toMatchObject({
        ...{ name: expect.any(String), mean: expect.any(Number), gain: expect.any(Number) },
        exploit: false,
      })
  })

  test('a reward of the user that pays for talk fails, with the best exploit and what paid it', async () => {
    const { code, stdout } = await audit('--reward', talk)
    expect(code).toBe(1)
    expect(stdout).toMatch(/pad-open +0\.900 +\+0\.\d{3} .* exploit/)
    expect(stdout).toMatch(/Gained most: never-end\. Asks until it is cut off/)
    expect(stdout).toMatch(/ 1 Doctor +\S+/)
    expect(stdout.trimEnd().split('\n').at(-1)).toBe('failed')
  })

  test('a parity formula prints what it pays and ends with 0', async () => {
    const { code, stdout } = await audit('--reward', 'grpodx-readme-parity', '--json')
    const { parity, passed, policies } = JSON.parse(stdout)
    expect([code, parity, passed]).toEqual([0, true, true])
    expect(policies.some(({ exploit }: { exploit: boolean }) => exploit)).toBe(true)
  })

  test('--budget trains a blind adversary and prints the sequence it found', async () => {
    const { code, stdout } = await audit('--reward', talk, '--budget', '512', '--json')
    const { sequence, policies } = JSON.parse(stdout)
    expect(code).toBe(1)
    expect(sequence.length).toBeGreaterThan(1)
    expect(policies.at(-1)).toMatchObject({ name: 'blind-adversary', exploit: true })
  })

  test('the same seed gives the same bytes but for the timing, in either language', async () => {
    const argv = ['--reward', 'default', '--lang', 'zh', '--seed', '5', '--json'] as const
    const read = async () => ({ ...JSON.parse((await audit(...argv)).stdout), timing: undefined })
    const once = await read()
    expect(JSON.stringify(await read())).toBe(JSON.stringify(once))
    expect(once).toMatchObject({ lang: 'zh', seed: 5 })
  })

  test('an unknown reward is bad input', async () => {
    const { code, stderr } = await audit('--reward', 'defualt')
    expect([code, stderr]).toEqual([2, expect.stringContaining('--reward')])
  })
})
