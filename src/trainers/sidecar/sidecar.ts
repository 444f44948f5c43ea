/**
 * Sidecar backend: trains a language model on a Tinker server. Our own server has every loss, a critic and exports;
 * any other Tinker server has the losses of the wire, and linearised forms of the rest.
 */
import type { Agent, Grammar } from '../../agent.js'
import { assertSteppable, type Backend, type Capabilities } from '../../backend.js'
import { normaliserKinds, objectiveKinds, type TokenSegment, type TrainBatch } from '../../batch.js'
import { Fault } from '../../error.js'
import { assertTrainable } from '../batches/segments.js'
import { assertCriticTargets } from '../losses/critic-targets.js'
import { stepReport } from '../losses/step-report.js'
import type { TinkerService } from '../tinker/service.js'
import type { SamplingSession, TrainingModel } from '../tinker/wire.js'
import type { ChatTokenizer } from '../tokens/chat-tokenizer.js'
import { languageDemonstration } from '../tokens/language-demonstration.js'
import { type LanguageDoctorOptions, languageDoctor } from '../tokens/language-doctor.js'
import type { DrawnTokens } from '../tokens/token-stream.js'
import { computeLogprobs, encodeNativeBatch, encodeWireBatch, outputRows } from './encode-batch.js'
import { predictValues, runTrainStep, stepValueModel } from './train-steps.js'

/** Spec of the sidecar's model. */
export interface SidecarModel {
  /** A LoRA adapter, or all parameters, which only our own server trains. @default 'lora' */
  readonly mode?: 'lora' | 'full'
  /** @default 16 */
  readonly rank?: number
  /** LoRA's scale is alpha / rank. @default 32 */
  readonly alpha?: number
  /** @default 0 */
  readonly seed?: number
}

/** Options of {@link sidecar}. */
export interface SidecarOptions {
  /** Connection to the server; the caller closes it. */
  readonly service: TinkerService
  readonly tokenizer: ChatTokenizer
  readonly grammar: Grammar
  readonly model?: SidecarModel
  /** Maximum tokens of one reply. */
  readonly maxTokens: number
  /** Maximum tokens of prompt and reply together. */
  readonly contextLength: number
  /** Whether hidden reasoning stays in the history. @default 'keep' */
  readonly history?: 'keep' | 'strip-reasoning'
}

/** Checks that segments fit the context and are trainable. @throws RangeError */
function checkSegments(segments: readonly TokenSegment[], contextLength: number): void {
  assertTrainable(segments)
  segments.forEach(({ rolloutId, tokens }, s) => {
    if (tokens.length > contextLength)
      throw new RangeError(
        `segments[${s}] of rollout ${rolloutId}: expected at most ${contextLength} tokens, got ${tokens.length}`,
      )
  })
}

/** Runs one pass and one optimiser step of the policy, and reports their metrics. */
async function stepPolicy(batch: TrainBatch, { policy, extended }: ServerModels) {
  const { segments, normaliser, loss, policyVersion } = batch
  const { data, loss: sent } = extended
    ? encodeNativeBatch(batch)
    : await encodeWireBatch(batch, () => computeLogprobs(policy, segments, false))
  const { output, gradNorm } = await runTrainStep(policy, data, sent, batch.adam)
  const logprobs = outputRows(segments, output, 'logprobs')
  // The wire has no entropies: -log p of the drawn token is an unbiased estimate.
  const entropies = extended
    ? outputRows(segments, output, 'entropies')
    : logprobs.map((row) => row.map((value) => -value))
  const sums = stepReport(loss, policyVersion)
  segments.forEach((segment, s) => {
    const read = { segment, logprobs: logprobs[s]!, entropies: Float64Array.from(entropies[s]!) }
    sums.add({ ...read, weight: normaliser.perSegment[s]! })
  })
  return sums.report(policyVersion + 1, gradNorm)
}

/** Computes log p of every token after the prompt under a snapshot that can only sample. */
async function snapshotLogprobs(
  session: SamplingSession,
  segments: readonly TokenSegment[],
): Promise<readonly Float32Array[]> {
  return Promise.all(
    segments.map(async ({ tokens, promptLength, mask, temperature }) => {
      const { promptLogprobs: all } = await session.sample({
        ...{ prompt: tokens, temperature },
        ...{ maxTokens: 1, promptLogprobs: true },
      })
      if (all?.length !== tokens.length)
        throw new Fault(
          'model-unreadable',
          `expected log-probs of ${tokens.length} tokens of a prompt, got ${all?.length ?? 'none'}`,
        )
      return Float32Array.from(mask, (drawn, t) => (drawn === 1 ? all[promptLength + t]! : 0))
    }),
  )
}

/** Models on the server and the snapshots of them; `current` and `critic` are created at first use. */
interface ServerModels {
  readonly capabilities: Capabilities
  readonly extended: boolean
  /** Maximum tokens of a segment. */
  readonly contextLength: number
  readonly policy: TrainingModel
  policyVersion: number
  reference: SamplingSession
  current: SamplingSession | undefined
  critic: Promise<TrainingModel> | undefined
  /** The critic, created now if it does not exist. */
  readonly valueModel: () => Promise<TrainingModel>
}

