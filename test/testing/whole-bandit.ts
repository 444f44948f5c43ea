/** A bandit over diagnoses with everything a backend may have, whose insides a test may reach to break it. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Backend, Capabilities } from '../../src/backend.js'
import { assertSteppable, lossTerms } from '../../src/backend.js'
import type { AdamSettings, CriticTargets, TokenSegment, TrainBatch } from '../../src/batch.js'
import { normaliserKinds, objectiveKinds } from '../../src/batch.js'
import { Fault } from '../../src/error.js'
import { pickWeighted } from '../../src/seed.js'
import type { AdamState } from '../../src/trainers/embedded/adam.js'
import { adamStep, norm, zeroAdam } from '../../src/trainers/embedded/adam.js'
import { valueLoss } from '../../src/trainers/losses/critic-targets.js'
import { stepReport } from '../../src/trainers/losses/step-report.js'

export const everything: Capabilities = {
  losses: objectiveKinds,
  normalisers: normaliserKinds,
  entropy: false,
  kl: true,
  correction: true,
  lossTerms: lossTerms.filter((term) => term !== 'entropy-over-tokens'),
  critic: true,
  exports: [],
}

/** Weights, in one row, and what an optimiser remembers of them. */
interface Learner {
  weights: Float64Array
  readonly adam: AdamState
}
const learner = (size: number): Learner => ({ weights: new Float64Array(size), adam: zeroAdam() })

const stepLearner = (own: Learner, gradient: Float64Array, adam: AdamSettings): void => {
  const [weights = own.weights] = adamStep([own.weights], [0], [gradient], own.adam, adam)
  own.weights = weights
}

export interface WholeState {
  policy: Learner
  /** One value, of every token. */
  critic: Learner
  reference: Float64Array
  version: number
}

export const wholeState = (diagnoses: number): WholeState => ({
  policy: learner(diagnoses),
  critic: learner(1),
  reference: new Float64Array(diagnoses),
  version: 0,
})

export interface WholeHooks {
  /** Looks at a batch before any gradient. */
  readonly check?: (batch: TrainBatch, state: WholeState) => void
}

const softmax = (logits: Float64Array, temperature: number): number[] => {
  const powers = [...logits].map((z) => Math.exp(z / temperature))
  return powers.map((power) => power / powers.reduce((a, b) => a + b, 0))
}

/** log p of every token after the prompt, 0 where masked. */
const logprobsOf = (
  logits: Float64Array,
  { tokens, promptLength, mask, temperature }: TokenSegment,
): Float32Array => {
  const p = softmax(logits, temperature)
  return Float32Array.from(mask, (m, t) => m && Math.log(p[tokens[promptLength + t]!]!))
}

/** Refuses what a backend of these capabilities must not step with. */
export const assertFor =
  (capabilities: Capabilities) =>
  (batch: TrainBatch, { version }: WholeState): void => {
    assertSteppable({ capabilities, policyVersion: version }, batch)
    const { critic, segments } = batch
    segments.forEach(({ mask }, s) => {
      const wrong = mask.some((m, t) => m && !Number.isFinite(critic?.returns[s]?.[t]))
      if (critic && wrong) throw new RangeError('Expected finite returns where drawn')
    })
  }

/** One step of the critic, and its report. */
function criticise(critic: Learner, batch: TrainBatch, targets: CriticTargets) {
  const value = critic.weights[0]!
  const gradient = new Float64Array(1)
  let [loss, drawn] = [0, 0]
  batch.segments.forEach(({ mask }, s) => {
    mask.forEach((m, t) => {
      if (!m) return
      const made = valueLoss(value, targets.returns[s]![t]!, targets.oldValues[s]![t]!)
      gradient[0]! += batch.normaliser.perSegment[s]! * targets.coefficient * made.slope
      loss += made.value
      drawn++
    })
  })
  stepLearner(critic, gradient, targets.adam)
  return { loss: loss / drawn, explained: 0 }
}

