/** Training model on a Tinker server: passes, steps, snapshots and files, pipelined in call order. */
import { type Line, seen, startLine } from './codec/line.js'
import { createOnServer } from './create.js'
import {
  exportAs,
  loadFirst,
  loadInto,
  type SavedState,
  saveAs,
  snapshotOf,
  stepOn,
  unloadFrom,
} from './model-operations.js'
import { passOver } from './passes.js'
import { samplingSession } from './sampling.js'
import { recoded, type Session } from './session.js'
import type { TrainingModel, WireModelSpec } from './wire.js'

/** Creates a model, loads a state into it and returns its id. @throws Fault after unloading the new model */
async function loadNew(session: Session, spec: WireModelSpec, state: SavedState): Promise<string> {
  const { modelId } = await createOnServer(session, spec)
  try {
    await loadFirst(session, modelId, state)
  } catch (error) {
    await unloadFrom(session, modelId).catch(() => undefined)
    throw error
  }
  return modelId
}

/** The server's model behind a {@link TrainingModel}; `replaceModel` exchanges it. */
interface CurrentModel {
  modelId: string
  sequence: Line
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
  const fresh = startLine(loaded, 2)
  at.sequence = fresh
  try {
    at.modelId = await loaded
  } catch (error) {
    if (at.sequence === fresh) at.sequence = sequence
    throw error
  }
  await unloadFrom(session, old).catch(() => undefined)
}

/** Creates a model on the server. @throws Fault */
export async function trainingModel(session: Session, spec: WireModelSpec): Promise<TrainingModel> {
  const { modelId, notes } = await createOnServer(session, spec)
  const at: CurrentModel = { modelId, sequence: startLine(Promise.resolve(modelId)) }
  async function load(state: SavedState): Promise<void> {
    try {
      await (session.profile.load === 'first'
        ? replaceModel(session, spec, at, state)
        : loadInto(session, at.sequence, state))
    } catch (error) {
      throw recoded(error, 'bad-checkpoint')
    }
  }

  return {
    get modelId() {
      return at.modelId
    },
    notes,
    forward: (data, loss, options) =>
      seen(passOver(session, at.sequence, { data, loss, forwardOnly: true, ...options })),
    forwardBackward: (data, loss, options) =>
      seen(passOver(session, at.sequence, { data, loss, forwardOnly: false, ...options })),
    optimStep: (adam) => seen(stepOn(session, at.sequence, adam)),
    snapshot: () => samplingSession(session, seen(snapshotOf(session, at.sequence))),
    save: (name) => seen(saveAs(session, at.sequence, name)),
    load: (path, { optimizer }) => seen(load({ path, optimizer })),
    exportTo: (format, name) => seen(exportAs(session, at.sequence, [format, name])),
    unload: async () => {
      // Earlier calls are submitted first; a broken sequence has nothing more to submit.
      await at.sequence.take(0, async () => undefined).catch(() => undefined)
      await unloadFrom(session, at.modelId)
    },
  }
}
