/**
 * What one says to a server of the Tinker wire, whatever its dialect: batches, losses, optimiser settings, samples,
 * and the models they are for.
 */

/** One sequence to learn from: `tokens[t]` is read at t and `inputs.target_tokens[t]` predicted there. */
export interface Datum {
  readonly tokens: Int32Array
  /** By the loss's names, each as long as `tokens` or of one number; integers go as int64, numbers as float32. */
  readonly inputs: Readonly<Record<string, Float32Array | BigInt64Array | Int32Array>>
}

/** A loss by its name on the wire, summed over tokens. */
export interface WireLoss {
  readonly name: string
  readonly config?: Readonly<Record<string, number | string>>
  /** One of the sidecar's own, beyond the wire's. @default false */
  readonly extension?: boolean
}

/** What a pass over a batch gave. */
export interface ForwardOutput {
  /** Per datum, in the order of the data, by name. */
  readonly outputs: readonly Readonly<Record<string, Float32Array>>[]
  /** Named `name:reduction`; `loss:sum` is the loss. */
  readonly metrics: Readonly<Record<string, number>>
}

/** One AdamW step; every constant is sent, no server's default is used. */
export interface WireAdam {
  readonly learningRate: number
  readonly beta1: number
  readonly beta2: number
  readonly epsilon: number
  /** Decoupled. */
  readonly weightDecay: number
  /** Gradients of a larger Euclidean norm are scaled down to it; Infinity for none. */
  readonly maxGradNorm: number
}

export interface SampleOptions {
  readonly prompt: readonly number[] | Int32Array
  readonly maxTokens: number
  /** 0 takes the likeliest token. @default 1 */
  readonly temperature?: number
  readonly seed?: number
  /** Ends a sequence, and is its last token or the end of its text. */
  readonly stop?: readonly number[] | readonly string[]
  /** @default all */
  readonly topK?: number
  /** @default 1 */
  readonly topP?: number
  /** Also log p of the prompt's tokens. @default false */
  readonly promptLogprobs?: boolean
  /** Sequences to draw. @default 1 */
  readonly samples?: number
  readonly signal?: AbortSignal | undefined
}

export interface SampledSequence {
  readonly tokens: readonly number[]
  /** Natural logarithm, one per token. */
  readonly logprobs: readonly number[]
  readonly stopReason: 'stop' | 'length'
}

export interface Sampled {
  readonly sequences: readonly SampledSequence[]
  /** As long as the prompt; the first is NaN, nothing being read before it. */
  readonly promptLogprobs?: Float32Array
}

/** Weights of one moment, to sample from. */
export interface SamplingSession {
  /** @throws Fault `model-unavailable`, `model-unreadable`, `bad-input` or `aborted` */
  sample(options: SampleOptions): Promise<Sampled>
}

/** What a training model is made as. */
export interface WireModelSpec {
  /** @default the server's, where it has one alone */
  readonly baseModel?: string
  /** @default 'lora' */
  readonly mode?: 'lora' | 'full'
  /** @default 16 */
  readonly rank?: number
  /** LoRA's scale is alpha / rank; the wire cannot say it. @default the server's */
  readonly alpha?: number
  /** @default 0 */
  readonly seed?: number
  /** @default true */
  readonly trainAttention?: boolean
  /** @default true */
  readonly trainMlp?: boolean
  /** LoRA on the output layer; servers skip it where it is tied to the input's. @default false */
  readonly trainUnembed?: boolean
  /** @default 'language' */
  readonly head?: 'language' | 'value'
}

export interface PassOptions {
  /**
   * Aborting while the server has not accepted the request yet leaves a gap in the model's sequence, and so ends
   * the use of the model; after that it only stops the waiting.
   */
  readonly signal?: AbortSignal | undefined
}

/**
 * Weights being trained. Every method takes its place in the model's sequence when it is called, not when it is
 * awaited: `const a = m.forwardBackward(…); const b = m.optimStep(…)` is one pipelined step. A request that the
 * server did not accept ends the use of the model, if anything was called after it: later calls fail with the first
 * error. A refused request by itself does not, nor an operation that was accepted and then failed.
 */
export interface TrainingModel {
  readonly modelId: string
  /** What the server says became of the spec, where it is not what was asked for. */
  readonly notes: readonly string[]
  /** Outputs of the loss, without gradients. @throws RangeError before anything is sent, or Fault */
  forward(data: readonly Datum[], loss: WireLoss, options?: PassOptions): Promise<ForwardOutput>
  /** Adds to the gradients, the sum over data however they are split. @throws as `forward` */
  forwardBackward(
    data: readonly Datum[],
    loss: WireLoss,
    options?: PassOptions,
  ): Promise<ForwardOutput>
  /** One step on the gathered gradients, which are zero after it; the server's metrics. */
  optimStep(adam: WireAdam): Promise<Readonly<Record<string, number>>>
  /** The weights as they are after the calls made so far; a failure is thrown by `sample`. */
  snapshot(): SamplingSession
  /** Keeps weights, optimiser and generator state under a name; its `tinker://` path. */
  save(name: string): Promise<string>
  /** Takes over a saved state. @throws Fault `bad-checkpoint` for another base model or shape */
  load(path: string, options: { readonly optimizer: boolean }): Promise<void>
  /** Writes the weights alone, in a format of the sidecar's `exports`; its `tinker://` path. */
  exportTo(format: string, name: string): Promise<string>
  /** Frees the server's memory; the model cannot be used after it. */
  unload(): Promise<void>
}
