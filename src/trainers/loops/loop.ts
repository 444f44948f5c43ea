/** Shared by the training loops: options, the step loop with its events, and the run's summary. */
import type { Backend } from '../../backend.js'
import type { Episode } from '../../episode.js'
import type { Reward } from '../../reward.js'
import type { StepMetrics, TrainingEmitter } from '../events.js'
import type { PlayOptions } from '../rollouts/group-rollouts.js'

/** Result of one training step. */
export interface StepResult {
  readonly step: number
  readonly metrics: StepMetrics
}

/** Result of a training loop. */
export interface LoopSummary {
  /** The last completed step; `firstStep - 1` if none was. */
  readonly steps: number
  /** One entry per completed step, in order. */
  readonly metrics: readonly StepMetrics[]
}

/** Options shared by all loops; `Made` is the loop's step result. */
export interface LoopOptions<Made extends StepResult> {
  /** The first step to run; steps before it are in the loaded checkpoint. @default 1 */
  readonly firstStep?: number
  /** Emitter for listeners; the loop itself reads no event. @default one without listeners */
  readonly events?: TrainingEmitter
  readonly signal?: AbortSignal | undefined
  /** Called with every step's result before the next step: logging, evaluation, checkpoints. `'stop'` ends the run. */
  readonly afterStep?: (made: Made) => 'stop' | undefined | Promise<'stop' | undefined>
}

/** World options of a loop: cases, env, reward and seed. */
export interface WorldOptions extends Omit<PlayOptions, 'accuracy' | 'events' | 'signal'> {
  /** Accuracy measure, for the learning curves. @default not measured */
  readonly accuracy?: Reward
}

/** Accuracy measure of a run without one: every total is null. */
export const unmeasured: Reward = Object.freeze(
  Object.assign(async () => ({ total: null, parts: {} }), {
    rewardName: 'unmeasured',
    bounds: [0, 1] as const,
    source: 'none',
  }),
)

/** Runs the steps from `firstStep` on, emits each one's metrics as `step-end` and passes its result to `afterStep`. */
export async function runSteps<Made extends StepResult>(
  {
    firstStep = 1,
    steps,
    events,
    signal,
    afterStep,
  }: LoopOptions<Made> & { readonly steps: number },
  makeStep: (step: number) => Promise<Made>,
): Promise<LoopSummary> {
  const metrics: StepMetrics[] = []
  let last = firstStep - 1
  for (let step = firstStep; step <= steps; step++) {
    signal?.throwIfAborted()
    const made = await makeStep(step)
    last = step
    metrics.push(made.metrics)
    events?.emit('step-end', made.metrics)
    if ((await afterStep?.(made)) === 'stop') break
  }
  return { steps: last, metrics }
}

/**
 * Maximum number of tokens an episode can draw, for the dr-grpo normaliser: `maxTokens` if given, else the largest turn
 * limit of the episodes times the maximum tokens of one move.
 */
export const maxEpisodeTokens = (
  { backend, maxTokens }: { readonly backend: Backend; readonly maxTokens?: number },
  episodes: readonly Pick<Episode, 'maxTurns'>[],
): number =>
  maxTokens ??
  episodes.reduce((most, { maxTurns }) => Math.max(most, maxTurns), 1) *
    (backend.capabilities.maxMoveTokens ?? 1)

/** Checks counts by name. @throws RangeError for a count that is not a positive integer */
export function assertCounts(counts: Readonly<Record<string, number | undefined>>): void {
  for (const [name, value] of Object.entries(counts))
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 1))
      throw new RangeError(`Expected \`${name}\` to be a positive integer, got \`${value}\``)
}
