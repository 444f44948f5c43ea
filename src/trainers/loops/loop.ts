/** What the training loops share: steps in order, events for onlookers, a summary at the end. */
import type { Backend } from '../../backend.js'
import type { Episode } from '../../episode.js'
import type { Reward } from '../../reward.js'
import type { StepMetrics, TrainingEmitter } from '../events.js'
import type { PlayOptions } from '../rollouts/group-rollouts.js'

/** What a step made. */
export interface StepResult {
  readonly step: number
  readonly metrics: StepMetrics
}

/** What a training loop returns. */
export interface LoopSummary {
  /** The last step that was made; `firstStep - 1` when none was. */
  readonly steps: number
  /** One entry per step that was made, in order. */
  readonly metrics: readonly StepMetrics[]
}

/** Options of every loop, by what its steps make. */
export interface LoopOptions<Made extends StepResult> {
  /** The first step to run; steps before it are in the loaded checkpoint. @default 1 */
  readonly firstStep?: number
  /** For onlookers: nothing here reads what it emits. @default a silent one */
  readonly events?: TrainingEmitter
  readonly signal?: AbortSignal | undefined
  /**
   * Runs after every step, before the next begins, with what the step made: logging, evaluation, checkpoints. `'stop'`
   * ends the run there.
   */
  readonly afterStep?: (made: Made) => 'stop' | undefined | Promise<'stop' | undefined>
}

/** Where the consultations of a loop happen. */
export interface WorldOptions extends Omit<PlayOptions, 'accuracy' | 'events' | 'signal'> {
  /** Measured beside the reward, for the curves. @default not measured */
  readonly accuracy?: Reward
}

/** The measure of a run that measures nothing: no episode has a total. */
export const unmeasured: Reward = Object.freeze(
  Object.assign(async () => ({ total: null, parts: {} }), {
    rewardName: 'unmeasured',
    bounds: [0, 1] as const,
    source: 'none',
  }),
)

/** Runs the steps from `firstStep` on; emits each one's metrics as `step-end` and hands what it made to `afterStep`. */
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
 * The most tokens an episode can draw, for the dr-grpo normaliser: `maxTokens` where it is given, else the turns of the
 * longest episode times the most tokens of one move.
 */
export const mostTokens = (
  { backend, maxTokens }: { readonly backend: Backend; readonly maxTokens?: number },
  episodes: readonly Pick<Episode, 'maxTurns'>[],
): number =>
  maxTokens ??
  episodes.reduce((most, { maxTurns }) => Math.max(most, maxTurns), 1) *
    (backend.capabilities.maxMoveTokens ?? 1)

/** @throws RangeError for a count that is not a positive integer */
export function assertCounts(counts: Readonly<Record<string, number | undefined>>): void {
  for (const [name, value] of Object.entries(counts))
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 1))
      throw new RangeError(`Expected \`${name}\` to be a positive integer, got \`${value}\``)
}
