/**
 * SFT training loop: supervised fine-tuning on demonstrations.
 *
 * The episodes of a step depend on the demonstrations, the run's seed and the step number alone, so a run that was
 * interrupted and resumed has the same weights as one that was not.
 */
import { setImmediate } from 'node:timers/promises'
import type { Learner, StepReport } from '../../backend.js'
import { type Loss, makeNormaliser, type NormaliserKind, type TokenSegment } from '../../batch.js'
import type { Episode } from '../../episode.js'
import { Fault } from '../../error.js'
import { withoutUndefined } from '../../platform/without-undefined.js'
import { assertSeed, shuffle } from '../../seed.js'
import { type AdamSchedule, adamSettingsAt } from '../batches/adam-schedule.js'
import {
  assertHindsight,
  type HindsightOptions,
  learnInHindsight,
  lookBack,
  type Understood,
} from '../batches/hindsight.js'
import { assertCounts } from '../counts.js'
import { adamDefaults, loopDefaults, sftDefaults } from '../defaults.js'
import type { StepMetrics } from '../events.js'
import type { LoopOptions, LoopSummary, StepResult } from './loop.js'
import { maxEpisodeTokens, noGroups, rolloutMetrics, runSteps, stepMetrics } from './loop.js'

/** Result of one fine-tuning step. */
export interface SftStep extends StepResult {
  /** The step's demonstrations. */
  readonly episodes: readonly Episode[]
}

/** Options of {@link trainSft}. */
export interface SftOptions extends LoopOptions<SftStep> {
  /** A backend with `demonstrate`. */
  readonly backend: Learner
  /** Read to its end before the first step; a resumed run needs the same ones in the same order. */
  readonly demonstrations: Iterable<Episode> | AsyncIterable<Episode>
  /** @default 'token-mean' */
  readonly normaliser?: NormaliserKind
  /** For the dr-grpo normaliser: maximum drawn tokens per episode. @default `maxEpisodeTokens` of all demonstrations */
  readonly maxTokens?: number
  /** @default a learning rate of 0.05 */
  readonly adam?: AdamSchedule
  /**
   * Every turn of a demonstration that ends with a diagnosis then learns that diagnosis, in a step after the imitation's.
   * Needs a backend with `conclude`. @default none
   */
  readonly hindsight?: Omit<HindsightOptions, 'gain'>
  /** Passes over the demonstrations. @default 1, unless `steps` is given */
  readonly epochs?: number
  /** Total steps of the run, instead of `epochs`; the last epoch may end early. */
  readonly steps?: number
  /** The last step of an epoch may have fewer. @default 32 */
  readonly episodesPerStep?: number
  /** @default 0 */
  readonly seed?: number
}

const likelihood: Loss = { kind: 'cross-entropy', entropy: 0 }

/** Makes the function from a step to the indices of its demonstrations: every epoch shuffles all of them anew. */
function scheduleDemonstrations(
  count: number,
  { episodesPerStep, seed }: { readonly episodesPerStep: number; readonly seed: number },
): (step: number) => readonly number[] {
  const places = Array.from({ length: count }, (_, place) => place)
  const perEpoch = Math.ceil(count / episodesPerStep)
  let shuffled: { readonly epoch: number; readonly order: readonly number[] } | undefined
  return (step) => {
    const [epoch, within] = [Math.floor((step - 1) / perEpoch), (step - 1) % perEpoch]
    if (shuffled?.epoch !== epoch)
      shuffled = { epoch, order: shuffle(places, seed, 'demonstrations', epoch) }
    const from = within * episodesPerStep
    return shuffled.order.slice(from, from + episodesPerStep)
  }
}

