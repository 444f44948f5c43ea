/** Training model on a Tinker server: passes, steps, snapshots and files, pipelined in call order. */
import { z } from 'zod'
import { Fault } from '../../error.js'
import { newOperation, parseJsonReply, readFields, sendOperation } from './operation.js'
import { markHandled, type OperationSequence, startSequence } from './operation-sequence.js'
import type { WireProfile } from './profile.js'
import { runPass } from './run-pass.js'
import { openSampler, samplingSession } from './sampling.js'
import {
  collectResult,
  performOperation,
  type Session,
  type WireCall,
  wireCall,
} from './session.js'
import type { TrainingModel, WireAdam, WireModelSpec } from './wire.js'

const Nothing = z.object({})
const Path = z.object({ path: z.string() })

/** A created model: its id on the server, and the server's notes on how it changed the spec. */
interface CreatedModel {
  readonly modelId: string
  readonly notes: readonly string[]
}

/**
 * Creates a model on the server, by the sidecar's own route or by the wire's, which knows no `mode`, `alpha` and
 * `head`. @throws Fault
 */
async function createModel(session: Session, spec: WireModelSpec): Promise<CreatedModel> {
  const { mode = 'lora', rank = 16, alpha, seed = 0, head = 'language' } = spec
  const { trainAttention = true, trainMlp = true, trainUnembed = false } = spec
  const ids = {
    session_id: session.id,
    model_seq_id: session.nextModel(),
    base_model: session.baseModel(spec.baseModel),
  }
  const trained = { train_attn: trainAttention, train_mlp: trainMlp, train_unembed: trainUnembed }
  const lora = { rank, seed, ...trained }
  const extended = { mode, ...lora, ...(alpha === undefined ? {} : { alpha }), head }
  const { model_id, notes = [] } = await performOperation(
    session,
    session.extensions
      ? ['/ext/v1/create_model', 'CreateModel', { ...ids, spec: extended }]
      : wireCall('create_model', { ...ids, lora_config: lora }),
    z.object({ model_id: z.string(), notes: z.array(z.string()).optional() }),
  )
  return { modelId: model_id, notes }
}

/** AdamW settings as `adam_params` of the wire. @throws RangeError for what the server's optimiser cannot do */
function adamParams(adam: WireAdam, { name, gradClip }: WireProfile): object {
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
    ...{ learning_rate: learningRate, beta1, beta2, eps: epsilon, weight_decay: weightDecay },
    ...(gradClip ? { grad_clip_norm: clips ? maxGradNorm : 0 } : {}),
  }
}

/** A saved state on the server, and whether to load its optimiser state too. */
interface SavedState {
  readonly path: string
  readonly optimizer: boolean
}

/** Unloads a model from the server's memory. @throws Fault */
const unloadModel = (session: Session, modelId: string) =>
  performOperation(session, wireCall('unload_model', { model_id: modelId }), Nothing)

/** Creates a model, loads a state into it and returns its id. @throws Fault after unloading the new model */
async function loadNew(session: Session, spec: WireModelSpec, state: SavedState): Promise<string> {
  const { modelId } = await createModel(session, spec)
  try {
    const fields = { model_id: modelId, seq_id: 1, ...state }
    await performOperation(session, wireCall('load_weights', fields), Nothing)
  } catch (error) {
    await unloadModel(session, modelId).catch(() => undefined)
    throw error
  }
  return modelId
}

/** The server's model behind a {@link TrainingModel}; `replaceModel` exchanges it. */
interface CurrentModel {
  modelId: string
  sequence: OperationSequence
}

/**
 * Replaces the model by a new one with a state loaded, for servers that load only into new models. Calls made after
 * this one go to the new model.
 */
async function replaceModel(
  session: Session,
  spec: WireModelSpec,
  at: CurrentModel,
  state: SavedState,
): Promise<void> {
  const { modelId: old, sequence } = at
  const loaded = loadNew(session, spec, state)
  const { refusalUsesNumber } = session.profile
  const fresh = startSequence(loaded, { from: 2, refusalUsesNumber })
  at.sequence = fresh
  try {
    at.modelId = await loaded
  } catch (error) {
    if (at.sequence === fresh) at.sequence = sequence
    throw error
  }
  await unloadModel(session, old).catch(() => undefined)
}

