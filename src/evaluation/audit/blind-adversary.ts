/**
 * A blind adversary: it learns what to say at which turn from the reward alone, and never hears an answer.
 *
 * What it is paid above the random doctor is no consultation's work: a list of actions, fixed before the patient
 * came in. It is trained by policy gradient (Williams, 1992) over a distribution of actions for each turn; siblings
 * on one case are each other's baseline.
 */
import type { Case } from '../../case.js'
import type { Env } from '../../env.js'
import { Fault } from '../../error.js'
import { mapPool } from '../../platform/concurrency.js'
import type { Reward } from '../../reward.js'
import { play } from '../../rollout.js'
import { adversarySeeds, uniform } from '../../seed.js'
import type { Action } from '../../turn.js'

export interface AdversaryOptions {
  /** Actions it may take once each. */
  readonly once: readonly Action[]
  /** Actions it may take as often as it likes. */
  readonly often: readonly Action[]
  /** Actions that end the consultation. */
  readonly ends: readonly Action[]
  readonly maxTurns: number
  /** The n-th training case; those it is measured on must be others. */
  readonly caseAt: (n: number) => Case
  /** Envs without a reward. */
  readonly makeEnv: () => Env
  readonly reward: Reward
  /** Consultations it may try things out in. @default 20000 */
  readonly budget?: number
  /** @default 0 */
  readonly seed?: number
  /** @default 8 */
  readonly concurrency?: number
  readonly signal?: AbortSignal | undefined
  /** Called as consultations are spent. */
  readonly onSpent?: (episodes: number) => void
}

/** Siblings on a case, and cases a step. */
const siblings = 4
const casesPerStep = 32
const learningRate = 0.1
/** Finished plans that are compared before one is chosen, and the share of the budget that goes into it. */
const finalists = 12
const lastShare = 0.25

/** Logits of every action: one for all turns and one for each, and one a turn for ending at all. */
interface Habits {
  readonly actions: readonly Action[]
  readonly weights: Float64Array
  readonly turns: number
  readonly firstOften: number
  readonly firstEnd: number
}

/** At first every action of a kind is as likely as another, and every length too. */
function freshHabits({ once, often, ends, maxTurns }: AdversaryOptions): Habits {
  const actions = [...once, ...often, ...ends]
  const [n, turns] = [actions.length, maxTurns]
  const weights = new Float64Array(n * (turns + 1) + turns)
  const moves = once.length + often.length
  for (let t = 0; t < turns - 1; t++)
    weights[n * (turns + 1) + t] = Math.log(Math.max(1, moves) / (ends.length * (turns - t - 1)))
  const firstEnd = moves
  return { actions, weights, turns, firstOften: once.length, firstEnd }
}

