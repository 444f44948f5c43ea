/** Checkpoints of the embedded policy: a folder with `policy.json` and `weights.bin`, written atomically. */
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { z } from 'zod'
import { errorMessage, Fault } from '../../error.js'
import type { ActionSpace } from '../../knowledge/action-space.js'
import { writeFolderAtomically } from '../../storage/atomic-write.js'
import type { AdamState } from './adam.js'
import { clockTicks, type PolicyShape, type PolicyWeights, rowWidth } from './belief.js'
import type { Critic } from './critic.js'

/** Everything a run needs to resume exactly where it stopped. */
export interface Snapshot {
  readonly policyVersion: number
  readonly weights: PolicyWeights
  readonly adam: AdamState
  readonly critic: Critic
}

const format = 'bedside-embedded/3'
const Manifest = z.strictObject({
  format: z.literal(format),
  vocabulary: z.string(),
  actions: z.number().int().positive(),
  /** Number of evidence rows: features with weights. */
  features: z.number().int().min(0),
  /** Number of the critic's rows. */
  critic: z.number().int().positive(),
  policyVersion: z.number().int().min(0),
  sha256: z.string(),
})
type PolicyManifest = z.infer<typeof Manifest>

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Width of a row of the critic. */
const criticWidth = (row: number): number => (row === 0 ? clockTicks : 1)

/** Rows and their optimiser state: per row its weights, first moments, second moment and step count. */
const packRows = (
  rows: readonly Float64Array[],
  { mean, square, steps }: AdamState,
): Float64Array[] =>
  rows.flatMap((row, r) => [
    row,
    mean[r] ?? new Float64Array(row.length),
    Float64Array.of(square[r] ?? 0, steps[r] ?? 0),
  ])

/** Little-endian float64: features, then the policy's rows and the critic's. */
function pack({ weights, adam, critic }: Snapshot): Buffer {
  const parts = [
    Float64Array.from(weights.rowOf.keys()),
    ...packRows(weights.rows, adam),
    ...packRows(critic.rows, critic.adam),
  ]
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
    const manifest: PolicyManifest = {
      format,
      vocabulary: actionSpace.fingerprint,
      actions: actionSpace.actions.length,
      features: snapshot.weights.rowOf.size,
      critic: snapshot.critic.rows.length,
      policyVersion: snapshot.policyVersion,
      sha256: sha256(bytes),
    }
    await writeFile(`${fresh}/weights.bin`, bytes)
    await writeFile(`${fresh}/policy.json`, `${JSON.stringify(manifest, null, 2)}\n`)
  })

const bad = (folder: string, why: string): Fault => new Fault('bad-checkpoint', `${folder}: ${why}`)

/** Inverse of `pack`. */
function unpack(numbers: Float64Array, manifest: PolicyManifest, shape: PolicyShape): Snapshot {
  let at = 0
  const next = (length: number): Float64Array => {
    at += length
    return numbers.slice(at - length, at)
  }
  const unpackRows = (count: number, width: (row: number) => number) => {
    const rows: Float64Array[] = []
    const adam: AdamState = { steps: [], mean: [], square: [] }
    for (let row = 0; row < count; row++) {
      rows.push(next(width(row)))
      adam.mean.push(next(width(row)))
      const [square = 0, steps = 0] = next(2)
      adam.square.push(square)
      adam.steps.push(steps)
    }
    return { rows, adam }
  }
  const keys = [...next(manifest.features)]
  const rowOf = new Map(keys.map((key, i) => [key, shape.fixed + i] as const))
  const policy = unpackRows(shape.fixed + keys.length, (row) => rowWidth(shape, row))
  return {
    policyVersion: manifest.policyVersion,
    weights: { rowOf, rows: policy.rows },
    adam: policy.adam,
    critic: unpackRows(manifest.critic, criticWidth),
  }
}

/** Numbers in the weights file of a manifest. */
function countNumbers({ features, critic }: PolicyManifest, shape: PolicyShape): number {
  let total = features
  for (let row = 0; row < shape.fixed + features; row++) total += 2 * rowWidth(shape, row) + 2
  for (let row = 0; row < critic; row++) total += 2 * criticWidth(row) + 2
  return total
}

/** Reads and checks `policy.json`. */
async function readManifest(folder: string): Promise<PolicyManifest> {
  let raw: unknown
  try {
    raw = JSON.parse(await readFile(`${folder}/policy.json`, 'utf8'))
    const own: unknown = Object(raw).format
    if (own === 'bedside-embedded/1' || own === 'bedside-embedded/2')
      throw bad(
        folder,
        `expected a policy of format ${format}, got ${own}: a policy of an earlier version, whose weights mean nothing to this one; train it again`,
      )
    return Manifest.parse(raw)
  } catch (error) {
    if (Fault.is(error)) throw error
    throw bad(folder, `not a checkpoint of the embedded policy (${errorMessage(error)})`)
  }
}

/** Reads a checkpoint written over the same action space. @throws Fault `bad-checkpoint` saying what was expected */
export async function loadSnapshot(
  folder: string,
  actionSpace: ActionSpace,
  shape: PolicyShape,
): Promise<Snapshot> {
  const manifest = await readManifest(folder)
  let bytes: Buffer
  try {
    bytes = await readFile(`${folder}/weights.bin`)
  } catch (error) {
    throw bad(folder, `not a checkpoint of the embedded policy (${errorMessage(error)})`)
  }
  const { actions, vocabulary } = manifest
  if (actions !== actionSpace.actions.length || vocabulary !== actionSpace.fingerprint)
    throw bad(
      folder,
      `expected a policy over the ${actionSpace.actions.length} utterances ${actionSpace.fingerprint}, got ${actions} utterances ${vocabulary}; use the cases, language and clinic it was trained with`,
    )
  const expected = 8 * countNumbers(manifest, shape)
  if (bytes.length !== expected)
    throw bad(folder, `expected weights.bin of ${expected} bytes, got ${bytes.length}`)
  if (sha256(bytes) !== manifest.sha256)
    throw bad(folder, 'weights.bin does not have the checksum that policy.json names')
  const numbers = new Float64Array(
    bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + expected),
  )
  return unpack(numbers, manifest, shape)
}