/** Submits a JSON operation in a model's sequence and awaits its result. @throws Fault */
async function enqueue<T>(
  session: Session,
  { sequence }: CurrentModel,
  [route, kind, fields]: WireCall,
  result: z.ZodType<T>,
): Promise<T> {
  const { operation, ticket } = await sequence.take(1, async (seq, modelId) => {
    const operation = newOperation(route, kind, { model_id: modelId, seq_id: seq, ...fields })
    return { operation, ticket: await sendOperation(session.transport, operation) }
  })
  const reply = await collectResult(session, operation, ticket)
  return readFields(parseJsonReply(reply, route), route, result)
}

/** Opens a sampling session on the weights after all earlier calls; returns its id. @throws Fault */
async function openSnapshot(session: Session, at: CurrentModel): Promise<string> {
  const fields = { kind: 'snapshot', sampling_session_seq_id: session.nextSampler() }
  const call = wireCall('save_weights_for_sampler', fields)
  const result = z.object({ path: z.string().nullish(), sampling_session_id: z.string().nullish() })
  const saved = await enqueue(session, at, call, result)
  if (saved.sampling_session_id) return saved.sampling_session_id
  if (saved.path) return openSampler(session, { model_path: saved.path })
  throw new Fault(
    'model-unreadable',
    `${call[0]}: expected a path or a sampling session, got ${JSON.stringify(saved)}`,
  )
}

/** Operations on a model that have their place in its sequence, other than passes and snapshots. */
function sequencedOperations(session: Session, spec: WireModelSpec, at: CurrentModel) {
  return {
    async optimStep(adam) {
      const call = wireCall('optim_step', { adam_params: adamParams(adam, session.profile) })
      const result = z.object({ metrics: z.record(z.string(), z.number()).nullish() })
      return (await enqueue(session, at, call, result)).metrics ?? {}
    },
    async save(path) {
      const call = wireCall('save_weights', { path, overwrite: false })
      return (await enqueue(session, at, call, Path)).path
    },
    async load(path, { optimizer }) {
      const state = { path, optimizer }
      try {
        if (session.profile.load === 'first') await replaceModel(session, spec, at, state)
        else await enqueue(session, at, wireCall('load_weights', state), Nothing)
      } catch (error) {
        // What the server refuses is the checkpoint, not the caller's input.
        const refused = Fault.is(error) && error.code === 'bad-input'
        throw refused ? new Fault('bad-checkpoint', error.message) : error
      }
    },
    async exportTo(format, path) {
      const { extensions, profile } = session
      const known = extensions?.exports ?? []
      if (!known.includes(format))
        throw new RangeError(
          `Expected a format of ${profile.name} (${known.join(', ') || 'it exports none'}), got \`${format}\``,
        )
      const call: WireCall = ['/ext/v1/export', 'Export', { format, path }]
      return (await enqueue(session, at, call, Path)).path
    },
  } satisfies Partial<TrainingModel>
}

/** Creates a model on the server. @throws Fault */
export async function createTrainingModel(
  session: Session,
  spec: WireModelSpec,
): Promise<TrainingModel> {
  const { modelId, notes } = await createModel(session, spec)
  const { refusalUsesNumber } = session.profile
  const sequence = startSequence(Promise.resolve(modelId), { refusalUsesNumber })
  const at: CurrentModel = { modelId, sequence }
  const { optimStep, save, load, exportTo } = sequencedOperations(session, spec, at)
  return {
    get modelId() {
      return at.modelId
    },
    notes,
    forward: (data, loss, options) =>
      markHandled(runPass(session, at.sequence, { data, loss, forwardOnly: true, ...options })),
    forwardBackward: (data, loss, options) =>
      markHandled(runPass(session, at.sequence, { data, loss, forwardOnly: false, ...options })),
    optimStep: (adam) => markHandled(optimStep(adam)),
    snapshot: () => samplingSession(session, markHandled(openSnapshot(session, at))),
    save: (name) => markHandled(save(name)),
    load: (path, options) => markHandled(load(path, options)),
    exportTo: (format, name) => markHandled(exportTo(format, name)),
    unload: async () => {
      // Earlier calls are submitted first; a broken sequence has nothing more to submit.
      await at.sequence.take(0, async () => undefined).catch(() => undefined)
      await unloadModel(session, at.modelId)
    },
  }
}
