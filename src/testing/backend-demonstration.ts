/** The part of a backend's contract about episodes that somebody else played. */
import type { Backend } from '../backend.js'
import type { TokenSegment, TrainBatch } from '../batch.js'
import { assertBatch, drawnTokens, normalise } from '../batch.js'
import type { Episode } from '../episode.js'
import type { Bench, BenchChecks } from './bench.js'
import { expectAnswer, expectSame, expectThat } from './expect.js'

type Demonstrate = (episode: Episode) => readonly TokenSegment[]

/** A check on one backend that can be shown an episode, which says so where it cannot. */
const withDemonstrate =
  (work: (b: Bench, backend: Backend, demonstrate: Demonstrate) => Promise<void>) =>
  (b: Bench): Promise<void> =>
    b.with(1, async (backend) => {
      const { demonstrate } = backend
      if (!demonstrate) return b.skip('the backend has no `demonstrate`')
      await work(b, backend, (episode) => demonstrate.call(backend, episode))
    })

/** An episode whose every move the policy can make, and no trace of who made them. */
async function shown(b: Bench, backend: Backend): Promise<Episode> {
  const episode = await b.material.play(backend.sampler(), 0)
  return { ...episode, turns: episode.turns.map(({ sample: _, ...turn }) => turn) }
}

/** A batch of supervised fine-tuning, whose tokens are all of this version. */
async function lesson(
  b: Bench,
  backend: Backend,
  segments: readonly TokenSegment[],
): Promise<TrainBatch> {
  const { adam, normaliser, step } = await b.single(backend, 0)
  return {
    step,
    policyVersion: backend.policyVersion,
    segments,
    normaliser: normalise(normaliser.kind, segments, { maxTokens: 1 }),
    loss: { kind: 'cross-entropy', entropy: 0 },
    adam,
  }
}

/** The checks of demonstrations. */
export const demonstrating: BenchChecks = {
  'a demonstration is segments as this policy would have drawn them': withDemonstrate(
    async (b, backend, demonstrate) => {
      await backend.step(await b.batch(backend))
      const segments = demonstrate(await shown(b, backend))
      const drawn = segments.reduce((sum, segment) => sum + drawnTokens(segment), 0)
      expectThat(drawn > 0, 'drawn tokens of moves that the policy made itself', drawn)
      const batch = await lesson(b, backend, segments)
      await expectAnswer('a batch of it', () => assertBatch({ ...batch, maxStaleness: 0 }))
      segments.forEach(({ mask, logprobs, advantages }, s) => {
        const zeros = [...mask].map(() => 0)
        expectSame(`segments[${s}].logprobs`, [...logprobs], zeros)
        expectSame(`segments[${s}].advantages`, [...advantages], [...mask])
      })
    },
  ),

  'a demonstration without a move is none': withDemonstrate(async (b, backend, demonstrate) => {
    const episode = await shown(b, backend)
    expectSame('the segments', demonstrate({ ...episode, turns: [] }), [])
  }),

  'what is demonstrated becomes likelier': withDemonstrate(async (b, backend, demonstrate) => {
    if (!backend.capabilities.losses.includes('cross-entropy'))
      return b.skip('the backend declares no cross-entropy')
    const episode = await shown(b, backend)
    const learn = async () => {
      const report = await backend.step(await lesson(b, backend, demonstrate(episode)))
      // Of log-probs that are 0 the k1 estimate is the mean of -log p.
      return report.kl
    }
    const first = await learn()
    await learn()
    const last = await learn()
    expectThat(last < first, `a mean -log p below ${first} after two steps`, String(last))
  }),
}
