/**
 * Checkpoints of a sidecar's models: a folder with `checkpoint.json` and, if the server shares our disk, weights and
 * optimiser state. For a server elsewhere, the manifest holds the server's paths instead.
 */
import { randomUUID } from 'node:crypto'
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { errorMessage, Fault } from '../../error.js'
import { writeFolderAtomically } from '../../storage/atomic-write.js'
import type { TrainingModel } from '../tinker/wire.js'

const Manifest = z.strictObject({
  format: z.literal('bedside-sidecar/1'),
  policyVersion: z.number().int().min(0),
  /** Folder name beside this file (`weights`, `critic`), or a `tinker://` path of the server. */
  weights: z.string(),
  critic: z.string().optional(),
})
type Manifest = z.infer<typeof Manifest>

/** Maps a `tinker://` path to the server's state folder. @throws Fault `model-unreadable` for any other path */
export function stateFolder(state: string, path: string): string {
  const [, model, kind, name] = /^tinker:\/\/([\w:.-]+)\/(\w+)\/([\w.-]+)$/.exec(path) ?? []
  if (!model || !kind || !name || /^\.+$/.test(name))
    throw new Fault('model-unreadable', `expected a path tinker://model/kind/name, got \`${path}\``)
  return join(state, model.replaceAll(':', '_'), kind, name)
}

/** Moves a folder, copying it if the target is on another disk. */
export async function moveFolder(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true })
  try {
    await rename(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error // errors of fs have a code
    await cp(from, to, { recursive: true })
    await rm(from, { recursive: true, force: true })
  }
}

/** Models of a checkpoint, and the policy version. */
export interface SidecarCheckpoint {
  readonly policyVersion: number
  readonly policy: TrainingModel
  readonly critic?: TrainingModel | undefined
}

/** Saves the models into a folder, atomically. @param state the server's state folder, if it shares our disk */
export async function saveModels(
  folder: string,
  { policyVersion, policy, critic }: SidecarCheckpoint,
  state: string | undefined,
): Promise<void> {
  const name = `save-${policyVersion}-${randomUUID()}`
  const [weights, criticPath] = await Promise.all([policy.save(name), critic?.save(name)])
  await writeFolderAtomically(folder, async (fresh) => {
    const keep = async (path: string, own: string): Promise<string> => {
      if (state === undefined) return path
      await moveFolder(stateFolder(state, path), join(fresh, own))
      return own
    }
    const manifest: Manifest = {
      format: 'bedside-sidecar/1',
      policyVersion,
      weights: await keep(weights, 'weights'),
      ...(criticPath === undefined ? {} : { critic: await keep(criticPath, 'critic') }),
    }
    await writeFile(join(fresh, 'checkpoint.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  })
}

/** Reads `checkpoint.json` of a folder. @throws Fault `bad-checkpoint` naming the folder */
export async function readManifest(folder: string): Promise<Manifest> {
  try {
    return Manifest.parse(JSON.parse(await readFile(join(folder, 'checkpoint.json'), 'utf8')))
  } catch (error) {
    throw new Fault(
      'bad-checkpoint',
      `${folder}: not a checkpoint of a sidecar's model (${errorMessage(error)})`,
    )
  }
}

/** Loads one model of a checkpoint. @throws Fault `bad-checkpoint` with the server's message; nothing is changed then */
export async function loadModel(
  folder: string,
  own: string,
  model: TrainingModel,
  state: string | undefined,
): Promise<void> {
  const elsewhere = own.startsWith('tinker://')
  if (!elsewhere && state === undefined)
    throw new Fault(
      'bad-checkpoint',
      `${folder}: the weights are in this folder, which the server does not share; expected a sidecar on this machine`,
    )
  const name = `load-${randomUUID()}`
  const path = elsewhere ? own : `tinker://imports:train:0/weights/${name}`
  const place = state === undefined ? '' : stateFolder(state, path)
  try {
    if (!elsewhere) {
      await mkdir(dirname(place), { recursive: true })
      await cp(join(folder, own), place, { recursive: true })
    }
    await model.load(path, { optimizer: true })
  } catch (error) {
    const refused = Fault.is(error) && ['bad-input', 'bad-checkpoint'].includes(error.code)
    if (Fault.is(error) && !refused) throw error
    throw new Fault('bad-checkpoint', `${folder}: ${errorMessage(error)}`, { cause: error })
  } finally {
    if (!elsewhere) await rm(place, { recursive: true, force: true })
  }
}

/** Exports only a model's weights into a folder, as `adapter` or `merged`. */
export async function exportModel(
  folder: string,
  { format, policy }: { readonly format: string; readonly policy: TrainingModel },
  state: string,
): Promise<void> {
  const place = stateFolder(state, await policy.exportTo(format, `export-${randomUUID()}`))
  await rm(folder, { recursive: true, force: true })
  await moveFolder(place, folder)
}
