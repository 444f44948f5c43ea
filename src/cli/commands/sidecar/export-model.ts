/** `bedside sidecar export`: writes what a run has trained as a plain model folder, which any other program reads. */
import { join, resolve } from 'node:path'
import { Fault } from '../../../error.js'
import { withoutUndefined } from '../../../platform/without-undefined.js'
import { recipeOfRun } from '../../../runs/directory.js'
import { trainedAt } from '../../../runs/trained.js'
import { readManifest } from '../../../trainers/sidecar/checkpoint.js'
import { pythonPackage } from '../../../trainers/sidecar/environment.js'
import { runProgram } from '../../../trainers/sidecar/program.js'
import { output, type PrintFlags, type Terminal } from '../../print/output.js'
import { findInterpreter } from './make-tiny-model.js'

interface ExportModelFlags extends PrintFlags {
  readonly out: string
  readonly adapter?: boolean
  readonly env?: string
  readonly python?: string
}

/** The base model of a run by the sidecar, and where its checkpoint has the weights. @throws Fault `bad-input` for another run */
async function weightsOf(place: string) {
  const trained = await trainedAt(place)
  if (!trained)
    throw new Fault(
      'bad-input',
      `${place}: expected a run directory, or one of its checkpoints/step-… folders, got no folder`,
    )
  const { backend, policy } = await recipeOfRun(trained.run, { trust: false, keys: [] })
  if (backend !== 'sidecar' || policy?.model === undefined)
    throw new Fault(
      'bad-input',
      `${place}: expected a run of the sidecar backend, got \`${backend}\``,
    )
  const { weights } = await readManifest(trained.checkpoint)
  if (weights.startsWith('tinker:'))
    throw new Fault(
      'bad-input',
      `${trained.checkpoint}: its weights are with another server (${weights}); expected them in this folder`,
    )
  return { policy, model: resolve(policy.model), weights: join(trained.checkpoint, weights) }
}

/** Writes what the run at `place` has trained as a model folder; returns its path. @throws Fault `bad-input` */
export async function exportModel(
  place: string,
  {
    adapter = false,
    env: folder,
    python: given,
    ...flags
  }: Omit<ExportModelFlags, keyof PrintFlags>,
  { env, signal }: Terminal,
): Promise<string> {
  const { policy, model, weights } = await weightsOf(place)
  const python =
    given ?? (await findInterpreter(policy.engine, { env, ...withoutUndefined({ folder }) }))
  const words = { model, checkpoint: weights, out: resolve(flags.out) }
  const named = Object.entries(words).flatMap(([name, value]) => [`--${name}`, value])
  const how = ['--format', adapter ? 'adapter' : 'merged', '--engine', policy.engine]
  const { code, lines } = await runProgram(
    python,
    ['-m', 'bedside_trainers.export_model', ...named, ...how, '--dtype', policy.dtype],
    { env: { ...process.env, PYTHONPATH: pythonPackage() }, signal },
  )
  signal.throwIfAborted()
  if (code !== 0) throw new Fault('bad-input', lines.at(-1) ?? `${python}: ended with ${code}`)
  return words.out
}

/** Writes the model folder and prints its place. */
export async function exportModelCommand(
  place: string,
  flags: ExportModelFlags,
  terminal: Terminal,
): Promise<number> {
  const format = flags.adapter ? 'adapter' : 'merged'
  const out = await exportModel(place, flags, terminal)
  const what = flags.adapter ? 'the adapter' : 'the model'
  return output(terminal, flags).show(`${out}: ${what} of ${place}`, { out, format })
}
