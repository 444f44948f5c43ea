/** Checkpoints of the embedded policy: a folder with `policy.json` and `weights.bin`, whole or not at all. */
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'
import { Fault, messageOf } from '../../error.js'
import type { Vocabulary } from '../../vocabulary.js'
import type { AdamState } from './adam.js'

/** Everything a run needs to go on as if it had never stopped. */
export interface Snapshot {
  readonly policyVersion: number
  readonly keys: readonly number[]
  readonly weights: Float64Array
  readonly adam: AdamState
}

const Manifest = z.strictObject({
  format: z.literal('bedside-embedded/1'),
  vocabulary: z.string(),
  actions: z.number().int().positive(),
  rows: z.number().int().min(0),
  policyVersion: z.number().int().min(0),
  adamSteps: z.number().int().min(0),
  sha256: z.string(),
})

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Little-endian float64: keys, weights, first moments, second moments. */
function pack({ keys, weights, adam }: Snapshot): Buffer {
  const numbers = new Float64Array(keys.length + weights.length * 3)
  numbers.set(keys, 0)
  numbers.set(weights, keys.length)
  numbers.set(adam.mean, keys.length + weights.length)
  numbers.set(adam.square, keys.length + weights.length * 2)
  return Buffer.from(numbers.buffer)
}

/** Writes a folder beside its place, then renames it there. */
export async function saveSnapshot(
  folder: string,
  snapshot: Snapshot,
  vocabulary: Vocabulary,
): Promise<void> {
  const fresh = `${folder}.${randomUUID()}.tmp`
  const old = `${folder}.${randomUUID()}.old`
  await mkdir(dirname(folder), { recursive: true })
  await mkdir(fresh)
  try {
    const bytes = pack(snapshot)
    const manifest: z.infer<typeof Manifest> = {
      format: 'bedside-embedded/1',
      vocabulary: vocabulary.fingerprint,
      actions: vocabulary.actions.length,
      rows: snapshot.keys.length,
      policyVersion: snapshot.policyVersion,
      adamSteps: snapshot.adam.steps,
      sha256: sha256(bytes),
    }
    await writeFile(`${fresh}/weights.bin`, bytes)
    await writeFile(`${fresh}/policy.json`, `${JSON.stringify(manifest, null, 2)}\n`)
    const replaced = await rename(folder, old).then(
      () => true,
      () => false,
    )
    await rename(fresh, folder)
    if (replaced) await rm(old, { recursive: true, force: true })
  } finally {
    await rm(fresh, { recursive: true, force: true })
  }
}

const bad = (folder: string, why: string): Fault => new Fault('bad-checkpoint', `${folder}: ${why}`)

/** @throws Fault `bad-checkpoint` naming what was found and what was expected */
export async function loadSnapshot(folder: string, vocabulary: Vocabulary): Promise<Snapshot> {
  let manifest: z.infer<typeof Manifest>
  let bytes: Buffer
  try {
    manifest = Manifest.parse(JSON.parse(await readFile(`${folder}/policy.json`, 'utf8')))
    bytes = await readFile(`${folder}/weights.bin`)
  } catch (error) {
    throw bad(folder, `not a checkpoint of the embedded policy (${messageOf(error)})`)
  }
  const { actions, rows } = manifest
  if (actions !== vocabulary.actions.length || manifest.vocabulary !== vocabulary.fingerprint)
    throw bad(
      folder,
      `expected a policy over the ${vocabulary.actions.length} utterances ${vocabulary.fingerprint}, got ${actions} utterances ${manifest.vocabulary}; use the cases, language and clinic it was trained with`,
    )
  const expected = 8 * rows * (1 + 3 * actions)
  if (bytes.length !== expected)
    throw bad(folder, `expected weights.bin of ${expected} bytes, got ${bytes.length}`)
  if (sha256(bytes) !== manifest.sha256)
    throw bad(folder, 'weights.bin does not have the checksum that policy.json names')
  const numbers = new Float64Array(
    bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + expected),
  )
  const size = rows * actions
  const part = (n: number) => numbers.slice(rows + n * size, rows + (n + 1) * size)
  return {
    policyVersion: manifest.policyVersion,
    keys: [...numbers.subarray(0, rows)],
    weights: part(0),
    adam: { steps: manifest.adamSteps, mean: part(1), square: part(2) },
  }
}
