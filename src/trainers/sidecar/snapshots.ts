/** Snapshots of the policy: held while its weights are the same, and read for log-probs. */
import type { TokenSegment } from '../../batch.js'
import { Fault } from '../../error.js'
import type { SamplingSession, TrainingModel } from '../tinker/wire.js'

/** The policy's weights now: another object after every step and every load. */
export interface Moment {
  weights: object
}

/** Returns the session on the weights of the moment at which it was made. */
export type HeldSnapshot = () => SamplingSession

/**
 * Snapshots the policy now. A snapshot that the server refused is asked for again, while the weights are the same.
 * @param lasting kept as a checkpoint, which outlives the model
 */
export function holdSnapshot(
  { policy, moment }: { readonly policy: TrainingModel; readonly moment: Moment },
  lasting = false,
): HeldSnapshot {
  const { weights } = moment
  let refused = false
  const ask = () => {
    refused = false
    const session = policy.snapshot({ lasting })
    session.made.catch(() => {
      refused = true
    })
    return session
  }
  let session = ask()
  return () => {
    if (refused && moment.weights === weights) session = ask()
    return session
  }
}

/** Computes log p of every token after the prompt under a snapshot that can only sample. */
export async function snapshotLogprobs(
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
