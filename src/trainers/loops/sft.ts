/**
 * Supervised fine-tuning: consultations that somebody else played in, gradient steps out. The loop, on one screen.
 *
 * What a step is shown depends on the demonstrations, the run's seed and the step's number alone, so a run that
 * was interrupted and resumed makes the same weights as one that was not.
 */
import { setImmediate } from 'node:timers/promises'
import type { Backend } from '../../backend.js'
import type { Loss, NormaliserKind, TokenSegment } from '../../batch.js'
import { normalise } from '../../batch.js'
import type { Episode } from '../../episode.js'
import { Fault } from '../../error.js'
import { shuffle } from '../../seed.js'
import type { StepMetrics, TrainingEmitter } from '../events.js'
import type { AdamSchedule } from './adam-schedule.js'
import { settingsAt } from './adam-schedule.js'
import { noGroups } from './metrics.js'

export interface SftOptions {
  /** One that has `demonstrate`. */
  readonly backend: Backend
  /** Read to its end before the first step; a resumed run needs the same ones in the same order. */
  readonly demonstrations: Iterable<Episode> | AsyncIterable<Episode>
  /** @default 'token-mean' */
  readonly normaliser?: NormaliserKind
  /** For the dr-grpo normaliser: the most tokens an episode can have drawn. */
  readonly maxTokens?: number
  readonly adam: AdamSchedule
  /** Times every demonstration is shown. @default 1, or what `steps` amount to */
  readonly epochs?: number
  /** In place of `epochs`: all steps of the run; the last epoch may end early. */
  readonly steps?: number
  /** The first step to run; steps before it are in the loaded checkpoint. @default 1 */
  readonly firstStep?: number
  /** The last step of an epoch may have fewer. @default 32 */
  readonly episodesPerStep?: number
  /** @default 0 */
  readonly seed?: number
  readonly events: TrainingEmitter
  readonly signal?: AbortSignal | undefined
  /** Runs after every step, before the next begins: evaluation, checkpoints. `stop` ends the run there. */
  readonly afterStep?: (step: number) => Promise<'stop' | undefined>
}

/** The policy's part in an episode that it did not play. */
type Teach = (episode: Episode) => readonly TokenSegment[]

/** The demonstrations of one step, by their places in the list. */
interface Shown {
  readonly step: number
  readonly places: readonly number[]
}

const likelihood: Loss = { kind: 'cross-entropy', entropy: 0 }

/** What every step of the run is shown: each epoch all of it, in an order of its own. */
function* scheduled(
  count: number,
  steps: number,
  { firstStep = 1, episodesPerStep = 32, seed = 0 }: SftOptions,
): Generator<Shown> {
  const places = Array.from({ length: count }, (_, place) => place)
  const perEpoch = Math.ceil(count / episodesPerStep)
  for (let step = firstStep, order: readonly number[] | undefined; step <= steps; step++) {
    const [epoch, within] = [Math.floor((step - 1) / perEpoch), (step - 1) % perEpoch]
    if (within === 0 || !order) order = shuffle(places, seed, 'demonstrations', epoch)
    const from = within * episodesPerStep
    yield { step, places: order.slice(from, from + episodesPerStep) }
  }
}