/** Counts the drawn moves of a segment: runs of 1 in the mask, since tokens are read between two moves. */
function countMoves({ mask }: TokenSegment): number {
  let moves = 0
  for (let t = 0; t < mask.length; t++) if (mask[t] === 1 && mask[t - 1] !== 1) moves++
  return moves
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/** Makes the function that encodes an episode as segments the policy could have drawn. */
function demonstrator(backend: Learner) {
  const { demonstrate } = backend
  if (!demonstrate)
    throw new TypeError(
      `Expected a backend with \`demonstrate\`, which fine-tuning learns by, got \`${backend.name}\``,
    )
  return (episode: Episode) => demonstrate.call(backend, episode)
}
type Demonstrator = ReturnType<typeof demonstrator>

/** Reads all demonstrations. @throws Fault `bad-input` without any, or if the policy could make no move of any */
async function readDemonstrations(
  options: SftOptions,
  demonstrate: Demonstrator,
): Promise<readonly Episode[]> {
  const all: Episode[] = []
  for await (const episode of options.demonstrations) {
    options.signal?.throwIfAborted()
    all.push(episode)
  }
  const [first] = all
  if (!first) throw new Fault('bad-input', 'Expected demonstrations, got none')
  if (!all.some((episode) => demonstrate(episode).length > 0))
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
  assertCounts({ epochs, steps, firstStep, episodesPerStep })
}

/** Settings that every step of a run shares. */
interface SftSettings
  extends Required<Pick<SftOptions, 'backend' | 'adam' | 'normaliser' | 'maxTokens' | 'steps'>>,
    Pick<SftOptions, 'hindsight'> {
  readonly demonstrate: Demonstrator
}

/** Makes a gradient step on the segments; none without any. */
const learn = async (
  { backend, adam, maxTokens, normaliser }: SftSettings,
  step: number,
  segments: readonly TokenSegment[],
): Promise<StepReport | undefined> =>
  segments.length === 0
    ? undefined
    : backend.step({
        ...{ step, policyVersion: backend.policyVersion, segments, loss: likelihood },
        normaliser: makeNormaliser(normaliser, segments, { maxTokens }),
        adam: adamSettingsAt(adam, step),
      })

/** Learns from one step's demonstrations. If the policy could make no move of them, there is no new policy version. */
async function trainStep(
  settings: SftSettings,
  step: number,
  episodes: readonly Episode[],
): Promise<StepMetrics> {
  const started = performance.now()
  const { demonstrate } = settings
  const segments = episodes.map((episode, i) =>
    // A file may hold an episode twice; a mean over rollouts would count two of one id as one.
    demonstrate(episode).map((segment) => ({ ...segment, rolloutId: `${i}/${segment.rolloutId}` })),
  )
  const update = await learn(settings, step, segments.flat())
  if (settings.hindsight) {
    const understood = episodes.flatMap(({ turns }, i): Understood[] => {
      const diagnosis = turns.at(-1)?.action
      return diagnosis?.kind === 'diagnose' ? [{ segments: segments[i]!, diagnosis }] : []
    })
    const { labelled } = await lookBack(settings.backend, understood, settings.hindsight)
    await learnInHindsight(settings.backend, labelled, step, settings.hindsight)
  }
  const moves = sum(episodes.map(({ turns }) => turns.length))
  const used = sum(segments.map((own) => sum(own.map(countMoves))))
  const forks = sum(segments.map((own) => Math.max(0, own.length - 1)))
  const played = rolloutMetrics({ members: [], faults: 0, ...noGroups }, forks)
  const measured = {
    ...{ ...played, turns: moves / episodes.length },
    samples: { ...played.samples, used, unavailable: moves - used },
  }
  return stepMetrics(settings, { step, started }, measured, update)
}

/**
 * Trains by supervised fine-tuning. Metrics have no groups and no scores. `samples` counts moves: `used` those learned
 * from, `unavailable` those that the policy could not have made. `update.loss` is -log p per token under `token-mean`.
 * Only the backend and the demonstrations are required.
 * @throws TypeError for a backend without `demonstrate`; RangeError for counts that are no positive integers; Fault
 *   `bad-input` if the policy could have made no move of any demonstration
 */
export async function trainSft(options: SftOptions): Promise<LoopSummary> {
  const { backend, signal, epochs = 1, seed = loopDefaults.seed } = options
  assertSeed('seed', seed)
  const demonstrate = demonstrator(backend)
  checkCounts(options)
  const demonstrations = await readDemonstrations(options, demonstrate)
  const { episodesPerStep = sftDefaults.episodesPerStep } = options
  const { steps = epochs * Math.ceil(demonstrations.length / episodesPerStep) } = options
  const { normaliser = sftDefaults.normaliser, adam = adamDefaults } = options
  const maxTokens = maxEpisodeTokens(options, demonstrations)
  const { hindsight } = options
  if (hindsight) assertHindsight(backend)
  const settings = {
    ...{ backend, adam, normaliser, maxTokens, steps, demonstrate },
    ...withoutUndefined({ hindsight }),
  }
  const placesAt = scheduleDemonstrations(demonstrations.length, { episodesPerStep, seed })
  return runSteps({ ...options, steps }, async (step) => {
    // A backend that never awaits would block the event loop, and with it Ctrl-C.
    await setImmediate()
    signal?.throwIfAborted()
    const episodes = placesAt(step).map((place) => demonstrations[place] as Episode) // places are below its length
    return { step, metrics: await trainStep(settings, step, episodes), episodes }
  })
}
