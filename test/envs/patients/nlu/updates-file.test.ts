import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { labelledPhrases } from '../../../../src/envs/patients/nlu/labelled-phrases.js'
import { buildSimilarityIndex } from '../../../../src/envs/patients/nlu/similarity.js'
import {
  readUpdates,
  scriptOf,
  updatesFile,
  writeUpdates,
} from '../../../../src/envs/patients/nlu/updates-file.js'
import { clinic } from '../../../../src/knowledge/knowledge.js'
import { loadKnowledge } from '../../../../src/knowledge/load.js'
import { finish } from '../../../../src/platform/slices.js'

const knowledge = clinic(loadKnowledge(), ['upper-airway'])
const folder = mkdtempSync(join(tmpdir(), 'updates-'))
const path = join(folder, 'similarity', 'learnt.bin')
afterAll(() => rmSync(folder, { recursive: true }))

test.each(['en', 'zh'] as const)(
  'an index with the updates of a file gives the scores of a trained one, in %s',
  (language) => {
    const phrases = finish(labelledPhrases(knowledge, language))
    const trained = finish(buildSimilarityIndex(phrases, scriptOf[language]))
    finish(writeUpdates(path, phrases, trained.updates))
    const updates = finish(readUpdates(path, phrases))
    expect(updates).toEqual(trained.updates)
    expect(updates!.some((update) => update > 0)).toBe(true)
    const read = finish(buildSimilarityIndex(phrases, scriptOf[language], updates))
    const values = [...new Set(phrases.map(([, value]) => value))]
    for (const [text] of phrases.filter((_, p) => p % 40 === 0)) {
      const half = text.slice(0, Math.ceil(0.6 * text.length))
      const [one, other] = [trained.findNearest(half), read.findNearest(half)]
      expect(values.map(other.scoreOf)).toEqual(values.map(one.scoreOf))
    }
  },
)

test('a file for other phrases, a damaged one and none are not read', () => {
  const phrases = finish(labelledPhrases(knowledge, 'en'))
  const { updates } = finish(buildSimilarityIndex(phrases, 'latin'))
  finish(writeUpdates(path, phrases, updates))
  const [[first, id] = ['', ''], ...rest] = phrases
  for (const others of [rest, [[`${first} now`, id], ...rest] as const])
    expect(finish(readUpdates(path, others))).toBeUndefined()
  writeFileSync(path, readFileSync(path).subarray(0, 100))
  expect(finish(readUpdates(path, phrases))).toBeUndefined()
  expect(finish(readUpdates(join(folder, 'none.bin'), phrases))).toBeUndefined()
})

test('source code reads no file, so that a changed classifier is trained', () => {
  expect(
    finish(readUpdates(updatesFile('en'), finish(labelledPhrases(knowledge, 'en')))),
  ).toBeUndefined()
})