const pack = (state: WholeState): string =>
  JSON.stringify(state, (_, value) => (value instanceof Float64Array ? [...value] : value))

const unpack = ({ weights, adam }: Learner): Learner => ({
  weights: Float64Array.from(weights),
  adam: {
    steps: [...adam.steps],
    mean: adam.mean.map((row) => Float64Array.from(row)),
    square: [...adam.square],
  },
})

export function wholeBandit(
  diagnoses: readonly string[],
  state: WholeState = wholeState(diagnoses.length),
  { check = assertFor(everything) }: WholeHooks = {},
): Backend {
  return {
    name: 'whole bandit',
    capabilities: everything,
    get policyVersion() {
      return state.version
    },
    sampler({ temperature = 1 } = {}) {
      const p = softmax(state.policy.weights, temperature)
      const policyVersion = state.version
      return (_, { seed }) => {
        const chosen = pickWeighted(p, seed, 'diagnosis')
        const sample = {
          prompt: [diagnoses.length],
          tokens: [chosen],
          logprobs: [Math.log(p[chosen]!)],
          policyVersion,
          temperature,
          logprobMode: 'scaled',
          stopReason: 'stop',
        } as const
        return { action: { kind: 'diagnose', diagnosis: diagnoses[chosen]! }, sample }
      }
    },
    async step(batch) {
      check(batch, state)
      const sums = stepReport(batch.loss, state.version)
      const gradient = new Float64Array(diagnoses.length)
      batch.segments.forEach((segment, s) => {
        const { tokens, promptLength, temperature } = segment
        const p = softmax(state.policy.weights, temperature)
        const logprobs = logprobsOf(state.policy.weights, segment)
        const slopes = sums.add({ segment, logprobs, weight: batch.normaliser.perSegment[s]! })
        slopes.forEach((slope, t) => {
          const drawn = tokens[promptLength + t]
          p.forEach((q, i) => {
            gradient[i]! += (slope * (Number(i === drawn) - q)) / temperature
          })
        })
      })
      const { policy, critic } = state
      stepLearner(policy, gradient, batch.adam)
      const report = sums.report(++state.version, norm([gradient]))
      return batch.critic ? { ...report, critic: criticise(critic, batch, batch.critic) } : report
    },
    async logprobs(segments, { reference = false } = {}) {
      const logits = reference ? state.reference : state.policy.weights
      return segments.map((segment) => logprobsOf(logits, segment))
    },
    keepReference() {
      state.reference = state.policy.weights.slice()
    },
    values: async (segments) =>
      segments.map(({ mask }) => Float32Array.from(mask, (m) => m * state.critic.weights[0]!)),
    demonstrate({ id, caseId, turns: [first] }) {
      const action = first?.action
      const drawn = action?.kind === 'diagnose' ? diagnoses.indexOf(action.diagnosis) : -1
      if (drawn < 0) return []
      return [
        {
          rolloutId: id,
          groupId: caseId,
          tokens: Int32Array.of(diagnoses.length, drawn),
          promptLength: 1,
          mask: Uint8Array.of(1),
          logprobs: Float32Array.of(0),
          advantages: Float32Array.of(1),
          policyVersions: Int32Array.of(state.version),
          temperature: 1,
          logprobMode: 'scaled',
          stopReason: 'stop',
        },
      ]
    },
    async save(folder) {
      await mkdir(folder, { recursive: true })
      await writeFile(join(folder, 'whole.json'), pack(state))
    },
    async load(folder) {
      const text = readFile(join(folder, 'whole.json'), 'utf8')
      const saved = await text.then(JSON.parse).catch(() => undefined)
      if (saved?.policy?.weights.length !== diagnoses.length)
        throw new Fault('bad-checkpoint', `${folder}: not a bandit over ${diagnoses.length}`)
      const { policy, critic, version } = saved
      Object.assign(state, { policy: unpack(policy), critic: unpack(critic), version })
    },
    export: async (format) => Promise.reject(new RangeError(`Expected no format, got ${format}`)),
    async [Symbol.asyncDispose]() {},
  }
}
