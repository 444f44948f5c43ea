import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { filesOf, packageName, zipFiles } from '../../../src/trainers/jobs/package.js'

const bytes = (text: string) => Buffer.from(text)

test('an archive depends on its files alone, whatever their order', () => {
  const one = zipFiles(
    new Map([
      ['a.py', bytes('1')],
      ['b/c.py', bytes('2')],
    ]),
  )
  const two = zipFiles(
    new Map([
      ['b/c.py', bytes('2')],
      ['a.py', bytes('1')],
    ]),
  )
  expect(packageName(one)).toBe(packageName(two))
  expect(packageName(one)).toMatch(/^_ray_pkg_[\da-f]{32}\.zip$/)
  const other = zipFiles(
    new Map([
      ['a.py', bytes('1')],
      ['b/c.py', bytes('3')],
    ]),
  )
  expect(packageName(other)).not.toBe(packageName(one))
})

test('an archive is read by Python, names and contents', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bedside-zip-'))
  try {
    const long = 'x'.repeat(100_000)
    const path = join(folder, 'a.zip')
    await writeFile(
      path,
      zipFiles(
        new Map([
          ['ä/long.txt', bytes(long)],
          ['empty', bytes('')],
        ]),
      ),
    )
    const script =
      'import json, sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); print(json.dumps([z.testzip(), [[n, len(z.read(n))] for n in z.namelist()]]))'
    const said = execFileSync('python3', ['-c', script, path], { encoding: 'utf8' })
    expect(JSON.parse(said)).toEqual([
      null,
      [
        ['empty', 0],
        ['ä/long.txt', 100_000],
      ],
    ])
    const found = await filesOf(folder, /\.zip$/, 'below')
    expect([...found.keys()]).toEqual(['below/a.zip'])
  } finally {
    await rm(folder, { recursive: true })
  }
})
