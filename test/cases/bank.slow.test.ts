import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { brotliDecompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { SplitName } from '../../src/cases/generator/case-id.js'
import { caseSource } from '../../src/cases/generator/generate.js'
import { loadKnowledge } from '../../src/knowledge/load.js'
import type { TierName } from '../../src/knowledge/tiers.js'
import { tierNames } from '../../src/knowledge/tiers.js'
import { readCases } from '../../src/storage/case-files.js'

interface Print {
  readonly cases: number
  readonly seed: number
  readonly sha256: string
}

const folder = new URL('../../data/cases/', import.meta.url)
const prints: Readonly<Record<string, Print>> = JSON.parse(
  readFileSync(new URL('fingerprints.json', folder), 'utf8'),
)
const knowledge = loadKnowledge()

describe('the frozen bank', () => {
  test('has every tier and split, a few hundred cases of each tier', () => {
    expect(Object.keys(prints).sort()).toEqual(
      tierNames.flatMap((tier) => [`${tier}-heldout.jsonl.br`, `${tier}-train.jsonl.br`]).sort(),
    )
  })

  test.each(Object.entries(prints))(
    '%s is what was frozen, and what the generator makes today',
    (name, print) => {
      const text = brotliDecompressSync(readFileSync(new URL(name, folder))).toString()
      expect(createHash('sha256').update(text).digest('hex')).toBe(print.sha256)
      // The names are a tier and a split of the list above.
      const [tier, split] = name.replace('.jsonl.br', '').split('-') as [TierName, SplitName]
      const make = caseSource(knowledge, { tier, split, seed: print.seed })
      const lines = text.trimEnd().split('\n')
      expect(lines.length).toBe(print.cases)
      // One comparison: a diff of a whole bank helps nobody.
      const changed = lines.flatMap((line, n) => (JSON.stringify(make(n)) === line ? [] : [n]))
      expect(changed, 'cases that changed; `npm run freeze` if that was meant').toEqual([])
    },
  )

  test('is read as any case file is', async () => {
    const cases = await readCases(fileURLToPath(new URL('ood-heldout.jsonl.br', folder)))
    expect(cases.length).toBe(200)
    const novel = new Set(knowledge.diseases.flatMap(({ id, novel }) => (novel ? [id] : [])))
    expect(cases.every(({ gold }) => novel.has(gold.dx[0]?.id ?? ''))).toBe(true)
  })
})
