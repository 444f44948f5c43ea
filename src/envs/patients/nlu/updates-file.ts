/**
 * Files with the updates of the classifier (`perceptron-updates.ts`) for the shipped knowledge base, one a language,
 * written by the build. They spare most of the training. Each begins with a hash of the phrases it is for, so that no
 * other knowledge base reads it.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { endianness } from 'node:os'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { SlicedWork } from '../../../platform/slices.js'
import type { Language } from '../../../turn.js'
import type { PerceptronUpdates } from './perceptron-updates.js'
import type { Phrases } from './similarity.js'

/** How the phrases of a language are read. */
export const scriptOf = { en: 'latin', zh: 'han' } as const satisfies {
  [language in Language]: string
}

/** The file of a language: beside the bundles of `dist`. In `src` there is none, so that changed code is trained. */
export const updatesFile = (language: Language): string =>
  fileURLToPath(new URL(`../similarity/${language}.bin`, import.meta.url))

/** Bytes of the hash. */
const keyBytes = 32
/** Phrases hashed between two pauses. */
const phrasesPerSlice = 256

function* keyOf(phrases: Phrases): SlicedWork<Buffer> {
  const hash = createHash('sha256').update(endianness())
  for (let at = 0; at < phrases.length; at += phrasesPerSlice) {
    yield
    hash.update(JSON.stringify(phrases.slice(at, at + phrasesPerSlice)))
  }
  return hash.digest()
}

/** Reads the updates for these phrases; undefined where the file is missing, damaged or for other phrases. */
export function* readUpdates(
  path: string,
  phrases: Phrases,
): SlicedWork<PerceptronUpdates | undefined> {
  let file: Buffer
  try {
    file = readFileSync(path)
  } catch {
    return undefined // Without the file the classifier is trained, to the same result.
  }
  if (!file.subarray(0, keyBytes).equals(yield* keyOf(phrases))) return undefined
  try {
    const bytes = inflateRawSync(file.subarray(keyBytes))
    return new Uint16Array(new Uint8Array(bytes).buffer)
  } catch {
    return undefined
  }
}

/** Writes the updates for these phrases. */
export function* writeUpdates(
  path: string,
  phrases: Phrases,
  updates: PerceptronUpdates,
): SlicedWork<void> {
  const bytes = new Uint8Array(updates.buffer, updates.byteOffset, updates.byteLength)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, Buffer.concat([yield* keyOf(phrases), deflateRawSync(bytes, { level: 9 })]))
}
