/** Test bench of a backend's checks: playing episodes, making batches, comparing behaviour. */
import type { Agent } from '../agent.js'
import type { Backend, StepReport } from '../backend.js'
import type { TrainBatch } from '../batch.js'
import type { Draw, Episode } from '../episode.js'
import type { CheckContext } from './check.js'
import { expectRefused, expectSame, expectThat } from './expect.js'

/** Inputs of `backendChecks`: how to play episodes and make batches. */
export interface BackendMaterial {
  /** Plays episode number `n` with an agent; the same agent and `n` give the same episode. */
  readonly play: (agent: Agent, n: number) => Promise<Episode>
  /** Makes a batch for a policy version, with one advantage per episode and entropy bonus 0. */
  readonly toBatch: (
    episodes: readonly Episode[],
    advantages: readonly number[],
    policyVersion: number,
  ) => TrainBatch
  /** Opens a backend of another policy shape; adds a check that its checkpoint is refused. */
  readonly openOther?: () => Promise<Backend>
  /** Episodes per batch. @default 4 */
  readonly episodes?: number
  /** Largest difference of equal numbers, relative above 1 and absolute below. @default 1e-5 */
  readonly tolerance?: number
}

function expectClose(what: string, got: unknown, expected: unknown, tolerance: number): void {
  if (typeof got === 'number' && typeof expected === 'number') {
    const near = tolerance * Math.max(1, Math.abs(expected))
    expectThat(Math.abs(got - expected) <= near, `${what} to be ${expected}`, String(got))
  } else if (Array.isArray(got) && Array.isArray(expected)) {
    expectSame(`the length of ${what}`, got.length, expected.length)
    got.forEach((item, i) => {
      expectClose(`${what}[${i}]`, item, expected[i], tolerance)
    })
  } else expectSame(what, got, expected)
}

/** Every number of a report in a fixed order; 0 for an absent part. */
export const reportNumbers = (report: StepReport): readonly number[] => [
  report.policyVersion,
  report.loss,
  report.gradNorm,
  report.ratio.mean,
  report.ratio.max,
  report.clipFraction,
  report.droppedFraction,
  report.kl,
  report.klReference ?? 0,
  report.entropy,
  report.logprobGap.mean,
  report.logprobGap.max,
  report.ess,
  report.tokens,
  report.critic?.loss ?? 0,
  report.critic?.explained ?? 0,
]

/** Every draw of the episodes, in order. */
export const episodeDraws = (episodes: readonly Episode[]): readonly Draw[] =>
  episodes.flatMap(({ turns }) => turns.flatMap(({ draws }) => draws ?? []))

/** Moves, tokens and log-probs of an episode, to compare. */
const describeTurns = ({ turns }: Episode): readonly unknown[] =>
  turns.map(({ action, draws }) => [
    JSON.stringify(action),
    draws?.map(({ tokens, logprobs }) => [tokens, logprobs]),
  ])

/** Makes the bench for one run of a check. */
export function makeBench(
  open: () => Promise<Backend>,
  material: BackendMaterial,
  context: CheckContext = {},
) {
  const { episodes: count = 4, tolerance = 1e-5, play, toBatch } = material
  const playWith = (agent: Agent, from: number) =>
    Promise.all(Array.from({ length: count }, (_, n) => play(agent, from + n)))
  return {
    ...{ open, material, tolerance },
    /** Throws where two values differ by more than the tolerance in a number, or at all elsewhere. */
    expectClose: (what: string, got: unknown, expected: unknown): void =>
      expectClose(what, got, expected, tolerance),
    /** Plays `material.episodes` episodes with the backend's sampler. */
    play: (backend: Backend): Promise<readonly Episode[]> => playWith(backend.sampler(), 0),
    /** Makes a batch of new episodes; without `advantage`, the advantages alternate between 1 and -1. */
    async batch(backend: Backend, advantage?: number): Promise<TrainBatch> {
      const episodes = await playWith(backend.sampler(), 0)
      const advantages = episodes.map((_, i) => advantage ?? (i % 2 === 0 ? 1 : -1))
      return toBatch(episodes, advantages, backend.policyVersion)
    },
    /** Makes a batch of one new episode, so that no other episode cancels its gradient. */
    single: async (backend: Backend, advantage: number): Promise<TrainBatch> =>
      toBatch([await play(backend.sampler(), 0)], [advantage], backend.policyVersion),
    /** Marks the check as skipped, with a reason; return right after it. */
    skip: (why: string): void => void context.skip?.(why),
    /** Behaviour of the current sampler: moves, tokens and log-probs of fixed episodes. */
    behaviour: async (backend: Backend): Promise<readonly unknown[]> =>
      (await playWith(backend.sampler(), 1000)).map(describeTurns),
  }
}

/** Tools shared by all checks of one backend. */
export type BackendBench = ReturnType<typeof makeBench>

/** Throws unless a step on the batch is refused with a RangeError and leaves the policy unchanged. */
export async function expectUnapplied(
  b: BackendBench,
  backend: Backend,
  what: string,
  batch: TrainBatch,
): Promise<void> {
  const before = await b.behaviour(backend)
  const version = backend.policyVersion
  const error = await expectRefused(what, () => backend.step(batch))
  expectThat(error instanceof RangeError, `a RangeError for ${what}`, String(error))
  expectSame(`the policy version after ${what}`, backend.policyVersion, version)
  b.expectClose(`the behaviour after ${what}`, await b.behaviour(backend), before)
}

/** A check, given a backend of its own, which is closed afterwards. */
export type BenchCheck = (b: BackendBench, backend: Backend) => Promise<void>

/** Checks of a backend by name. */
export type BenchChecks = Readonly<Record<string, BenchCheck>>
