import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test, vi } from 'vitest'
import type { Reward } from '../src/reward.js'
import { auditRewards } from '../src/tasks/audit-rewards.js'

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
const readme = read('README.md')

/** The code of the page, its list indentation taken off. */
const blocks = [...readme.matchAll(/^( *)```([tj]s)\n([\s\S]*?)^ *```$/gm)].map(
  ([, indent, language, code]) => ({
    language,
    code: (code ?? '').replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }),
)

const folder = mkdtempSync(join(tmpdir(), 'bedside-readme-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('the code of the README', () => {
  test('is there', () => expect(blocks).toHaveLength(2))

  test('begins with the first example, to the letter', () => {
    expect(blocks[0]?.code).toBe(read('examples/01-own-loop.ts'))
  })

  const runs = async (i: number): Promise<Record<string, unknown>> => {
    const { language, code = '' } = blocks[i] ?? {}
    const file = join(folder, `block-${i}.${language}`)
    writeFileSync(file, code)
    return import(/* @vite-ignore */ file)
  }

  test('the loop runs', async () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {})
    await expect(runs(0)).resolves.toBeDefined()
    log.mockRestore()
  })

  test('the reward fails its audit, for paying who asks anything', async () => {
    const { reward } = await runs(1)
    // Its export is a reward, as the next line finds out.
    const rewards = [reward as Reward]
    const [audit] = await auditRewards({ rewards, count: 30, ceiling: false })
    expect(audit?.passed).toBe(false)
    const worst = audit?.policies.find(({ name }) => name === audit.best?.policy)
    expect(worst?.paid[0]).toMatchObject({ part: 'curiosity' })
  })
})

describe('what the README names exists', () => {
  const paths = [...readme.matchAll(/`((?:docs|data|src|examples)\/[\w./-]*)`/g)].map(
    ([, path]) => path,
  )

  test('at least the folders it speaks of', () => expect(paths.length).toBeGreaterThan(4))

  test.each(paths)('%s', (path) => {
    expect(existsSync(new URL(`../${path}`, import.meta.url))).toBe(true)
  })

  test('and the commands are those of package.json', () => {
    const { scripts } = JSON.parse(read('package.json'))
    for (const [, name] of readme.matchAll(/npm (?:run )?(demo|test|bench|check)\b/g))
      expect(scripts).toHaveProperty(name ?? '')
  })
})
