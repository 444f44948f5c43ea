/** Creates a model on the server: by the sidecar's own route, which takes more options, or else by the wire's. */
import { z } from 'zod'
import { performOperation, type Session } from './session.js'
import type { WireModelSpec } from './wire.js'

/** A created model: its id on the server, and the server's notes on how it changed the spec. */
export interface CreatedModel {
  readonly modelId: string
  readonly notes: readonly string[]
}

/** Creates a model on the server. Without extensions, `mode`, `alpha` and `head` are not sent. @throws Fault */
export async function createModel(session: Session, spec: WireModelSpec): Promise<CreatedModel> {
  const { mode = 'lora', rank = 16, alpha, seed = 0, head = 'language' } = spec
  const { trainAttention = true, trainMlp = true, trainUnembed = false } = spec
  const ids = {
    session_id: session.id,
    model_seq_id: session.nextModel(),
    base_model: session.baseModel(spec.baseModel),
  }
  const lora = {
    rank,
    seed,
    train_attn: trainAttention,
    train_mlp: trainMlp,
    train_unembed: trainUnembed,
  }
  const extended = { mode, ...lora, ...(alpha === undefined ? {} : { alpha }), head }
  const { model_id, notes = [] } = await performOperation(
    session,
    session.extensions
      ? ['/ext/v1/create_model', 'CreateModel', { ...ids, spec: extended }]
      : [
          '/api/v1/create_model',
          'CreateModel',
          { type: 'create_model', ...ids, lora_config: lora },
        ],
    z.object({ model_id: z.string(), notes: z.array(z.string()).optional() }),
  )
  return { modelId: model_id, notes }
}
