/** Bandits that break the backend contract in one way each, made out of a whole one. */
import type { Backend, Capabilities } from '../../src/backend.js'
import type { TokenSegment, TrainBatch } from '../../src/batch.js'
import { makeNormaliser } from '../../src/batch.js'
import { rollout } from '../../src/rollout.js'
import type { BackendMaterial } from '../../src/testing/backend-bench.js'
import { episodeSegments } from '../../src/trainers/batches/segments.js'
import { tinyEnv } from '../fixtures/tiny.js'
import type { WholeHooks, WholeState } from './whole-bandit.js'
import { assertFor, everything, wholeBandit, wholeState } from './whole-bandit.js'

export const diagnoses = ['Pneumonia', 'Gastritis', 'Angina']

export const material: BackendMaterial = {
  play: (agent, n) => rollout(tinyEnv(), agent, { seed: n }),
  toBatch: (episodes, advantages, policyVersion) => {
    const segments = episodes.flatMap(
      (episode, i) => episodeSegments(episode, advantages[i] ?? 0, episode.caseId).segments,
    )
    return {
      step: 1,
      policyVersion,
      segments,
      normaliser: makeNormaliser('token-mean', segments),
      loss: { kind: 'policy-gradient', entropy: 0 },
      adam: { learningRate: 0.2 },
    }
  },
}

type Change = (inner: Backend, state: WholeState) => Partial<Backend>

/** A whole bandit with some of its members replaced by ones that know its insides. */
export const changed = (change: Change, hooks?: WholeHooks) => async (): Promise<Backend> => {
  const state = wholeState(diagnoses.length)
  const inner = wholeBandit(diagnoses, state, hooks)
  return {
    ...inner,
    ...change(inner, state),
    get policyVersion() {
      return inner.policyVersion
    },
  }
}

/** One that steps on another batch than it was given. */
export const stepping = (other: (batch: TrainBatch) => TrainBatch) =>
  changed((inner) => ({ step: (batch) => inner.step(other(batch)) }))

export const withLoss = (batch: TrainBatch, change: object): TrainBatch => ({
  ...batch,
  loss: { ...batch.loss, ...change },
})

export const withEach = (
  batch: TrainBatch,
  change: (segment: TokenSegment) => object,
): TrainBatch => ({
  ...batch,
  segments: batch.segments.map((segment) => ({ ...segment, ...change(segment) })),
})

/** One that declares less than everything, and takes somewhat more than it declares. */
export const lacking = (less: Partial<Capabilities>, taken: Partial<Capabilities> = {}) => {
  const capabilities = { ...everything, ...less }
  return changed(() => ({ capabilities }), { check: assertFor({ ...capabilities, ...taken }) })
}

/** One without one of its members. */
export const without =
  (member: 'logprobs' | 'keepReference' | 'values', open: () => Promise<Backend>) =>
  async (): Promise<Backend> => {
    const whole = await open()
    return new Proxy(whole, {
      get: (target, name) => (name === member ? undefined : Reflect.get(target, name)),
    })
  }
