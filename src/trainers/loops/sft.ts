/**
 * Supervised fine-tuning: consultations that somebody else played in, gradient steps out. The loop, on one screen.
 *
 * What a step is shown depends on the demonstrations, the run's seed and the step's number alone, so a run that
 * was interrupted and resumed makes the same weights as one that was not.
 */
import { setImmediate } from 'node:timers/promises'
import type { Backend, StepReport } from '../../backend.js'
import type { Loss, NormaliserKind, TokenSegment } from '../../batch.js'
import { makeNormaliser } from '../../batch.js'
import type { Episode } from '../../episode.js'
import { Fault } from '../../error.js'
import { shuffle } from '../../seed.js'
import { adamDefaults, loopDefaults, sftDefaults } from '../defaults.js'
import type { StepMetrics } from '../events.js'
import type { AdamSchedule } from './adam-schedule.js'
import { settingsAt } from './adam-schedule.js'
import type { LoopOptions, LoopSummary, StepResult } from './loop.js'
import { assertCounts, mostTokens, runSteps } from './loop.js'
import { noGroups } from './metrics.js'

/** What a step of fine-tuning made. */
export interface SftStep extends StepResult {
  /** The demonstrations it was shown. */
  readonly episodes: readonly Episode[]
}

export interface SftOptions extends LoopOptions<SftStep> {
  /** One that has `demonstrate`. */
  readonly backend: Backend
  /** Read to its end before the first step; a resumed run needs the same ones in the same order. */
  readonly demonstrations: Iterable<Episode> | AsyncIterable<Episode>
  /** @default 'token-mean' */
  readonly normaliser?: NormaliserKind
  /** For the dr-grpo normaliser: the most tokens an episode can have drawn. @default `mostTokens` of all of them */
  readonly maxTokens?: number
  /** @default a learning rate of 0.05 */
  readonly adam?: AdamSchedule
  /** Times every demonstration is shown. @default 1, or what `steps` amount to */
  readonly epochs?: number
  /** In place of `epochs`: all steps of the run; the last epoch may end early. */
  readonly steps?: number
  /** The last step of an epoch may have fewer. @default 32 */
  readonly episodesPerStep?: number
  /** @default 0 */
  readonly seed?: number
}

/** The policy's part in an episode that it did not play. */
type Teach = (episode: Episode) => readonly TokenSegment[]

const likelihood: Loss = { kind: 'cross-entropy', entropy: 0 }

/** The demonstrations of a step, by their places in the list: each epoch all of them, in an order of its own. */
function schedule(
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
  assertCounts({ epochs, steps, firstStep, episodesPerStep })
}

/** What every step of a run shares. */
interface SftSettings
  extends Required<Pick<SftOptions, 'backend' | 'adam' | 'normaliser' | 'maxTokens' | 'steps'>> {
  readonly teach: Teach
}

/** A gradient step on some segments; none without any. */
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
        adam: settingsAt(adam, step),
      })

/** Shows one step's demonstrations; a step of which the policy could have made no move makes no version. */
async function oneStep(
  settings: SftSettings,
  step: number,
  episodes: readonly Episode[],
): Promise<StepMetrics> {
  const started = performance.now()
  const { backend, teach, steps } = settings
  const taught = episodes.map((episode, i) =>
    // Saved runs name episodes alike; a mean over rollouts would take two of one name for one.
    teach(episode).map((segment) => ({ ...segment, rolloutId: `${i}/${segment.rolloutId}` })),
  )
  const update = await learn(settings, step, taught.flat())
  const moves = sum(episodes.map(({ turns }) => turns.length))
  const used = sum(taught.map((own) => sum(own.map(movesIn))))
  const forks = sum(taught.map((own) => Math.max(0, own.length - 1)))
  return {
    ...{ step, steps, policyVersion: backend.policyVersion },
    ...{ reward: null, accuracy: null, turns: moves / episodes.length, groups: noGroups },
    samples: { used, unavailable: moves - used, stale: 0, forks },
    ...(update ? { update } : {}),
    seconds: (performance.now() - started) / 1000,
  }
}

/**
 * Runs the steps in order. Metrics have no groups and no scores; `samples` counts moves: `used` those learnt from,
 * `unavailable` those that the policy could not have made; `update.loss` is -log p per token under `token-mean`. Only
 * the backend and the demonstrations must be given.
 * @throws TypeError for a backend without `demonstrate`; RangeError for counts that are none; Fault `bad-input` when
 *   the policy could have made no move of any demonstration
 */
export async function trainSft(options: SftOptions): Promise<LoopSummary> {
  const { backend, signal, epochs = 1, seed = loopDefaults.seed } = options
  const teach = teacherOf(backend)
  checkCounts(options)
  const demonstrations = await demonstrationsOf(options, teach)
  const { episodesPerStep = sftDefaults.episodesPerStep } = options
  const { steps = epochs * Math.ceil(demonstrations.length / episodesPerStep) } = options
  const { normaliser = sftDefaults.normaliser, adam = adamDefaults } = options
  const maxTokens = mostTokens(options, demonstrations)
  const settings = { backend, adam, normaliser, maxTokens, steps, teach }
  const placesAt = schedule(demonstrations.length, { episodesPerStep, seed })
  return runSteps({ ...options, steps }, async (step) => {
    // A backend that waits for nothing would keep Ctrl-C unheard.
    await setImmediate()
    signal?.throwIfAborted()
    const episodes = placesAt(step).map((place) => demonstrations[place] as Episode) // places are below its length
    return { step, metrics: await oneStep(settings, step, episodes), episodes }
  })
}
