import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { overlapTask } from '../../../src/rewards/text/overlap-worker.js'
import { overlapWorkers } from '../../../src/rewards/text/overlap-workers.js'
import { pairs } from '../../fixtures/golden-texts.js'

const source = 'src/rewards/text/overlap-worker.ts'
const root = fileURLToPath(new URL('../../../', import.meta.url))
const always = { cold: 0, warm: 0 }
const some = pairs.slice(0, 120)
const expected = overlapTask({
  measure: 'bag-f1',
  candidates: some.map(({ candidate }) => candidate),
  golds: some.map(({ gold }) => gold),
})

describe('worker threads', () => {
  let folder = ''
  let file = ''

  beforeAll(async () => {
    // Inside of the package, for the thread looks for jieba-wasm from where its file lies.
    folder = mkdtempSync(join(root, 'node_modules', '.overlap-worker-'))
    await build({
      input: join(root, source),
      platform: 'node',
      external: (id) => !/^[./]/.test(id),
      output: { dir: folder },
    })
    file = join(folder, 'overlap-worker.js')
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('give the same numbers in the same order', async () => {
    await using workers = overlapWorkers({ threads: 2, minCharacters: always, file })
    expect(await workers.overlaps('bag-f1', some)).toEqual(expected)
    expect(await workers.overlaps('bag-f1', some.slice(0, 3))).toEqual(expected.slice(0, 3))
    expect(await workers.overlaps('bag-f1', [])).toEqual(new Float64Array(0))
  })

  test('compute what is asked for one by one', async () => {
    await using workers = overlapWorkers({ threads: 1, minCharacters: always, file })
    const asked = some.map(({ candidate, gold }) => workers.overlap('bag-f1', candidate, gold))
    const other = workers.overlap('character-lcs', '感冒', '感冒')
    expect(await Promise.all(asked)).toEqual([...expected])
    expect(await other).toBe(1)
    expect(await workers.overlap('bag-f1', '感冒', '感冒')).toBe(1)
  })

  test('that fail reject, and say why', async () => {
    await using workers = overlapWorkers({
      threads: 1,
      minCharacters: always,
      file: join(root, source),
    })
    const failed = expect.objectContaining({ code: 'component-failed' })
    await expect(workers.overlaps('bag-f1', some)).rejects.toEqual(failed)
    await expect(workers.overlap('bag-f1', '感冒', '感冒')).rejects.toEqual(failed)
  })
})

test('below what they are worth, and where none was built, this thread computes the same', async () => {
  for (const options of [
    { worth: { cold: 1e9, warm: 1e9 } },
    { worth: always, file: 'nowhere.js' },
  ]) {
    await using workers = overlapWorkers(options)
    expect(await workers.overlaps('bag-f1', some)).toEqual(expected)
  }
})

test('the build makes the file that is looked for', () => {
  expect(readFileSync(join(root, 'scripts/build.js'), 'utf8')).toContain(source)
})

test.each([0, 1.5, Number.NaN])('%s threads are refused at once', (threads) => {
  expect(() => overlapWorkers({ threads })).toThrow(RangeError)
})
