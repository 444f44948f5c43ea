import { execFile, spawn } from 'node:child_process'
import {
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  isLeftover,
  isStreamed,
  newFile,
  readableFolder,
  writeFileAtomically,
  writeFolderAtomically,
} from '../../src/storage/atomic-write.js'
import { readCases, writeCases } from '../../src/storage/case-files.js'
import { episodeWriter, readSavedEpisodes } from '../../src/storage/episode-files.js'
import { openRowFile } from '../../src/trainers/trajectories/export-file.js'
import { saying, truthOf } from '../fixtures/reward-episodes.js'
import { tinyCase } from '../fixtures/tiny-case.js'

const run = promisify(execFile)

let root: string
let folder: string
const at = (...names: readonly string[]) => join(folder, ...names)
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'bedside-atomic-'))
})
beforeEach(async () => {
  folder = await mkdtemp(join(root, 'one-'))
})
afterAll(() => rm(root, { recursive: true, force: true }))

/** Another process that reads a new FIFO to its end. */
async function fifo(path: string) {
  await run('mkfifo', [path])
  const child = spawn('cat', [path])
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  const text = new Promise<Buffer>((resolve) =>
    child.on('close', () => resolve(Buffer.concat(chunks))),
  )
  return { text: async () => (await text).toString() }
}

const saved = { episode: saying('cold'), truth: truthOf() }
const cases = [tinyCase('tiny-1'), tinyCase('tiny-2')]
const lines = cases.map((truth) => `${JSON.stringify(truth)}\n`).join('')

/** Everything that writes a file whole, on the same terms. */
const writers: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
  writeWhole: (path) => writeFileAtomically(path, 'content'),
  writeCases: (path) => writeCases(path, cases),
  episodeWriter: async (path) => {
    const writer = episodeWriter(path)
    await writer.write(saved)
    await writer.close()
  },
  rowFile: async (path) => {
    const file = openRowFile(path, { text: 'text' })
    await file.write({ text: 'a' })
    await file.close()
  },
}
const every = Object.keys(writers).flatMap((name) =>
  ['jsonl', 'parquet'].map((end): [string, string] => [name, end]),
)

describe.each(every)('%s of a *.%s', (name, end) => {
  const write = writers[name] as (path: string) => Promise<unknown>

  test('writes what a symbolic link points to, and the link stays', async () => {
    await mkdir(at('elsewhere'))
    const target = at('elsewhere', `target.${end}`)
    await writeFile(target, 'before')
    await symlink(join('elsewhere', `target.${end}`), at(`second.${end}`))
    await symlink(`second.${end}`, at(`first.${end}`))
    await write(at(`first.${end}`))
    await write(at(`plain.${end}`))
    for (const link of [`first.${end}`, `second.${end}`])
      expect((await lstat(at(link))).isSymbolicLink()).toBe(true)
    expect(await readFile(target)).toEqual(await readFile(at(`plain.${end}`)))
    expect(await readdir(at('elsewhere'))).toEqual([`target.${end}`])
  })

  test('is whole when several write it at once', async () => {
    await Promise.all(Array.from({ length: 12 }, () => write(at(`shared.${end}`))))
    await write(at(`plain.${end}`))
    expect(await readFile(at(`shared.${end}`))).toEqual(await readFile(at(`plain.${end}`)))
    expect((await readdir(folder)).sort()).toEqual([`plain.${end}`, `shared.${end}`])
  })

  test('makes the file that a dangling link names', async () => {
    await symlink(`target.${end}`, at(`link.${end}`))
    await write(at(`link.${end}`))
    expect((await lstat(at(`link.${end}`))).isSymbolicLink()).toBe(true)
    expect((await lstat(at(`target.${end}`))).isFile()).toBe(true)
  })

  test('refuses a folder by its name and leaves it alone', async () => {
    const path = at(`folder.${end}`)
    await mkdir(path)
    await expect(write(path)).rejects.toMatchObject({
      code: 'bad-input',
      message: `${path}: expected a file, got a folder`,
    })
    expect(await readdir(folder)).toEqual([`folder.${end}`])
  })

  test('streams to a FIFO, which stays one', async () => {
    const path = at(`pipe.${end}`)
    const { text } = await fifo(path)
    await write(path)
    await write(at(`plain.${end}`))
    expect(await text()).toBe((await readFile(at(`plain.${end}`))).toString())
    expect((await lstat(path)).isFIFO()).toBe(true)
    expect((await readdir(folder)).sort()).toEqual([`pipe.${end}`, `plain.${end}`])
  })
})

