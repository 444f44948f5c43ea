/**
 * Blind adversary: learns a fixed list of actions from the reward alone, and never reads an answer. Its gain over the
 * random doctor is therefore not earned by consulting. Trained by REINFORCE (Williams, 1992) over a distribution of
 * actions per turn; siblings on one case are each other's baseline.
 */
import type { Case } from '../../case.js'
import type { Env } from '../../env.js'
import { Fault } from '../../error.js'
import { mapPool } from '../../platform/concurrency.js'
import type { Reward } from '../../reward.js'
import { play } from '../../rollout.js'
import { adversarySeeds, uniform } from '../../seed.js'
import type { Action } from '../../turn.js'
import { average } from '../bootstrap.js'

/** Options of {@link blindAdversary}. */
export interface AdversaryOptions {
  /** Actions that it may take once each. */
  readonly once: readonly Action[]
  /** Actions that it may repeat. */
  readonly often: readonly Action[]
  /** Actions that end the consultation. */
  readonly ends: readonly Action[]
  readonly maxTurns: number
  /** The n-th training case; evaluate on other cases. */
  readonly caseAt: (n: number) => Case
  /** Makes envs without a reward. */
  readonly makeEnv: () => Env
  readonly reward: Reward
  /** Number of training consultations. @default 20000 */
  readonly budget?: number
  /** @default 0 */
  readonly seed?: number
  /** @default 8 */
  readonly concurrency?: number
  readonly signal?: AbortSignal | undefined
  /** Called with the number of consultations spent since the last call. */
  readonly onSpent?: (episodes: number) => void
}

const siblings = 4
const casesPerStep = 32
const learningRate = 0.1
/** Number of plans compared after training, and the share of the budget spent on the comparison. */
const finalists = 12
const selectionShare = 0.25

interface BlindPolicy {
  /** In the order `once`, `often`, `ends`. */
  readonly actions: readonly Action[]
  /** Logits: one per action, one per turn and action, one per turn for ending at all. */
  readonly weights: Float64Array
  readonly turns: number
  readonly firstOften: number
  readonly firstEnd: number
}

function initialPolicy({ once, often, ends, maxTurns: turns }: AdversaryOptions): BlindPolicy {
  const actions = [...once, ...often, ...ends]
  const n = actions.length
  const weights = new Float64Array(n * (turns + 1) + turns)
  const firstEnd = once.length + often.length
  for (let t = 0; t < turns - 1; t++)
    weights[n * (turns + 1) + t] = Math.log(Math.max(1, firstEnd) / (ends.length * (turns - t - 1)))
  return { actions, weights, turns, firstOften: once.length, firstEnd }
}

/** Action probabilities at a turn; 0 for those in `done` and, at the last turn, for all that do not end. */
function actionProbabilities(
  { actions, weights, turns, firstEnd }: BlindPolicy,
  turn: number,
  done: ReadonlySet<number>,
): Float64Array {
  const n = actions.length
  const p = new Float64Array(n)
  const open = (a: number) => (a >= firstEnd || turn < turns - 1) && !done.has(a)
  const logit = (a: number) =>
    weights[a]! +
    weights[n * (turn + 1) + a]! +
    (a >= firstEnd ? weights[n * (turns + 1) + turn]! : 0)
  let most = -Infinity
  for (let a = 0; a < n; a++) if (open(a)) most = Math.max(most, logit(a))
  let sum = 0
  for (let a = 0; a < n; a++) {
    if (open(a)) p[a] = Math.exp(logit(a) - most)
    sum += p[a]!
  }
  for (let a = 0; a < n; a++) p[a]! /= sum
  return p
}

/** Index drawn from `p` by inverse CDF at `u` in [0, 1); without `u` the most probable one. */
function drawAction(p: Float64Array, u: number | undefined): number {
  let [best, left] = [0, u ?? 0]
  for (let a = 0; a < p.length; a++) {
    if (u === undefined ? p[a]! > p[best]! : p[a]! > 0) best = a
    left -= p[a]!
    if (u !== undefined && left < 0) break
  }
  return best
}

type AdversaryPlan = readonly number[]

/** Draws a plan with uniform numbers `u`; without them, the most probable action at each turn. */
function drawPlan(policy: BlindPolicy, u?: (turn: number) => number): AdversaryPlan {
  const plan: number[] = []
  const done = new Set<number>()
  for (let turn = 0; turn < policy.turns; turn++) {
    const action = drawAction(actionProbabilities(policy, turn, done), u?.(turn))
    plan.push(action)
    if (action >= policy.firstEnd) break
    if (action < policy.firstOften) done.add(action)
  }
  return plan
}

