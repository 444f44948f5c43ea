/** Training model on a Tinker server: passes, steps, snapshots and files, pipelined in call order. */

import { createModel } from './create-model.js'
import {
  exportWeights,
  loadInitialState,
  loadState,
  openSnapshot,
  type SavedState,
  saveState,
  stepOptimiser,
  unloadModel,
} from './model-operations.js'
import { markHandled, type OperationSequence, startSequence } from './operation-sequence.js'
import { runPass } from './run-pass.js'
import { samplingSession } from './sampling.js'
import { changeFaultCode, type Session } from './session.js'
import type { TrainingModel, WireModelSpec } from './wire.js'

/** Creates a model, loads a state into it and returns its id. @throws Fault after unloading the new model */
async function loadNew(session: Session, spec: WireModelSpec, state: SavedState): Promise<string> {
  const { modelId } = await createModel(session, spec)
  try {
    await loadInitialState(session, modelId, state)
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
  const fresh = startSequence(loaded, 2)
  at.sequence = fresh
  try {
    at.modelId = await loaded
  } catch (error) {
    if (at.sequence === fresh) at.sequence = sequence
    throw error
  }
  await unloadModel(session, old).catch(() => undefined)
}

/** Creates a model on the server. @throws Fault */
export async function createTrainingModel(
  session: Session,
  spec: WireModelSpec,
): Promise<TrainingModel> {
  const { modelId, notes } = await createModel(session, spec)
  const at: CurrentModel = { modelId, sequence: startSequence(Promise.resolve(modelId)) }
  async function load(state: SavedState): Promise<void> {
    try {
      await (session.profile.load === 'first'
        ? replaceModel(session, spec, at, state)
        : loadState(session, at.sequence, state))
    } catch (error) {
      throw changeFaultCode(error, 'bad-checkpoint')
    }
  }

  return {
    get modelId() {
      return at.modelId
    },
    notes,
    forward: (data, loss, options) =>
      markHandled(runPass(session, at.sequence, { data, loss, forwardOnly: true, ...options })),
    forwardBackward: (data, loss, options) =>
      markHandled(runPass(session, at.sequence, { data, loss, forwardOnly: false, ...options })),
    optimStep: (adam) => markHandled(stepOptimiser(session, at.sequence, adam)),
    snapshot: () => samplingSession(session, markHandled(openSnapshot(session, at.sequence))),
    save: (name) => markHandled(saveState(session, at.sequence, name)),
    load: (path, { optimizer }) => markHandled(load({ path, optimizer })),
    exportTo: (format, name) => markHandled(exportWeights(session, at.sequence, [format, name])),
    unload: async () => {
      // Earlier calls are submitted first; a broken sequence has nothing more to submit.
      await at.sequence.take(0, async () => undefined).catch(() => undefined)
      await unloadModel(session, at.modelId)
    },
  }
}
