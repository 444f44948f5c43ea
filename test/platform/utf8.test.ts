import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decodeUtf8, readText } from '../../src/platform/utf8.js'
import { fc } from '../fixtures/property.js'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bedside-utf8-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** Bytes in pieces of the sizes given, over and over. */
async function* inPieces(bytes: Uint8Array, sizes: readonly number[]) {
  for (let at = 0, n = 0; at < bytes.length; n++) {
    const size = sizes[n % sizes.length] as number
    yield bytes.subarray(at, at + size)
    at += size
  }
}
async function decoded(bytes: Uint8Array, sizes: readonly number[] = [7]): Promise<string> {
  let text = ''
  for await (const piece of decodeUtf8(inPieces(bytes, sizes), 'FILE')) text += piece
  return text
}

/** The platform's own decoder, as the judge of what is UTF-8. */
function judged(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 })
const text = fc.string({ unit: 'binary' })

describe('decodeUtf8', () => {
  test('gives back any text, however its bytes are cut', async () => {
    await fc.assert(
      fc.asyncProperty(text, sizes, async (given, cuts) => {
        fc.pre(!given.startsWith('\uFEFF'))
        expect(await decoded(Buffer.from(given), cuts)).toBe(given)
      }),
    )
  })

  test('refuses exactly what the platform refuses, at the first character that is none', async () => {
    const spoiled = fc.tuple(text, fc.uint8Array({ minLength: 1, maxLength: 4 }), text, sizes)
    await fc.assert(
      fc.asyncProperty(spoiled, async ([before, odd, after, cuts]) => {
        const head = Buffer.from(before)
        const bytes = Buffer.concat([head, odd, Buffer.from(after)])
        fc.pre(!['fffe', 'feff'].includes(bytes.subarray(0, 2).toString('hex')))
        const right = judged(bytes)
        if (right !== undefined) {
          expect(await decoded(bytes, cuts)).toBe(right)
          return
        }
        const { message } = (await decoded(bytes, cuts).catch((error: unknown) => error)) as Error
        const [, hex, offset] =
          /^FILE: expected UTF-8, got byte 0x(..) at offset (\d+)$/.exec(message) ?? []
        const at = Number(offset)
        expect(bytes[at]).toBe(Number.parseInt(`${hex}`, 16))
        expect(judged(bytes.subarray(0, at))).toBeDefined()
        expect(at).toBeGreaterThanOrEqual(head.length)
      }),
    )
  })

  test.each([
    ['a byte that never is', [0x61, 0xff, 0x62], '0xff at offset 1'],
    ['Latin-1', [...Buffer.from('Fi\xe8vre', 'latin1')], '0xe8 at offset 2'],
    ['GBK', [0xb7, 0xa2, 0xc9, 0xd5], '0xb7 at offset 0'],
    ['an overlong form', [0x20, 0xc0, 0xaf], '0xc0 at offset 1'],
    ['a surrogate', [0xed, 0xa0, 0x80], '0xed at offset 0'],
    ['a character that breaks off at the end', [0x61, 0xe5, 0x8f], '0xe5 at offset 1'],
  ])('names the byte and the offset of %s', async (_, bytes, named) => {
    await expect(decoded(Uint8Array.from(bytes))).rejects.toMatchObject({
      code: 'bad-input',
      message: `FILE: expected UTF-8, got byte ${named}`,
    })
  })

  test('counts offsets from the beginning of the file, over many pieces', async () => {
    const bytes = Buffer.concat([Buffer.from('发烧'.repeat(100_000)), Buffer.from([0xff])])
    await expect(decoded(bytes, [65_536])).rejects.toThrow('0xff at offset 600000')
  })

  test('skips a byte order mark at the beginning, and there alone', async () => {
    const marked = Buffer.from('\uFEFFa\uFEFFb')
    for (const cuts of [[1], [2], [3], [9]]) expect(await decoded(marked, cuts)).toBe('a\uFEFFb')
    expect(await decoded(Buffer.from('\uFEFF'))).toBe('')
    expect(await decoded(new Uint8Array())).toBe('')
  })

  test.each([
    ['little', [0xff, 0xfe, 0x61, 0]],
    ['big', [0xfe, 0xff, 0, 0x61]],
  ])('names UTF-16 of %s end first, and what turns it round', async (end, bytes) => {
    const failure = decoded(Uint8Array.from(bytes), [1])
    await expect(failure).rejects.toMatchObject({ code: 'bad-input' })
    await expect(failure).rejects.toThrow(
      `FILE: expected UTF-8, got UTF-16 (${end}-endian byte order mark); \`iconv -f UTF-16 -t UTF-8 FILE\` converts it`,
    )
  })

  test('takes text that was decoded already as it is', async () => {
    const pieces = (async function* () {
      yield 'a发'
      yield Buffer.from('b')
    })()
    let all = ''
    for await (const piece of decodeUtf8(pieces, 'stdin')) all += piece
    expect(all).toBe('a发b')
  })
})

test('readText reads a whole file on the same terms', async () => {
  const path = join(folder, 'a.yaml')
  await writeFile(path, '\uFEFFseed: 1 # 种子')
  expect(await readText(path)).toBe('seed: 1 # 种子')
  await writeFile(path, Buffer.from([0x61, 0xe9]))
  await expect(readText(path)).rejects.toThrow(`${path}: expected UTF-8, got byte 0xe9 at offset 1`)
  await expect(readText(join(folder, 'none'))).rejects.toMatchObject({ code: 'ENOENT' })
})