/** Plays a plan on a case and returns its total; null if the world failed or there is no total. */
async function playPlan(
  { actions }: BlindPolicy,
  plan: AdversaryPlan,
  { makeEnv, reward, seed: runSeed = 0, signal }: AdversaryOptions,
  truth: Case,
): Promise<number | null> {
  const script = plan.map((action) => actions[action]!)
  const played = await play(truth, {
    makeEnv,
    agent: ({ turns }) => ({ action: script[turns.length] ?? { kind: 'give-up' } }),
    agentName: 'blind-adversary',
    seeds: adversarySeeds(runSeed, truth.id),
    rewards: { reward },
    signal,
  })
  return Fault.is(played) ? null : played.scores.reward.total
}

function reinforce(
  { actions, weights, turns, firstEnd }: BlindPolicy,
  plan: AdversaryPlan,
  step: number,
): void {
  const n = actions.length
  plan.forEach((action, turn) => {
    const ended = action >= firstEnd
    weights[action]! += step
    weights[n * (turn + 1) + action]! += step
    weights[n * (turns + 1) + turn]! += ended ? step : -step
  })
}

/** Plays one step's plans and returns each with its advantage over its siblings, those without a score left out. */
async function playStep(policy: BlindPolicy, step: number, options: AdversaryOptions) {
  const { seed = 0, concurrency = 8, caseAt } = options
  const cases = Array.from({ length: casesPerStep }, (_, i) => caseAt(step * casesPerStep + i))
  const tries = Array.from({ length: casesPerStep * siblings }, (_, i) => ({
    truth: cases[Math.floor(i / siblings)]!,
    plan: drawPlan(policy, (t) => uniform(seed, 'adversary', step, i, t)),
  }))
  const totals = await mapPool(tries, concurrency, ({ plan, truth }) =>
    playPlan(policy, plan, options, truth),
  )
  return tries.flatMap(({ plan }, i) => {
    const from = i - (i % siblings)
    const group = totals.slice(from, from + siblings).flatMap((total) => total ?? [])
    const total = totals[i] ?? null
    if (total === null || group.length < 2) return []
    return [{ plan, advantage: total - group.reduce((sum, one) => sum + one, 0) / group.length }]
  })
}

async function selectPlan(
  policy: BlindPolicy,
  from: number,
  budget: number,
  options: AdversaryOptions,
) {
  const { seed = 0, concurrency = 8, caseAt } = options
  const plans = Array.from({ length: finalists }, (_, k) =>
    drawPlan(policy, k === 0 ? undefined : (t) => uniform(seed, 'adversary', 'final', k, t)),
  )
  const each = Math.max(1, Math.floor(budget / finalists))
  const cases = Array.from({ length: each }, (_, n) => caseAt(from + n))
  let best: { readonly plan: AdversaryPlan; readonly mean: number } | undefined
  for (const plan of plans) {
    const totals = await mapPool(cases, concurrency, (truth) =>
      playPlan(policy, plan, options, truth),
    )
    const mean = average(totals.flatMap((total) => total ?? []))
    options.onSpent?.(each)
    if (mean !== null && (best === undefined || mean > best.mean)) best = { plan, mean }
  }
  return (best?.plan ?? plans[0] ?? []).map((action) => policy.actions[action]!)
}

/**
 * Trains the adversary and returns its best sequence of actions; evaluate it on cases it was not trained on. The same
 * options give the same sequence.
 * @throws RangeError for a budget below a step of 128 consultations, or without an action that ends one
 */
export async function blindAdversary(options: AdversaryOptions): Promise<readonly Action[]> {
  const { budget = 20_000, ends, signal, onSpent } = options
  const perStep = siblings * casesPerStep
  if (!(budget >= perStep))
    throw new RangeError(`Expected \`budget\` to be at least ${perStep}, got \`${budget}\``)
  if (ends.length === 0)
    throw new RangeError('Expected `ends` to hold at least one action, got none')
  const policy = initialPolicy(options)
  const steps = Math.max(1, Math.floor((budget * (1 - selectionShare)) / perStep))
  let [square, count] = [0, 0]
  for (let step = 0; step < steps; step++) {
    signal?.throwIfAborted()
    const rollouts = await playStep(policy, step, options)
    for (const { advantage } of rollouts) [square, count] = [square + advantage ** 2, count + 1]
    const scale = learningRate / Math.sqrt(square / count)
    // Divided by the running RMS advantage: actions that pay off often stand out, one lucky draw does not. All-zero
    // advantages teach nothing.
    if (square > 0)
      for (const { plan, advantage } of rollouts) reinforce(policy, plan, scale * advantage)
    onSpent?.(perStep)
  }
  return selectPlan(policy, steps * casesPerStep, budget - steps * perStep, options)
}
