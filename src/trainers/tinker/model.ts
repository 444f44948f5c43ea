/** A model being trained on a server of the wire. */

import { seen, startLine } from './codec/line.js'
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

/** A new model with a state loaded; its id. @throws Fault, and there is no new model */
async function loadAnew(session: Session, spec: WireModelSpec, state: SavedState): Promise<string> {
  const { modelId } = await createOnServer(session, spec)
  try {
    await loadFirst(session, modelId, state)
  } catch (error) {
    await unloadFrom(session, modelId).catch(() => undefined)
    throw error
  }
  return modelId
}

/** Makes a model and gives the hold on it. @throws Fault */
export async function trainingModel(session: Session, spec: WireModelSpec): Promise<TrainingModel> {
  const { modelId, notes } = await createOnServer(session, spec)
  const at = { modelId, line: startLine(Promise.resolve(modelId)) }

  /** Where loading is only a new model's first operation, what is called from now on is for the new one. */
  async function exchangeFor(state: SavedState): Promise<void> {
    const { modelId: old, line } = at
    const loaded = loadAnew(session, spec, state)
    const fresh = startLine(loaded, 2)
    at.line = fresh
    try {
      at.modelId = await loaded
    } catch (error) {
      if (at.line === fresh) at.line = line
      throw error
    }
    await unloadFrom(session, old).catch(() => undefined)
  }
  async function load(state: SavedState): Promise<void> {
    try {
      await (session.profile.load === 'first'
        ? exchangeFor(state)
        : loadInto(session, at.line, state))
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
      seen(passOver(session, at.line, { data, loss, forwardOnly: true, ...options })),
    forwardBackward: (data, loss, options) =>
      seen(passOver(session, at.line, { data, loss, forwardOnly: false, ...options })),
    optimStep: (adam) => seen(stepOn(session, at.line, adam)),
    snapshot: () => samplingSession(session, seen(snapshotOf(session, at.line))),
    save: (name) => seen(saveAs(session, at.line, name)),
    load: (path, { optimizer }) => seen(load({ path, optimizer })),
    exportTo: (format, name) => seen(exportAs(session, at.line, [format, name])),
    unload: async () => {
      // What was called before is handed in first; a sequence that was ended has nothing more to hand in.
      await at.line.take(0, async () => undefined).catch(() => undefined)
      await unloadFrom(session, at.modelId)
    },
  }
}