async function openModels({ service, model = {}, ...options }: SidecarOptions) {
  const { mode = 'lora', rank = 16, alpha = 32, seed = 0 } = model
  const spec = { mode, rank, alpha, seed }
  const extended = service.extensions !== undefined
  const formats = service.extensions?.exports ?? []
  const capabilities: Capabilities = {
    ...{ losses: objectiveKinds, normalisers: normaliserKinds, entropy: extended },
    ...{ kl: true, correction: true, critic: extended, maxMoveTokens: options.maxTokens },
    exports: formats.filter((format) => mode === 'lora' || format !== 'adapter'),
    notes: service.extensions?.notes ?? [],
    coarse: extended && !['float32', 'float64'].includes(service.extensions.dtype),
  }
  const policy = await service.createModel(spec)
  const models: ServerModels = {
    capabilities,
    extended,
    // A server scores a prompt by drawing one token after it, which needs room in the context.
    contextLength: options.contextLength - 1,
    policy,
    policyVersion: 0,
    reference: policy.snapshot(),
    current: undefined,
    critic: undefined,
    valueModel: () => {
      models.critic ??= service.createModel({ ...spec, head: 'value' })
      return models.critic
    },
  }
  return models
}

/** Doctor that draws its replies from the current weights. @throws RangeError for a negative temperature */
function sampleDoctor(
  models: ServerModels,
  options: Omit<LanguageDoctorOptions, 'draw'>,
  temperature: number,
): Agent {
  if (!(temperature >= 0))
    throw new RangeError(`Expected \`temperature\` to be >= 0, got \`${temperature}\``)
  models.current ??= models.policy.snapshot()
  const { current, policyVersion } = models
  return languageDoctor({
    ...options,
    draw: async (prompt, { signal, ...rest }): Promise<DrawnTokens> => {
      const { sequences } = await current.sample({ prompt, temperature, ...rest, signal })
      const [sequence] = sequences
      if (!sequence) throw new Fault('model-unreadable', 'expected a sequence, got none')
      const { tokens, logprobs, stopReason } = sequence
      const logprobMode = temperature === 0 ? 'raw' : 'scaled'
      return { tokens, logprobs, stopReason, temperature, logprobMode, policyVersion }
    },
  })
}

function learner(models: ServerModels): Pick<Backend, 'step' | 'logprobs' | 'values'> {
  const { policy, extended, contextLength, valueModel } = models
  return {
    async step(batch) {
      assertSteppable(models, batch)
      checkSegments(batch.segments, contextLength)
      if (batch.critic) assertCriticTargets(batch.critic, batch.segments)
      const report = await stepPolicy(batch, models)
      models.policyVersion += 1
      models.current = undefined
      if (!batch.critic) return report
      return { ...report, critic: await stepValueModel(await valueModel(), batch, batch.critic) }
    },

    async logprobs(segments, { reference = false } = {}) {
      checkSegments(segments, contextLength)
      if (reference) return snapshotLogprobs(models.reference, segments)
      return computeLogprobs(policy, segments, extended)
    },

    ...(extended
      ? {
          async values(segments: readonly TokenSegment[]) {
            checkSegments(segments, contextLength)
            return predictValues(await valueModel(), segments)
          },
        }
      : {}),
  }
}

/** @param state the server's state folder, if it shares our disk */
function checkpoints(
  models: ServerModels,
  state: string | undefined,
): Pick<Backend, 'save' | 'load' | 'export'> {
  const { policy, capabilities } = models
  return {
    async save(folder) {
      const { saveModels } = await import('./checkpoint.js')
      const { policyVersion, critic } = models
      await saveModels(folder, { policyVersion, policy, critic: await critic }, state)
    },

    async load(folder) {
      const { loadModel, readManifest } = await import('./checkpoint.js')
      const manifest = await readManifest(folder)
      await loadModel(folder, manifest.weights, policy, state)
      if (manifest.critic !== undefined)
        await loadModel(folder, manifest.critic, await models.valueModel(), state)
      else if (models.critic) {
        // The checkpoint was saved before its critic was ever trained.
        await (await models.critic).unload()
        models.critic = undefined
      }
      models.policyVersion = manifest.policyVersion
      models.current = undefined
    },

    async export(format, folder) {
      const { exports: formats } = capabilities
      if (!formats.includes(format) || state === undefined)
        throw new RangeError(
          `Expected an export format of ${formats.join(', ') || 'none'}, got \`${format}\``,
        )
      const { exportModel } = await import('./checkpoint.js')
      await exportModel(folder, { format, policy }, state)
    },
  }
}

/**
 * Opens the sidecar backend: creates the policy on the server and snapshots it as the KL reference. The critic, if
 * used, is a separate value model that predicts 0 at first.
 * @throws Fault `bad-input` for a model that the server refuses, `model-unavailable` without a server
 */
export async function sidecar(options: SidecarOptions): Promise<Backend> {
  const { service, tokenizer, grammar, maxTokens, history = 'keep' } = options
  const models = await openModels(options)
  const { capabilities, contextLength, policy } = models
  const language = { tokenizer, grammar, contextLength, history }
  return {
    name: 'sidecar',
    capabilities,
    get policyVersion() {
      return models.policyVersion
    },
    sampler: ({ temperature = 1 } = {}) =>
      sampleDoctor(models, { ...language, maxTokens }, temperature),
    ...learner(models),
    keepReference() {
      models.reference = policy.snapshot()
    },
    demonstrate: (episode) =>
      languageDemonstration(episode, { ...language, policyVersion: models.policyVersion }),
    ...checkpoints(models, service.extensions?.state),
    async [Symbol.asyncDispose]() {
      const { critic } = models
      await Promise.allSettled([policy.unload(), critic?.then((model) => model.unload())])
    },
  }
}
