/**
 * The sidecar backend: a language model behind the Tinker wire. Our own server has every loss, a critic and exports;
 * any other Tinker server has what the wire can say, and the rest linearised.
 */
import type { Agent, Grammar } from '../../agent.js'
import type { Backend, Capabilities, SamplerOptions } from '../../backend.js'
import { assertSteppable } from '../../backend.js'
import type { TokenSegment, TrainBatch } from '../../batch.js'
import { normaliserKinds, objectiveKinds } from '../../batch.js'
import { Fault } from '../../error.js'
import { assertDrawn } from '../batches/segments.js'
import { assertTargets } from '../losses/critic-targets.js'
import { stepReport } from '../losses/step-report.js'
import type { TinkerService } from '../tinker/service.js'
import type { SamplingSession, TrainingModel } from '../tinker/wire.js'
import type { ChatTokenizer } from '../tokens/chat-tokenizer.js'
import { languageDemonstration } from '../tokens/language-demonstration.js'
import { languageDoctor } from '../tokens/language-doctor.js'
import type { Draw } from '../tokens/token-stream.js'
import { rowsOf } from './datum.js'
import { steppedBy } from './optimiser.js'
import { currentLogprobs, native, overWire } from './routes.js'
import { stepValues, valuesBy } from './value-model.js'

/** What a model is made as. */
export interface SidecarModel {
  /** A LoRA adapter, or every parameter, which only our own server trains. @default 'lora' */
  readonly mode?: 'lora' | 'full'
  /** @default 16 */
  readonly rank?: number
  /** LoRA's scale is alpha / rank. @default 32 */
  readonly alpha?: number
  /** @default 0 */
  readonly seed?: number
}

export interface SidecarOptions {
  /** Stays the caller's to close. */
  readonly service: TinkerService
  readonly tokenizer: ChatTokenizer
  readonly grammar: Grammar
  readonly model?: SidecarModel
  /** The most tokens of one reply. */
  readonly maxTokens: number
  /** Prompt and reply together. */
  readonly contextLength: number
  /** @default 'keep' */
  readonly history?: 'keep' | 'strip-reasoning'
}

function capabilitiesOf(
  { extensions }: TinkerService,
  { mode, maxTokens }: { readonly mode: 'lora' | 'full'; readonly maxTokens: number },
): Capabilities {
  const own = extensions !== undefined
  const formats = extensions?.exports ?? []
  return {
    losses: objectiveKinds,
    normalisers: normaliserKinds,
    entropy: own,
    kl: true,
    correction: true,
    critic: own,
    exports: formats.filter((format) => mode === 'lora' || format !== 'adapter'),
    maxMoveTokens: maxTokens,
  }
}

/** @throws RangeError for what the model cannot read: too long, drawn without chance */
function checkSegments(segments: readonly TokenSegment[], contextLength: number): void {
  assertDrawn(segments)
  segments.forEach(({ rolloutId, tokens }, s) => {
    if (tokens.length > contextLength)
      throw new RangeError(
        `segments[${s}] of rollout ${rolloutId}: expected at most ${contextLength} tokens, got ${tokens.length}`,
      )
  })
}

/** One pass and one step by whichever route the server has, and what is reported of it. */
async function stepPolicy(
  batch: TrainBatch,
  { policy, extended }: { readonly policy: TrainingModel; readonly extended: boolean },
) {
  const { segments, normaliser, loss, policyVersion } = batch
  const { data, loss: sent } = extended
    ? native(batch)
    : await overWire(batch, () => currentLogprobs(policy, segments, false))
  const { output, gradNorm } = await steppedBy(policy, data, sent, batch.adam)
  const logprobs = rowsOf(segments, output, 'logprobs')
  // Over the wire alone, -log p of what was drawn stands for the entropy, of which it is an unbiased estimate.
  const entropies = extended
    ? rowsOf(segments, output, 'entropies')
    : logprobs.map((row) => row.map((value) => -value))
  const sums = stepReport(loss, policyVersion)
  segments.forEach((segment, s) => {
    const read = { segment, logprobs: logprobs[s]!, entropies: Float64Array.from(entropies[s]!) }
    sums.add({ ...read, weight: normaliser.perSegment[s]! })
  })
  return sums.report(policyVersion + 1, gradNorm)
}

