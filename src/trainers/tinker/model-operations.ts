/** Operations on a model other than passes: optimiser step, snapshot, save, export, load, unload; in call order. */
import { z } from 'zod'
import { Fault } from '../../error.js'
import { jsonOperation } from './operation.js'
import type { OperationSequence } from './operation-sequence.js'
import type { WireProfile } from './profile.js'
import { openSampler } from './sampling.js'
import {
  awaitResult,
  performOperation,
  readFields,
  type Session,
  submitOperation,
} from './session.js'
import type { WireAdam } from './wire.js'

const Path = z.object({ path: z.string() })

/** AdamW settings as `adam_params` of the wire. @throws RangeError for what the server's optimiser cannot do */
export function adamParams(adam: WireAdam, { name, gradClip }: WireProfile): object {
  const { learningRate, beta1, beta2, epsilon, weightDecay, maxGradNorm } = adam
  for (const [field, value] of Object.entries({ learningRate, beta1, beta2, epsilon, weightDecay }))
    if (!Number.isFinite(value))
      throw new RangeError(`Expected \`${field}\` to be a number, got \`${value}\``)
  if (!(maxGradNorm > 0))
    throw new RangeError(`Expected \`maxGradNorm\` to be positive, got \`${maxGradNorm}\``)
  const clips = Number.isFinite(maxGradNorm)
  if (clips && !gradClip)
    throw new RangeError(
      `Expected \`maxGradNorm\` Infinity, because ${name} does not clip gradients, got ${maxGradNorm}`,
    )
  return {
    learning_rate: learningRate,
    beta1,
    beta2,
    eps: epsilon,
    weight_decay: weightDecay,
    ...(gradClip ? { grad_clip_norm: clips ? maxGradNorm : 0 } : {}),
  }
}

/** Submits one JSON operation in a model's sequence and awaits its result. @throws Fault */
async function enqueue<T>(
  session: Session,
  sequence: OperationSequence,
  [route, kind, fields]: readonly [route: string, kind: string, fields: object],
  result: z.ZodType<T>,
): Promise<T> {
  const { operation, ticket } = await sequence.take(1, async (seq, modelId) => {
    const body = { model_id: modelId, seq_id: seq, ...fields }
    const operation = jsonOperation(route, kind, body)
    return { operation, ticket: await submitOperation(session, operation) }
  })
  return readFields(await awaitResult(session, operation, ticket), route, result)
}

/** Opens a sampling session on the weights after all earlier calls; returns its id. @throws Fault */
export async function openSnapshot(session: Session, sequence: OperationSequence): Promise<string> {
  const saved = await enqueue(
    session,
    sequence,
    [
      '/api/v1/save_weights_for_sampler',
      'SaveWeightsForSampler',
      {
        type: 'save_weights_for_sampler',
        kind: 'snapshot',
        sampling_session_seq_id: session.nextSampler(),
      },
    ],
    z.object({ path: z.string().nullish(), sampling_session_id: z.string().nullish() }),
  )
  if (saved.sampling_session_id) return saved.sampling_session_id
  if (saved.path) return openSampler(session, { model_path: saved.path })
  throw new Fault(
    'model-unreadable',
    `/api/v1/save_weights_for_sampler: expected a path or a sampling session, got ${JSON.stringify(saved)}`,
  )
}

const Metrics = z.object({ metrics: z.record(z.string(), z.number()).nullish() })

/**
 * Runs one optimiser step and returns the server's metrics.
 * @throws RangeError before a sequence number is taken, or Fault
 */
export async function stepOptimiser(
  session: Session,
  sequence: OperationSequence,
  adam: WireAdam,
): Promise<Readonly<Record<string, number>>> {
  const fields = { type: 'optim_step', adam_params: adamParams(adam, session.profile) }
  const done = await enqueue(
    session,
    sequence,
    ['/api/v1/optim_step', 'OptimStep', fields],
    Metrics,
  )
  return done.metrics ?? {}
}

/** Saves weights and optimiser state under a new name; returns the `tinker://` path. @throws Fault */
export async function saveState(
  session: Session,
  sequence: OperationSequence,
  path: string,
): Promise<string> {
  const fields = { type: 'save_weights', path, overwrite: false }
  const saved = await enqueue(
    session,
    sequence,
    ['/api/v1/save_weights', 'SaveWeights', fields],
    Path,
  )
  return saved.path
}

/** Exports only the weights; returns their path. @throws RangeError for a format the server lacks, or Fault */
export async function exportWeights(
  session: Session,
  sequence: OperationSequence,
  [format, path]: readonly [format: string, name: string],
): Promise<string> {
  const known = session.extensions?.exports ?? []
  if (!known.includes(format))
    throw new RangeError(
      `Expected a format of ${session.profile.name} (${known.join(', ') || 'it exports none'}), got \`${format}\``,
    )
  const fields = { format, path }
  return (await enqueue(session, sequence, ['/ext/v1/export', 'Export', fields], Path)).path
}

/** Loads a state into this sequence's model. @throws Fault */
export async function loadState(
  session: Session,
  sequence: OperationSequence,
  state: SavedState,
): Promise<void> {
  const fields = { type: 'load_weights', ...state }
  await enqueue(session, sequence, ['/api/v1/load_weights', 'LoadWeights', fields], z.object({}))
}

/** Loads a state as the first operation of a new model. @throws Fault */
export async function loadInitialState(
  session: Session,
  modelId: string,
  state: SavedState,
): Promise<void> {
  const body = { type: 'load_weights', model_id: modelId, seq_id: 1, ...state }
  await performOperation(session, ['/api/v1/load_weights', 'LoadWeights', body], z.object({}))
}

/** A saved state on the server, and whether to load its optimiser state too. */
export interface SavedState {
  readonly path: string
  readonly optimizer: boolean
}

/** Unloads a model from the server's memory. @throws Fault */
export async function unloadModel(session: Session, modelId: string): Promise<void> {
  const body = { type: 'unload_model', model_id: modelId }
  await performOperation(session, ['/api/v1/unload_model', 'UnloadModel', body], z.object({}))
}
