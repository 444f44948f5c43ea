/**
 * Checkpoints of a sidecar's models: a folder with `checkpoint.json` and, where the server shares our disk, the
 * weights and optimisers themselves; of a server elsewhere it holds where they are.
 */
import { randomUUID } from 'node:crypto'
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { Fault, messageOf } from '../../error.js'
import { writeWholeFolder } from '../../storage/atomic-write.js'
import type { TrainingModel } from '../tinker/wire.js'

const Manifest = z.strictObject({
  format: z.literal('bedside-sidecar/1'),
  policyVersion: z.number().int().min(0),
  /** `weights` and `critic` beside this file, or paths of the server's own. */
  weights: z.string(),
  critic: z.string().optional(),
})
type Manifest = z.infer<typeof Manifest>

/** Where a `tinker://` path is under the server's folder. @throws Fault `model-unreadable` for any other path */
export function placeOf(state: string, path: string): string {
  const [, model, kind, name] = /^tinker:\/\/([\w:.-]+)\/(\w+)\/([\w.-]+)$/.exec(path) ?? []
  if (!model || !kind || !name || /^\.+$/.test(name))
    throw new Fault('model-unreadable', `expected a path tinker://model/kind/name, got \`${path}\``)
  return join(state, model.replaceAll(':', '_'), kind, name)
}

/** Moves a folder, to another disk where it must. */
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

/** What a checkpoint is of. */
export interface Kept {
  readonly policyVersion: number
  readonly policy: TrainingModel
  readonly critic?: TrainingModel | undefined
}

/** @param state the server's folder, where it shares our disk */
export async function saveModels(
  folder: string,
  { policyVersion, policy, critic }: Kept,
  state: string | undefined,
): Promise<void> {
  const name = `save-${policyVersion}-${randomUUID()}`
  const [weights, values] = await Promise.all([policy.save(name), critic?.save(name)])
  await writeWholeFolder(folder, async (fresh) => {
    const kept = async (path: string, own: string): Promise<string> => {
      if (state === undefined) return path
      await moveFolder(placeOf(state, path), join(fresh, own))
      return own
    }
    const manifest: Manifest = {
      format: 'bedside-sidecar/1',
      policyVersion,
      weights: await kept(weights, 'weights'),
      ...(values === undefined ? {} : { critic: await kept(values, 'critic') }),
    }
    await writeFile(join(fresh, 'checkpoint.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  })
}

/** @throws Fault `bad-checkpoint` naming the folder */
export async function readManifest(folder: string): Promise<Manifest> {
  try {
    return Manifest.parse(JSON.parse(await readFile(join(folder, 'checkpoint.json'), 'utf8')))
  } catch (error) {
    throw new Fault(
      'bad-checkpoint',
      `${folder}: not a checkpoint of a sidecar's model (${messageOf(error)})`,
    )
  }
}

/** Loads one model of a checkpoint. @throws Fault `bad-checkpoint` with what the server says; it changes nothing then */
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
  const place = state === undefined ? '' : placeOf(state, path)
  try {
    if (!elsewhere) {
      await mkdir(dirname(place), { recursive: true })
      await cp(join(folder, own), place, { recursive: true })
    }
    await model.load(path, { optimizer: true })
  } catch (error) {
    const refused = Fault.is(error) && ['bad-input', 'bad-checkpoint'].includes(error.code)
    if (Fault.is(error) && !refused) throw error
    throw new Fault('bad-checkpoint', `${folder}: ${messageOf(error)}`, { cause: error })
  } finally {
    if (!elsewhere) await rm(place, { recursive: true, force: true })
  }
}

/** Writes a model's weights alone into a folder, as `adapter` or `merged`. */
export async function exportModel(
  folder: string,
  { format, policy }: { readonly format: string; readonly policy: TrainingModel },
  state: string,
): Promise<void> {
  const place = placeOf(state, await policy.exportTo(format, `export-${randomUUID()}`))
  await rm(folder, { recursive: true, force: true })
  await moveFolder(place, folder)
}