/** log p of every token after the prompt by weights that only sample. */
async function sampledLogprobs(
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

/**
 * Opens a model on a server: fresh adapter or all parameters, its reference as it was opened. The critic, where it is
 * asked for, is a value model beside it, which expects 0 at first.
 * @throws Fault `bad-input` for a model that the server refuses, `model-unavailable` without a server
 */
export async function sidecar(options: SidecarOptions): Promise<Backend> {
  const { service, tokenizer, grammar, maxTokens, history = 'keep' } = options
  // A server scores a prompt by drawing one token after it, which needs its room.
  const contextLength = options.contextLength - 1
  const { mode = 'lora', rank = 16, alpha = 32, seed = 0 } = options.model ?? {}
  const extended = service.extensions !== undefined
  const state = service.extensions?.state
  const spec = { mode, rank, alpha, seed }
  const capabilities = capabilitiesOf(service, { mode, maxTokens })
  const policy = await service.createModel(spec)
  let critic: Promise<TrainingModel> | undefined
  let policyVersion = 0
  let session: SamplingSession | undefined
  const current = (): SamplingSession => {
    const now = session ?? policy.snapshot()
    session = now
    return now
  }
  let reference = policy.snapshot()
  const valueModel = (): Promise<TrainingModel> => {
    const made = critic ?? service.createModel({ ...spec, head: 'value' })
    critic = made
    return made
  }

  const backend: Backend = {
    name: 'sidecar',
    capabilities,
    get policyVersion() {
      return policyVersion
    },

    sampler({ temperature = 1 }: SamplerOptions = {}): Agent {
      if (!(temperature >= 0))
        throw new RangeError(`Expected \`temperature\` to be >= 0, got \`${temperature}\``)
      const from = current()
      const version = policyVersion
      return languageDoctor({
        ...{ tokenizer, grammar, maxTokens, contextLength, history },
        draw: async (prompt, { signal, ...rest }): Promise<Draw> => {
          const { sequences } = await from.sample({ prompt, temperature, ...rest, signal })
          const [sequence] = sequences
          if (!sequence) throw new Fault('model-unreadable', 'expected a sequence, got none')
          const { tokens, logprobs, stopReason } = sequence
          const logprobMode = temperature === 0 ? 'raw' : 'scaled'
          return { tokens, logprobs, stopReason, temperature, logprobMode, policyVersion: version }
        },
      })
    },

    async step(batch) {
      assertSteppable(backend, batch)
      checkSegments(batch.segments, contextLength)
      if (batch.critic) assertTargets(batch.critic, batch.segments)
      const report = await stepPolicy(batch, { policy, extended })
      policyVersion += 1
      session = undefined
      if (!batch.critic) return report
      return { ...report, critic: await stepValues(await valueModel(), batch, batch.critic) }
    },

    async logprobs(segments, { reference: ofReference = false } = {}) {
      checkSegments(segments, contextLength)
      if (ofReference) return sampledLogprobs(reference, segments)
      return currentLogprobs(policy, segments, extended)
    },

    keepReference() {
      reference = policy.snapshot()
    },

    ...(extended
      ? {
          async values(segments: readonly TokenSegment[]) {
            checkSegments(segments, contextLength)
            return valuesBy(await valueModel(), segments)
          },
        }
      : {}),

    demonstrate: (episode) =>
      languageDemonstration(episode, {
        ...{ tokenizer, grammar, policyVersion, contextLength, history },
      }),

    async save(folder) {
      const { saveModels } = await import('./checkpoint.js')
      await saveModels(folder, { policyVersion, policy, critic: await critic }, state)
    },

    async load(folder) {
      const { loadModel, readManifest } = await import('./checkpoint.js')
      const manifest = await readManifest(folder)
      await loadModel(folder, manifest.weights, policy, state)
      if (manifest.critic !== undefined)
        await loadModel(folder, manifest.critic, await valueModel(), state)
      else if (critic) {
        // It was never trained where the checkpoint was saved.
        await (await critic).unload()
        critic = undefined
      }
      policyVersion = manifest.policyVersion
      session = undefined
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

    async [Symbol.asyncDispose]() {
      await Promise.allSettled([policy.unload(), critic?.then((model) => model.unload())])
    },
  }
  return backend
}
