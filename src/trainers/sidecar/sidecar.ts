/**
 * Sidecar backend: trains a language model on a Tinker server. Our own server has every loss, a critic and exports;
 * any other Tinker server has the losses of the wire, and linearised forms of the rest.
 */
import type { Agent, Grammar } from '../../agent.js'
import { assertSteppable, type Backend, type Capabilities, type StepReport } from '../../backend.js'
import { normaliserKinds, objectiveKinds, type TokenSegment, type TrainBatch } from '../../batch.js'
import { Fault } from '../../error.js'
import { assertTrainable } from '../batches/segments.js'
import { assertCriticTargets } from '../losses/critic-targets.js'
import { entropyWeight } from '../losses/entropy-bonus.js'
import { stepReport } from '../losses/step-report.js'
import type { TinkerService } from '../tinker/service.js'
import type { TrainingModel } from '../tinker/wire.js'
import type { ChatTokenizer } from '../tokens/chat-tokenizer.js'
import { languageDemonstration } from '../tokens/language-demonstration.js'
import { type LanguageDoctorOptions, languageDoctor } from '../tokens/language-doctor.js'
import type { DrawnTokens } from '../tokens/token-stream.js'
import { computeLogprobs, encodeNativeBatch, encodeWireBatch, outputRows } from './encode-batch.js'
import { linearisedTerms, servedTerms } from './loss-terms.js'
import { type HeldSnapshot, holdSnapshot, type Moment, snapshotLogprobs } from './snapshots.js'
import { predictValues, runGuardedStep, runTrainStep, stepValueModel } from './train-steps.js'

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

/**
 * Runs one pass and one optimiser step of the policy, and of the critic between the two if the batch has one; reports
 * their metrics. If the critic fails, the policy has not moved.
 */
async function stepModels(
  batch: TrainBatch,
  { policy, extended, valueModel }: ServerModels,
): Promise<StepReport> {
  const { segments, normaliser, loss, policyVersion } = batch
  const { data, loss: sent } = extended
    ? encodeNativeBatch(batch)
    : await encodeWireBatch(batch, () => computeLogprobs(policy, segments, false))
  const { critic: targets } = batch
  const { output, gradNorm, first } = targets
    ? await runGuardedStep(policy, data, sent, batch.adam, async () =>
        stepValueModel(await valueModel(), batch, targets),
      )
    : { ...(await runTrainStep(policy, data, sent, batch.adam)), first: undefined }
  const logprobs = outputRows(segments, output, 'logprobs')
  // The wire has no entropies: -log p of the drawn token is an unbiased estimate.
  const entropies = extended
    ? outputRows(segments, output, 'entropies')
    : logprobs.map((row) => row.map((value) => -value))
  const sums = stepReport(loss, policyVersion)
  segments.forEach((segment, s) => {
    const read = { segment, logprobs: logprobs[s]!, entropies: Float64Array.from(entropies[s]!) }
    const bonus = entropyWeight(loss, normaliser, s)
    sums.add({ ...read, weight: normaliser.perSegment[s]!, bonus })
  })
  const report = sums.report(policyVersion + 1, gradNorm)
  return first === undefined ? report : { ...report, critic: first }
}

/** Models on the server and the snapshots of them; `current` and `critic` are created at first use. */
interface ServerModels {
  readonly capabilities: Capabilities
  readonly extended: boolean
  /** Maximum tokens of a segment. */
  readonly contextLength: number
  readonly policy: TrainingModel
  /** Whether the reference must be a checkpoint to outlive its model. */
  readonly lasting: boolean
  policyVersion: number
  readonly moment: Moment
  reference: HeldSnapshot
  current: HeldSnapshot | undefined
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
    lossTerms: service.extensions ? servedTerms(service.extensions) : linearisedTerms,
    exports: formats.filter((format) => mode === 'lora' || format !== 'adapter'),
    notes: service.extensions?.notes ?? [],
    coarse: extended && !['float32', 'float64'].includes(service.extensions.dtype),
  }
  const policy = await service.createModel(spec)
  const moment: Moment = { weights: {} }
  // Where a checkpoint is loaded into a new model, the old one goes, and with it what the server keeps of it.
  const lasting = service.profile.load === 'first'
  const models: ServerModels = {
    capabilities,
    extended,
    // A server scores a prompt by drawing one token after it, which needs room in the context.
    contextLength: options.contextLength - 1,
    policy,
    policyVersion: 0,
    moment,
    lasting,
    reference: holdSnapshot({ policy, moment }, lasting),
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
  models.current ??= holdSnapshot(models)
  const { current, policyVersion } = models
  return languageDoctor({
    ...options,
    draw: async (prompt, { signal, ...rest }): Promise<DrawnTokens> => {
      const { sequences } = await current().sample({ prompt, temperature, ...rest, signal })
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
      const report = await stepModels(batch, models)
      models.policyVersion += 1
      models.moment.weights = {}
      models.current = undefined
      return report
    },

    async logprobs(segments, { reference = false } = {}) {
      checkSegments(segments, contextLength)
      if (reference) return snapshotLogprobs(models.reference(), segments)
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
      models.moment.weights = {}
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
      models.reference = holdSnapshot(models, models.lasting)
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
