/** Conformance checks of a backend's `demonstrate`: supervised fine-tuning on episodes it did not sample. */
import type { Backend } from '../backend.js'
import type { TokenSegment, TrainBatch } from '../batch.js'
import { assertBatch, countDrawnTokens, makeNormaliser } from '../batch.js'
import type { Episode } from '../episode.js'
import type { BackendBench, BenchChecks } from './backend-bench.js'
import { expectAnswer, expectSame, expectThat } from './expect.js'

type Demonstrate = (episode: Episode) => readonly TokenSegment[]

/** Makes a check of a backend with `demonstrate`, skipped where it has none. */
const requireDemonstrate =
  (work: (b: BackendBench, backend: Backend, demonstrate: Demonstrate) => Promise<void>) =>
  async (b: BackendBench, backend: Backend): Promise<void> => {
    const { demonstrate } = backend
    if (!demonstrate) return b.skip('the backend has no `demonstrate`')
    await work(b, backend, (episode) => demonstrate.call(backend, episode))
  }

/** Plays an episode, all of whose moves the policy can make, and removes its samples. */
async function playWithoutSamples(b: BackendBench, backend: Backend): Promise<Episode> {
  const episode = await b.material.play(backend.sampler(), 0)
  return { ...episode, turns: episode.turns.map(({ draws: _, ...turn }) => turn) }
}

/** Makes a batch of supervised fine-tuning, with all tokens of the current policy version. */
async function fineTuningBatch(
  b: BackendBench,
  backend: Backend,
  segments: readonly TokenSegment[],
): Promise<TrainBatch> {
  const { adam, normaliser, step } = await b.single(backend, 0)
  return {
    step,
    policyVersion: backend.policyVersion,
    segments,
    normaliser: makeNormaliser(normaliser.kind, segments, { maxTokens: 1 }),
    loss: { kind: 'cross-entropy', entropy: 0 },
    adam,
  }
}

/** Checks of demonstrations. */
export const demonstrationChecks: BenchChecks = {
  'a demonstration is segments as this policy would have drawn them': requireDemonstrate(
    async (b, backend, demonstrate) => {
      await backend.step(await b.batch(backend))
      const segments = demonstrate(await playWithoutSamples(b, backend))
      const drawn = segments.reduce((sum, segment) => sum + countDrawnTokens(segment), 0)
      expectThat(drawn > 0, 'drawn tokens of moves that the policy made itself', drawn)
      const batch = await fineTuningBatch(b, backend, segments)
      await expectAnswer('a batch of it', () => assertBatch({ ...batch, maxStaleness: 0 }))
      segments.forEach(({ mask, logprobs, advantages }, s) => {
        const zeros = [...mask].map(() => 0)
        expectSame(`segments[${s}].logprobs`, [...logprobs], zeros)
        expectSame(`segments[${s}].advantages`, [...advantages], [...mask])
      })
    },
  ),

  'a demonstration without a move is none': requireDemonstrate(async (b, backend, demonstrate) => {
    const episode = await playWithoutSamples(b, backend)
    expectSame('the segments', demonstrate({ ...episode, turns: [] }), [])
  }),

  'what is demonstrated becomes likelier': requireDemonstrate(async (b, backend, demonstrate) => {
    if (!backend.capabilities.losses.includes('cross-entropy'))
      return b.skip('the backend declares no cross-entropy')
    const episode = await playWithoutSamples(b, backend)
    const learn = async () => {
      const report = await backend.step(await fineTuningBatch(b, backend, demonstrate(episode)))
      // With sampler log-probs of 0, the k1 estimate of the KL is the mean of -log p.
      return report.kl
    }
    const first = await learn()
    await learn()
    const last = await learn()
    expectThat(last < first, `a mean -log p below ${first} after two steps`, String(last))
  }),
}
