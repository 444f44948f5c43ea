/** Conformance checks of the batches that a backend must refuse, with nothing applied. */
import { type LossTerm, lossTerms } from '../backend.js'
import {
  type ImportanceCorrection,
  type Loss,
  type Normaliser,
  objectiveKinds,
  type TrainBatch,
} from '../batch.js'
import { addCorrection, addCritic, addKlPenalty } from './backend-batches.js'
import { type BenchChecks, expectUnapplied } from './backend-bench.js'
import { makeLoss } from './backend-losses.js'

/** Copies a batch with NaN in a field of its first segment. */
const fillWithNaN = (batch: TrainBatch, field: 'advantages' | 'logprobs'): TrainBatch => ({
  ...batch,
  segments: batch.segments.map((segment, i) =>
    i === 0 ? { ...segment, [field]: segment[field].map(() => Number.NaN) } : segment,
  ),
})

/** Batches that need an optional capability and are valid otherwise, with what each asks for. */
const capabilityBatches: Readonly<
  Record<
    'entropy' | 'kl' | 'correction' | 'critic',
    readonly [string, (batch: TrainBatch) => TrainBatch]
  >
> = {
  entropy: ['an entropy bonus', (batch) => ({ ...batch, loss: { ...batch.loss, entropy: 0.01 } })],
  kl: ['a KL penalty', (batch) => addKlPenalty(batch, batch.segments, 'k3', 0.1)],
  correction: ['an importance correction', (batch) => addCorrection(batch, 'token')],
  critic: ['a batch with a critic', (batch) => addCritic(batch, 1)],
}

/** A batch with an importance correction that is changed in part. */
function withCorrection(batch: TrainBatch, part: Partial<ImportanceCorrection>): TrainBatch {
  const corrected = addCorrection(batch, 'token')
  const { correction, ...loss } = corrected.loss
  return correction
    ? { ...corrected, loss: { ...loss, correction: { ...correction, ...part } } }
    : corrected
}

/** Losses that have one term each beside what other capabilities are for. */
const termLosses: Readonly<Record<LossTerm, (batch: TrainBatch) => TrainBatch>> = {
  'gspo-dual': (batch) => ({
    ...batch,
    loss: { kind: 'gspo', low: 3e-4, high: 4e-4, dual: 3, entropy: 0 },
  }),
  'kl-ratio': (batch) => {
    const penalised = addKlPenalty(batch, batch.segments, 'k3', 0.1)
    const { kl, ...loss } = penalised.loss
    return { ...penalised, loss: { ...loss, ...(kl ? { kl: { ...kl, ratio: true } } : {}) } }
  },
  'geometric-correction': (batch) => withCorrection(batch, { level: 'geometric' }),
  'scaled-correction': (batch) => withCorrection(batch, { scale: 0.5 }),
  'off-policy-mask': (batch) => ({
    ...batch,
    loss: { ...batch.loss, offPolicyMask: { threshold: 0.1 } },
  }),
  'entropy-over-tokens': (batch) => ({
    ...batch,
    normaliser: { ...batch.normaliser, drawnTokens: 1 },
    loss: { ...batch.loss, entropy: 0.01, entropyOver: 'tokens' },
  }),
}

/** Checks of the batches that a backend must refuse. */
export const refusalChecks: BenchChecks = {
  'a batch of another policy version is refused': async (b, backend) => {
    const batch = await b.batch(backend)
    for (const off of [-1, 1])
      await expectUnapplied(b, backend, `a batch of version ${backend.policyVersion + off}`, {
        ...batch,
        policyVersion: backend.policyVersion + off,
      })
  },

  'what is not among the capabilities is refused': async (b, backend) => {
    const batch = await b.batch(backend)
    // Kinds outside the union, as a newer caller may send.
    const loss = { ...batch.loss, kind: 'unheard-of' } as unknown as Loss
    const normaliser = { ...batch.normaliser, kind: 'unheard-of' } as unknown as Normaliser
    await expectUnapplied(b, backend, 'an unknown loss', { ...batch, loss })
    await expectUnapplied(b, backend, 'an unknown normaliser', { ...batch, normaliser })
    // The keys of the table are capabilities.
    const { losses } = backend.capabilities
    for (const kind of objectiveKinds.filter((known) => !losses.includes(known))) {
      const undeclared = { ...batch, loss: makeLoss(kind) }
      await expectUnapplied(b, backend, `the loss \`${kind}\``, undeclared)
    }
    for (const [capability, [what, toBatch]] of Object.entries(capabilityBatches))
      if (!backend.capabilities[capability as keyof typeof capabilityBatches])
        await expectUnapplied(b, backend, what, toBatch(batch))
    const { lossTerms: declared = [] } = backend.capabilities
    for (const term of lossTerms.filter((known) => !declared.includes(known)))
      await expectUnapplied(b, backend, `the term \`${term}\``, termLosses[term](batch))
  },

  'an empty or damaged batch is refused': async (b, backend) => {
    const batch = await b.batch(backend)
    const nothing = { ...batch.normaliser, perSegment: new Float64Array(0) }
    await expectUnapplied(b, backend, 'no segments', {
      ...batch,
      segments: [],
      normaliser: nothing,
    })
    await expectUnapplied(b, backend, 'a NaN advantage', fillWithNaN(batch, 'advantages'))
    await expectUnapplied(b, backend, 'a NaN log-prob', fillWithNaN(batch, 'logprobs'))
    const perSegment = batch.normaliser.perSegment.map(() => Number.NaN)
    const unscaled = { ...batch, normaliser: { ...batch.normaliser, perSegment } }
    await expectUnapplied(b, backend, 'a NaN normaliser', unscaled)
    const short = batch.segments.map((segment) => ({ ...segment, mask: new Uint8Array(0) }))
    await expectUnapplied(b, backend, 'masks that are too short', { ...batch, segments: short })
  },
}