/** Moves that a segment has drawn: stretches of the mask, since between two moves there is something to read. */
function movesIn({ mask }: TokenSegment): number {
  let moves = 0
  for (let t = 0; t < mask.length; t++) if (mask[t] === 1 && mask[t - 1] !== 1) moves++
  return moves
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

function teacherOf(backend: Backend): Teach {
  const { demonstrate } = backend
  if (!demonstrate)
    throw new TypeError(
      `Expected a backend with \`demonstrate\`, which fine-tuning learns by, got \`${backend.name}\``,
    )
  return (episode) => demonstrate.call(backend, episode)
}

/** @throws Fault `bad-input` when there is nothing to learn: no demonstration, or none the policy could play */
async function demonstrationsOf(options: SftOptions, teach: Teach): Promise<readonly Episode[]> {
  const all: Episode[] = []
  for await (const episode of options.demonstrations) {
    options.signal?.throwIfAborted()
    all.push(episode)
  }
  const [first] = all
  if (!first) throw new Fault('bad-input', 'Expected demonstrations, got none')
  if (!all.some((episode) => teach(episode).length > 0))
    throw new Fault(
      'bad-input',
      `${first.id}: expected a move that ${options.backend.name} can make, got none in this or any other of ${all.length} demonstrations`,
    )
  return all
}

function checkCounts({ epochs, steps, firstStep, episodesPerStep }: SftOptions): void {
  if (epochs !== undefined && steps !== undefined)
    throw new RangeError(
      `Expected \`epochs\` or \`steps\`, got both: \`${epochs}\` and \`${steps}\``,
    )
  for (const [name, value] of Object.entries({ epochs, steps, firstStep, episodesPerStep }))
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 1))
      throw new RangeError(`Expected \`${name}\` to be a positive integer, got \`${value}\``)
}

/** Shows one step's demonstrations; a step of which the policy could have made no move makes no version. */
async function oneStep(
  { backend, adam, maxTokens, normaliser = 'token-mean' }: SftOptions,
  { teach, step, steps }: { readonly teach: Teach; readonly step: number; readonly steps: number },
  episodes: readonly Episode[],
): Promise<StepMetrics> {
  const started = performance.now()
  const taught = episodes.map((episode, i) =>
    // Saved runs name episodes alike; a mean over rollouts would take two of one name for one.
    teach(episode).map((segment) => ({ ...segment, rolloutId: `${i}/${segment.rolloutId}` })),
  )
  const segments = taught.flat()
  const limit = maxTokens === undefined ? {} : { maxTokens }
  const update =
    segments.length === 0
      ? undefined
      : await backend.step({
          step,
          policyVersion: backend.policyVersion,
          segments,
          normaliser: normalise(normaliser, segments, limit),
          loss: likelihood,
          adam: settingsAt(adam, step),
        })
  const moves = sum(episodes.map(({ turns }) => turns.length))
  const used = sum(taught.map((own) => sum(own.map(movesIn))))
  return {
    step,
    steps,
    policyVersion: backend.policyVersion,
    reward: null,
    accuracy: null,
    turns: moves / episodes.length,
    groups: noGroups,
    samples: {
      used,
      unavailable: moves - used,
      stale: 0,
      forks: sum(taught.map((own) => Math.max(0, own.length - 1))),
    },
    ...(update ? { update } : {}),
    seconds: (performance.now() - started) / 1000,
  }
}

/**
 * Runs the steps in order and tells each one's metrics as `step-end`. There are no groups and no scores; `samples`
 * counts moves: `used` those learnt from, `unavailable` those that the policy could not have made; `update.loss` is
 * -log p per token under `token-mean`.
 * @throws TypeError for a backend without `demonstrate`; RangeError for counts that are none; Fault `bad-input` when
 *   the policy could have made no move of any demonstration
 */
export async function trainSft(options: SftOptions): Promise<void> {
  const teach = teacherOf(options.backend)
  checkCounts(options)
  const demonstrations = await demonstrationsOf(options, teach)
  const count = demonstrations.length
  const { epochs = 1, episodesPerStep = 32 } = options
  const { steps = epochs * Math.ceil(count / episodesPerStep) } = options
  for (const { step, places } of scheduled(count, steps, options)) {
    // A backend that waits for nothing would keep Ctrl-C unheard.
    await setImmediate()
    options.signal?.throwIfAborted()
    const shown = places.map((place) => demonstrations[place] as Episode) // places are below its length
    options.events.emit('step-end', await oneStep(options, { teach, step, steps }, shown))
    if ((await options.afterStep?.(step)) === 'stop') break
  }
}
