import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test, vi } from 'vitest'

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
const readme = read('README.md')

/** The TypeScript of the page, its list indentation taken off. */
const blocks = [...readme.matchAll(/^( *)```ts\n([\s\S]*?)^ *```$/gm)].map(([, indent, code]) =>
  (code ?? '').replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
)

const folder = mkdtempSync(join(tmpdir(), 'bedside-readme-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('the code of the README', () => {
  test('is there', () => expect(blocks).toHaveLength(2))

  test('begins with the first example, to the letter', () => {
    expect(blocks[0]).toBe(read('examples/01-own-loop.ts'))
  })

  test.each(blocks.map((code, i) => [i, code] as const))('block %i runs', async (i, code) => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {})
    const file = join(folder, `block-${i}.ts`)
    writeFileSync(file, code)
    await expect(import(/* @vite-ignore */ file)).resolves.toBeDefined()
    log.mockRestore()
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
