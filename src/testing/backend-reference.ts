/** Conformance checks of a backend's log-probs, of the policy and its KL reference, and of KL penalties. */
import type { Backend } from '../backend.js'
import type { TokenSegment, TrainBatch } from '../batch.js'
import {
  addKlPenalty,
  drawnValues,
  expectRows,
  maskFirstDrawn,
  type SegmentRows,
  sampledLogprobs,
} from './backend-batches.js'
import { type BackendBench, type BenchChecks, expectUnapplied } from './backend-bench.js'
import { expectThat } from './expect.js'

type ComputeLogprobs = (
  segments: readonly TokenSegment[],
  reference?: boolean,
) => Promise<SegmentRows>

/** Makes a check of a backend with `logprobs`, skipped where it has none. */
const requireLogprobs =
  (work: (b: BackendBench, backend: Backend, logprobs: ComputeLogprobs) => Promise<void>) =>
  async (b: BackendBench, backend: Backend): Promise<void> => {
    const { logprobs } = backend
    if (!logprobs) return b.skip('the backend has no `logprobs`')
    await work(b, backend, async (segments, reference = false) => {
      const rows = await logprobs.call(backend, segments, { reference })
      expectRows('log-probs', rows, segments)
      return rows
    })
  }

/** Makes one step that raises the probability of an episode's drawn tokens; gives its batch. */
async function stepOnce(b: BackendBench, backend: Backend): Promise<TrainBatch> {
  const batch = await b.single(backend, 1)
  await backend.step(batch)
  return batch
}

/** Throws unless a number moved by more than the tolerance. */
function expectMoved(b: BackendBench, got: readonly number[], from: readonly number[]): void {
  const largest = Math.max(...got.map((value, i) => Math.abs(value - (from[i] ?? Number.NaN))))
  const expected = 'log-probs of the moment to move with a step'
  expectThat(largest > b.tolerance, expected, `moved by ${largest}`)
}

const logprobChecks: BenchChecks = {
  'log-probs of fresh samples are the sampler’s': requireLogprobs(async (b, backend, logprobs) => {
    await stepOnce(b, backend)
    const before = await b.behaviour(backend)
    for (const temperature of [1, 0.5]) {
      const episode = await b.material.play(backend.sampler({ temperature }), 0)
      const { segments: all } = b.material.toBatch([episode], [1], backend.policyVersion)
      // Log-probs from before the division by the temperature are of another distribution.
      const segments = all.filter((one) => temperature === 1 || one.logprobMode === 'scaled')
      const got = drawnValues(segments, await logprobs(segments))
      b.expectClose(`the log-probs at ${temperature}`, got, sampledLogprobs(segments))
    }
    b.expectClose('the behaviour after', await b.behaviour(backend), before)
  }),

  'log-probs are 0 where masked': requireLogprobs(async (b, backend, logprobs) => {
    const segments = (await b.single(backend, 1)).segments.map(maskFirstDrawn)
    const got = drawnValues(segments, await logprobs(segments))
    b.expectClose('those of the other tokens', got, sampledLogprobs(segments))
    await logprobs(segments, true)
  }),

  'the reference is the policy as it was opened': requireLogprobs(async (b, backend, logprobs) => {
    const { segments } = await b.single(backend, 1)
    const opened = sampledLogprobs(segments)
    const referenceLogprobs = async () => drawnValues(segments, await logprobs(segments, true))
    b.expectClose('the reference’s log-probs', await referenceLogprobs(), opened)
    await stepOnce(b, backend)
    expectMoved(b, drawnValues(segments, await logprobs(segments)), opened)
    b.expectClose('the reference’s, a step later', await referenceLogprobs(), opened)
  }),

  'keepReference takes the weights of its moment': requireLogprobs(async (b, backend, logprobs) => {
    if (!backend.keepReference) return b.skip('the backend has no `keepReference`')
    const { segments } = await stepOnce(b, backend)
    const kept = drawnValues(segments, await logprobs(segments))
    backend.keepReference()
    const referenceLogprobs = async () => drawnValues(segments, await logprobs(segments, true))
    b.expectClose('the log-probs of what was kept', await referenceLogprobs(), kept)
    await stepOnce(b, backend)
    expectMoved(b, drawnValues(segments, await logprobs(segments)), kept)
    b.expectClose('those, a step later', await referenceLogprobs(), kept)
  }),
}

const noKl = 'the backend declares no KL penalty'

const klChecks: BenchChecks = {
  'a KL penalty pulls the policy back to the reference': async (b, { capabilities }) => {
    if (!capabilities.kl) return b.skip(noKl)
    for (const estimator of ['k1', 'k2', 'k3'] as const) {
      await using backend = await b.open()
      const moved = await stepOnce(b, backend)
      const pull = async () => {
        const { policyVersion } = backend
        // No momentum from the step away, and too short a step to overshoot the reference.
        const adam = { learningRate: moved.adam.learningRate / 10, beta1: 0 }
        const batch = { ...moved, policyVersion, adam }
        const report = await backend.step(addKlPenalty(batch, moved.segments, estimator, 100))
        return report.klReference ?? Number.NaN
      }
      const [far, near] = [await pull(), await pull()]
      const what = `klReference (${estimator})`
      expectThat(far > 0, `${what} of a policy that moved above 0`, String(far))
      expectThat(near < far, `${what} below ${far} a step later`, String(near))
    }
  },

  'a KL penalty without log-probs of the reference is refused': async (b, backend) => {
    if (!backend.capabilities.kl) return b.skip(noKl)
    const batch = await b.batch(backend)
    const penalised = addKlPenalty(batch, batch.segments, 'k3', 0.1)
    const segments = penalised.segments.map((segment, s) => {
      const { refLogprobs: _, ...bare } = segment
      return s === 0 ? bare : segment
    })
    const what = 'a segment without refLogprobs'
    await expectUnapplied(b, backend, what, { ...penalised, segments })
  },
}

/** Checks of log-probs, of the reference policy, and of KL penalties. */
export const referenceChecks: BenchChecks = { ...logprobChecks, ...klChecks }