test('a FIFO gets all of what is more than it holds', async () => {
  const { text } = await fifo(at('pipe.jsonl'))
  const many = Array.from({ length: 400 }, (_, n) => tinyCase(`tiny-${n}`))
  expect(await writeCases(at('pipe.jsonl'), many)).toBe(400)
  expect((await text()).trim().split('\n')).toHaveLength(400)
})

test('a FIFO that a link points to, and a device, are streamed to', async () => {
  const { text } = await fifo(at('pipe'))
  await symlink('pipe', at('link'))
  await writeFileAtomically(at('link'), 'through')
  expect(await text()).toBe('through')
  await writeFileAtomically('/dev/null', 'gone')
  expect((await lstat('/dev/null')).isCharacterDevice()).toBe(true)
})

test('a circle of links is refused by its name', async () => {
  await symlink('b', at('a'))
  await symlink('a', at('b'))
  await expect(writeFileAtomically(at('a'), '')).rejects.toMatchObject({
    code: 'bad-input',
    message: expect.stringContaining(`${at('a')}: expected a file, got a circle`),
  })
})

test('a file that is given up leaves what was there before, behind a link too', async () => {
  await writeFile(at('target'), 'before')
  await symlink('target', at('link'))
  const file = await newFile(at('link'))
  await file.write('half')
  await file.discard()
  expect(await readFile(at('link'), 'utf8')).toBe('before')
  expect((await readdir(folder)).sort()).toEqual(['link', 'target'])
})

test('what is streamed to needs no ending of its own: it holds JSON lines', async () => {
  const { text } = await fifo(at('pipe'))
  expect([isStreamed(at('pipe')), isStreamed('/dev/stdout'), isStreamed('/dev/fd/3')]).toEqual([
    true,
    true,
    true,
  ])
  expect([isStreamed(folder), isStreamed(at('none'))]).toEqual([false, false])
  await (writers.episodeWriter as (path: string) => Promise<unknown>)(at('pipe'))
  await writeFile(at('read.jsonl'), await text())
  for await (const one of readSavedEpisodes(at('read.jsonl'))) expect(one).toEqual(saved)
  const { text: rows } = await fifo(at('rows'))
  await (writers.rowFile as (path: string) => Promise<unknown>)(at('rows'))
  expect(await rows()).toBe('{"text":"a"}\n')
})

describe('a folder', () => {
  const fill = (fresh: string) => writeFile(join(fresh, 'a'), 'new')

  test('is replaced where a link points to it, and the link stays', async () => {
    await mkdir(at('target'))
    await writeFile(at('target', 'old'), '')
    await symlink('target', at('link'))
    await writeFolderAtomically(at('link'), fill)
    expect((await lstat(at('link'))).isSymbolicLink()).toBe(true)
    expect(await readdir(at('target'))).toEqual(['a'])
    expect((await readdir(folder)).sort()).toEqual(['link', 'target'])
  })

  test('does not take the place of a file', async () => {
    await writeFile(at('file'), 'kept')
    await expect(writeFolderAtomically(at('file'), fill)).rejects.toMatchObject({
      code: 'bad-input',
      message: `${at('file')}: expected a folder, got a file`,
    })
    expect(await readFile(at('file'), 'utf8')).toBe('kept')
  })
})

test('cases read back through a link', async () => {
  await symlink('cases.jsonl', at('link.jsonl'))
  await writeCases(at('link.jsonl'), cases)
  expect(await readFile(at('cases.jsonl'), 'utf8')).toBe(lines)
  expect(await readCases(at('link.jsonl'))).toEqual(cases)
})

describe('a folder with several writers', () => {
  test('is at the end one of those written, whole', async () => {
    const write = (n: number) =>
      writeFolderAtomically(at('shared'), async (fresh) => {
        for (const name of ['a', 'b']) await writeFile(join(fresh, name), `${n}`)
      })
    await Promise.all(Array.from({ length: 12 }, (_, n) => write(n)))
    const texts = ['a', 'b'].map((name) => readFile(at('shared', name), 'utf8'))
    const [a, b] = await Promise.all(texts)
    expect(a).toBe(b)
    expect(await readdir(folder)).toEqual(['shared'])
  })

  test('whose writer was killed between its renames is read where it was moved', async () => {
    await mkdir(at('best'))
    expect(await readableFolder(at('best'))).toBe(at('best'))
    await rename(at('best'), at('best.1234.old'))
    await mkdir(at('best.1234.tmp'))
    expect(await readableFolder(at('best'))).toBe(at('best.1234.old'))
    expect(await readableFolder(at('other'))).toBe(at('other'))
  })
})

test('leftovers of writers are told from files that somebody named', () => {
  const left = ['best.3f0c-11.old', 'a.parquet.4711.partial', 'best.3f0c.tmp']
  expect([...left, 'notes.old', 'draft.tmp', 'a.partial'].filter(isLeftover)).toEqual(left)
})
