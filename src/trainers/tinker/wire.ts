/**
 * Types of the Tinker wire, independent of its encoding: batches, losses, optimiser settings, samples, and the
 * training model and sampling session they are sent to.
 */

/** One training sequence: at position t the model reads `tokens[t]` and predicts `inputs.target_tokens[t]`. */
export interface Datum {
  readonly tokens: Int32Array
  /** Loss inputs by name, each as long as `tokens` or of length 1; integers are sent as int64, others as float32. */
  readonly inputs: Readonly<Record<string, Float32Array | BigInt64Array | Int32Array>>
}

/** A loss by its name on the wire; losses are summed over tokens. */
export interface WireLoss {
  readonly name: string
  readonly config?: Readonly<Record<string, number | string>>
  /** Whether it is a loss of our own sidecar, beyond those of the wire. @default false */
  readonly extension?: boolean
}

/** Result of a pass over a batch. */
export interface ForwardOutput {
  /** Arrays by name for each datum, in the order of the data. */
  readonly outputs: readonly Readonly<Record<string, Float32Array>>[]
  /** Metrics named `name:reduction`; `loss:sum` is the loss. */
  readonly metrics: Readonly<Record<string, number>>
}

/** A request of `forward_backward` or `forward`, with its data already encoded. */
export interface PassRequest {
  readonly modelId: string
  readonly seq: number
  readonly data: readonly Uint8Array[]
  readonly loss: WireLoss
  readonly forwardOnly: boolean
}

/** Settings of one AdamW step; every constant is sent, so no server default is used. */
export interface WireAdam {
  readonly learningRate: number
  readonly beta1: number
  readonly beta2: number
  readonly epsilon: number
  /** Decoupled weight decay. */
  readonly weightDecay: number
  /** Maximum Euclidean norm of the gradients, which are scaled down to it; Infinity for no clipping. */
  readonly maxGradNorm: number
}

/** Options of one sample request. */
export interface SampleOptions {
  readonly prompt: readonly number[] | Int32Array
  readonly maxTokens: number
  /** 0 decodes greedily. @default 1 */
  readonly temperature?: number
  readonly seed?: number
  /** Stop tokens or strings; the one that ends a sequence is kept at its end. */
  readonly stop?: readonly number[] | readonly string[]
  /** @default all */
  readonly topK?: number
  /** @default 1 */
  readonly topP?: number
  /** Whether to return log-probs of the prompt's tokens too. @default false */
  readonly promptLogprobs?: boolean
  /** Number of sequences to draw. @default 1 */
  readonly samples?: number
  readonly signal?: AbortSignal | undefined
}

/** One drawn sequence with the log-probs of its tokens. */
export interface SampledSequence {
  readonly tokens: readonly number[]
  /** Natural logarithms, one per token. */
  readonly logprobs: readonly number[]
  readonly stopReason: 'stop' | 'length'
}

/** Result of one sample request. */
export interface SampleResult {
  readonly sequences: readonly SampledSequence[]
  /** One per prompt token; the first is NaN, because no token precedes it. */
  readonly promptLogprobs?: Float32Array
}

/** A snapshot of weights to sample from. */
export interface SamplingSession {
  /** Resolves when the server made it. @throws Fault why it did not */
  readonly made: Promise<unknown>
  /** Draws sequences. @throws Fault `model-unavailable`, `model-unreadable`, `bad-input` or `aborted` */
  sample(options: SampleOptions): Promise<SampleResult>
}

/** Spec of a training model. */
export interface WireModelSpec {
  /** @default the server's only base model */
  readonly baseModel?: string
  /** @default 'lora' */
  readonly mode?: 'lora' | 'full'
  /** @default 16 */
  readonly rank?: number
  /** LoRA's scale is alpha / rank; only our sidecar takes it. @default the server's */
  readonly alpha?: number
  /** @default 0 */
  readonly seed?: number
  /** @default true */
  readonly trainAttention?: boolean
  /** @default true */
  readonly trainMlp?: boolean
  /** LoRA on the output layer; servers skip it if tied to the input embedding. @default false */
  readonly trainUnembed?: boolean
  /** @default 'language' */
  readonly head?: 'language' | 'value'
}

/** Options of one pass. */
export interface PassOptions {
  /**
   * Aborting before the server accepted the request leaves a gap in the model's sequence, so the model cannot be used
   * any more. Aborting after that only stops the waiting.
   */
  readonly signal?: AbortSignal | undefined
}

/**
 * A model being trained. Every method takes its place in the model's sequence when it is called, not when it is
 * awaited: `const a = m.forwardBackward(…); const b = m.optimStep(…)` is one pipelined step. If the server did not
 * accept a request after which another was called, the model cannot be used any more: later calls fail with the first
 * error. A refused request alone does not end the model, nor does an operation that was accepted and then failed.
 */
export interface TrainingModel {
  readonly modelId: string
  /** The server's notes on how it changed the spec. */
  readonly notes: readonly string[]
  /** Computes the loss's outputs without gradients. @throws RangeError before anything is sent, or Fault */
  forward(data: readonly Datum[], loss: WireLoss, options?: PassOptions): Promise<ForwardOutput>
  /** Accumulates gradients, summed over data however the batch is split. @throws as `forward` */
  forwardBackward(
    data: readonly Datum[],
    loss: WireLoss,
    options?: PassOptions,
  ): Promise<ForwardOutput>
  /** Steps the optimiser on the accumulated gradients, then zeroes them; returns the server's metrics. */
  optimStep(adam: WireAdam): Promise<Readonly<Record<string, number>>>
  /** Drops the accumulated gradients, so that no step is made on them; our sidecar's only. @throws RangeError */
  discard(): Promise<void>
  /**
   * Snapshots the weights after all calls made so far; `sample` throws a failure of the snapshot.
   * @param lasting kept as a checkpoint, which outlives the model on every server
   */
  snapshot(options?: { readonly lasting?: boolean }): SamplingSession
  /** Saves weights, optimiser and generator state under a name; returns the `tinker://` path. */
  save(name: string): Promise<string>
  /** Loads a saved state. @throws Fault `bad-checkpoint` for another base model or shape */
  load(path: string, options: { readonly optimizer: boolean }): Promise<void>
  /** Exports only the weights, in a format of the sidecar's `exports`; returns the `tinker://` path. */
  exportTo(format: string, name: string): Promise<string>
  /** Unloads the model from the server's memory; it cannot be used afterwards. */
  unload(): Promise<void>
}
