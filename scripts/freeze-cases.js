/**
 * Writes the frozen bank: data/cases/<tier>-<split>.jsonl.br and fingerprints.json, from the built package.
 * `npm run freeze` after a change of the knowledge base or the generator that is meant to change cases; a test
 * holds the generator to what is frozen.
 */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { caseSource, writeCases } from '../dist/exports/cases.js'
import { loadKnowledge } from '../dist/exports/knowledge.js'

const perFile = 200
const knowledge = loadKnowledge()
const fingerprints = {}
for (const tier of ['easy', 'standard', 'hard', 'ood'])
  for (const split of ['train', 'heldout']) {
    const name = `${tier}-${split}.jsonl.br`
    const path = new URL(`../data/cases/${name}`, import.meta.url).pathname
    const make = caseSource(knowledge, { tier, split, seed: 0 })
    await writeCases(
      path,
      Array.from({ length: perFile }, (_, n) => make(n)),
    )
    const text = brotliDecompressSync(readFileSync(path))
    fingerprints[name] = {
      cases: perFile,
      seed: 0,
      sha256: createHash('sha256').update(text).digest('hex'),
    }
    console.log(name, readFileSync(path).length, 'bytes')
  }
writeFileSync(
  new URL('../data/cases/fingerprints.json', import.meta.url),
  `${JSON.stringify(fingerprints, null, 2)}\n`,
)