/** The probability of every action at a turn; what was done and may not be again has none. */
function chances(habits: Habits, turn: number, done: ReadonlySet<number>): Float64Array {
  const { actions, weights, turns, firstEnd } = habits
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

/** A place of the distribution: the most probable action for `luck` undefined, else one drawn. */
function drawn(p: Float64Array, luck: number | undefined): number {
  let [best, left] = [0, luck ?? 0]
  for (let a = 0; a < p.length; a++) {
    if (luck === undefined ? p[a]! > p[best]! : p[a]! > 0) best = a
    left -= p[a]!
    if (luck !== undefined && left < 0) break
  }
  return best
}

/** Actions by number, one a turn. */
type AdversaryPlan = readonly number[]

/** Draws what to do from the first turn to the last. */
function planFrom(habits: Habits, luck?: (turn: number) => number): AdversaryPlan {
  const plan: number[] = []
  const done = new Set<number>()
  for (let turn = 0; turn < habits.turns; turn++) {
    const action = drawn(chances(habits, turn, done), luck?.(turn))
    plan.push(action)
    if (action >= habits.firstEnd) break
    if (action < habits.firstOften) done.add(action)
  }
  return plan
}

/** What a plan is paid for a case; null where the world failed or nothing was judged. */
async function paid(
  { actions }: Habits,
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

/**
 * Raises what was paid above its siblings and lowers what was paid below, by `step` a standard deviation: what has
 * been tried often and paid off stands out, one lucky draw does not.
 */
function teach(
  { actions, weights, turns, firstEnd }: Habits,
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

/** One step's plans with what each was paid above its siblings; those without a score teach nothing. */
async function lessons(habits: Habits, step: number, options: AdversaryOptions) {
  const { seed = 0, concurrency = 8, caseAt } = options
  const cases = Array.from({ length: casesPerStep }, (_, i) => caseAt(step * casesPerStep + i))
  const tries = Array.from({ length: casesPerStep * siblings }, (_, i) => ({
    truth: cases[Math.floor(i / siblings)]!,
    plan: planFrom(habits, (t) => uniform(seed, 'adversary', step, i, t)),
  }))
  const totals = await mapPool(tries, concurrency, ({ plan, truth }) =>
    paid(habits, plan, options, truth),
  )
  return tries.flatMap(({ plan }, i) => {
    const from = i - (i % siblings)
    const group = totals.slice(from, from + siblings).flatMap((total) => total ?? [])
    const total = totals[i] ?? null
    if (total === null || group.length < 2) return []
    return [{ plan, advantage: total - group.reduce((sum, one) => sum + one, 0) / group.length }]
  })
}

/** The best of the most probable plan and some drawn ones, all on the same cases. */
async function chosen(habits: Habits, from: number, budget: number, options: AdversaryOptions) {
  const { seed = 0, concurrency = 8, caseAt } = options
  const plans = Array.from({ length: finalists }, (_, k) =>
    planFrom(habits, k === 0 ? undefined : (t) => uniform(seed, 'adversary', 'final', k, t)),
  )
  const each = Math.max(1, Math.floor(budget / finalists))
  const cases = Array.from({ length: each }, (_, n) => caseAt(from + n))
  let best: { readonly plan: AdversaryPlan; readonly mean: number } | undefined
  for (const plan of plans) {
    const totals = await mapPool(cases, concurrency, (truth) => paid(habits, plan, options, truth))
    const judged = totals.flatMap((total) => total ?? [])
    const mean = judged.reduce((sum, one) => sum + one, 0) / judged.length
    options.onSpent?.(each)
    if (judged.length > 0 && (best === undefined || mean > best.mean)) best = { plan, mean }
  }
  return (best?.plan ?? plans[0] ?? []).map((action) => habits.actions[action]!)
}

/**
 * Trains the adversary and gives the sequence of actions it settled on; measure it on cases it was not trained on.
 * The same options give the same sequence.
 * @throws RangeError for a budget below a step of 128 consultations, or without an action that ends one
 */
export async function blindAdversary(options: AdversaryOptions): Promise<readonly Action[]> {
  const { budget = 20_000, ends, signal, onSpent } = options
  const perStep = siblings * casesPerStep
  if (!(budget >= perStep))
    throw new RangeError(`Expected \`budget\` to be at least ${perStep}, got \`${budget}\``)
  if (ends.length === 0)
    throw new RangeError('Expected `ends` to hold at least one action, got none')
  const habits = freshHabits(options)
  const steps = Math.max(1, Math.floor((budget * (1 - lastShare)) / perStep))
  let [square, count] = [0, 0]
  for (let step = 0; step < steps; step++) {
    signal?.throwIfAborted()
    const taught = await lessons(habits, step, options)
    for (const { advantage } of taught) [square, count] = [square + advantage ** 2, count + 1]
    const scale = learningRate / Math.sqrt(square / count)
    // Where nothing was ever paid differently, there is nothing to learn.
    if (square > 0) for (const { plan, advantage } of taught) teach(habits, plan, scale * advantage)
    onSpent?.(perStep)
  }
  return chosen(habits, steps * casesPerStep, budget - steps * perStep, options)
}
