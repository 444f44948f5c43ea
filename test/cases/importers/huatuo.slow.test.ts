import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { importers } from '../../../src/cases/importers/import.js'
import { splitCases } from '../../../src/cases/split.js'

test('40,644 rows are imported and split whole', async () => {
  const rows = Array.from({ length: 40_644 }, (_, n) => ({
    'Open-ended Verifiable Question': `A patient has ${'a finding, '.repeat(20)}and marker ${n}. What is it?`,
    'Ground-True Answer': `Disease ${n}`,
  }))
  const folder = await mkdtemp(join(tmpdir(), 'bedside-huatuo-'))
  const path = join(folder, 'rows.json')
  await writeFile(path, JSON.stringify(rows))
  const { cases, report } = await importers['huatuo-rl']!(path)
  await rm(folder, { recursive: true })
  expect([report.ok, report.leaks.length]).toEqual([40_644, 0])
  const { train, heldout } = splitCases(cases, { heldout: 0.1 })
  expect(train.length + heldout.length).toBe(40_644)
})
