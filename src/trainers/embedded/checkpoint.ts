/** Checkpoints of the embedded policy: a folder with `policy.json` and `weights.bin`, written atomically. */
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { z } from 'zod'
import { errorMessage, Fault } from '../../error.js'
import type { ActionSpace } from '../../knowledge/action-space.js'
import { writeFolderAtomically } from '../../storage/atomic-write.js'
import { type AdamState, padWithZeros } from './adam.js'
import type { Critic } from './critic.js'

/** Everything a run needs to resume exactly where it stopped. */
export interface Snapshot {
  readonly policyVersion: number
  /** Features in the order of their weight rows. */
  readonly keys: readonly number[]
  /** rows × actions, row-major. */
  readonly weights: Float64Array
  readonly adam: AdamState
  /** Absent until it is first trained. */
  readonly critic?: Critic
}

const Manifest = z.strictObject({
  format: z.literal('bedside-embedded/1'),
  vocabulary: z.string(),
  actions: z.number().int().positive(),
  rows: z.number().int().min(0),
  policyVersion: z.number().int().min(0),
  adamSteps: z.number().int().min(0),
  critic: z.strictObject({ adamSteps: z.number().int().positive() }).optional(),
  sha256: z.string(),
})

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Little-endian float64: keys, weights, first and second moments; then the critic's three, one number per row. */
function pack({ keys, weights, adam, critic }: Snapshot): Buffer {
  const parts = [Float64Array.from(keys), weights]
  for (const moment of [adam.mean, adam.square]) parts.push(padWithZeros(moment, weights.length))
  // Rows added since the critic was last trained have critic weight 0.
  if (critic)
    for (const part of [critic.weights, critic.adam.mean, critic.adam.square])
      parts.push(padWithZeros(part, keys.length))
  return Buffer.concat(
    parts.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength)),
  )
}

/** Writes a checkpoint into a folder, completely or not at all. */
export const saveSnapshot = (
  folder: string,
  snapshot: Snapshot,
  actionSpace: ActionSpace,
): Promise<void> =>
  writeFolderAtomically(folder, async (fresh) => {
    const bytes = pack(snapshot)
    const manifest: z.infer<typeof Manifest> = {
      format: 'bedside-embedded/1',
      vocabulary: actionSpace.fingerprint,
      actions: actionSpace.actions.length,
      rows: snapshot.keys.length,
      policyVersion: snapshot.policyVersion,
      adamSteps: snapshot.adam.steps,
      ...(snapshot.critic ? { critic: { adamSteps: snapshot.critic.adam.steps } } : {}),
      sha256: sha256(bytes),
    }
    await writeFile(`${fresh}/weights.bin`, bytes)
    await writeFile(`${fresh}/policy.json`, `${JSON.stringify(manifest, null, 2)}\n`)
  })

const bad = (folder: string, why: string): Fault => new Fault('bad-checkpoint', `${folder}: ${why}`)

/** Inverse of `pack`. */
function unpack(numbers: Float64Array, manifest: z.infer<typeof Manifest>): Snapshot {
  const { actions, rows, policyVersion, adamSteps, critic } = manifest
  let at = 0
  const next = (length: number): Float64Array => {
    at += length
    return numbers.slice(at - length, at)
  }
  const state = (steps: number, length: number) => ({
    weights: next(length),
    adam: { steps, mean: next(length), square: next(length) },
  })
  return {
    policyVersion,
    keys: [...next(rows)],
    ...state(adamSteps, rows * actions),
    ...(critic ? { critic: state(critic.adamSteps, rows) } : {}),
  }
}

/** Reads a checkpoint written over the same action space. @throws Fault `bad-checkpoint` saying what was expected */
export async function loadSnapshot(folder: string, actionSpace: ActionSpace): Promise<Snapshot> {
  let manifest: z.infer<typeof Manifest>
  let bytes: Buffer
  try {
    manifest = Manifest.parse(JSON.parse(await readFile(`${folder}/policy.json`, 'utf8')))
    bytes = await readFile(`${folder}/weights.bin`)
  } catch (error) {
    throw bad(folder, `not a checkpoint of the embedded policy (${errorMessage(error)})`)
  }
  const { actions, rows } = manifest
  if (actions !== actionSpace.actions.length || manifest.vocabulary !== actionSpace.fingerprint)
    throw bad(
      folder,
      `expected a policy over the ${actionSpace.actions.length} utterances ${actionSpace.fingerprint}, got ${actions} utterances ${manifest.vocabulary}; use the cases, language and clinic it was trained with`,
    )
  const expected = 8 * rows * (1 + 3 * actions + (manifest.critic ? 3 : 0))
  if (bytes.length !== expected)
    throw bad(folder, `expected weights.bin of ${expected} bytes, got ${bytes.length}`)
  if (sha256(bytes) !== manifest.sha256)
    throw bad(folder, 'weights.bin does not have the checksum that policy.json names')
  const numbers = new Float64Array(
    bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + expected),
  )
  return unpack(numbers, manifest)
}
