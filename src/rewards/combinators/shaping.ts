/**
 * Potential-based reward shaping: pays each turn for the change it makes to a potential Φ.
 *
 * After Ng, Harada and Russell (1999): r_t = γ·Φ(s_{t+1}) - Φ(s_t) with Φ = 0 at the end leaves the optimal policy
 * unchanged. The sum telescopes, so detours and repeats earn nothing.
 */
import type { GraderView } from '../../case.js'
import type { Episode } from '../../episode.js'
import { Fault } from '../../error.js'
import { notApplicable, ok, type Reward, type RewardContext } from '../../reward.js'
import type { RewardFunction, RewardResult } from '../define.js'
import { asReward, checkBounds, defineReward, markContractError } from '../define.js'
import { toPart } from '../score.js'

/**
 * Computes the potential before the first turn and after every turn: one number more than there are turns. Undefined
 * where the case has none, which must not depend on what the doctor did.
 */
export type Potential = (
  episode: Episode,
  truth: GraderView,
  context: RewardContext,
) => readonly number[] | undefined | PromiseLike<readonly number[] | undefined>

/** Options of {@link shapeReward}. */
export interface ShapeOptions {
  /** @default 'shape' */
  readonly name?: string
  /** @default 'potential-based shaping (Ng, Harada and Russell, 1999)' */
  readonly source?: string
  /**
   * `turn`: the score's `turns` are γ·Φ(after) - Φ(before), with Φ = 0 after the last turn. This leaves the optimal
   * policy unchanged and needs a trainer with turn-level credit: the discounted sum, the total, is -Φ(before the first
   * turn), the same for all siblings of a group. `episode`: β·(Φ_T - Φ_0), which does change the optimal policy, so β
   * is kept small.
   * @default 'turn'
   */
  readonly mode?: 'turn' | 'episode'
  /** Discount γ per turn, 0 to 1; for mode `turn`. @default 1 */
  readonly gamma?: number
  /** Scale β, above 0 and at most 0.1; for mode `episode`. @default 0.1 */
  readonly beta?: number
  /** Bounds of the potential, checked when the reward runs. @default [0, 1] */
  readonly bounds?: readonly [low: number, high: number]
}

const maxBeta = 0.1

function checkPotentials(
  name: string,
  given: readonly number[],
  [low, high]: readonly [number, number],
  turns: number,
): void {
  const wrong = (what: string, got: unknown) =>
    markContractError(new RangeError(`Expected ${what}, got ${got}`))
  if (given.length !== turns + 1)
    throw wrong(`${turns + 1} potentials of \`${name}\` for ${turns} turns`, given.length)
  const first = given.findIndex((value) => !(value >= low && value <= high))
  if (first >= 0)
    throw wrong(`potential ${first} of \`${name}\` to be within [${low}, ${high}]`, given[first])
}

const shapingRewards = (potentials: readonly number[], gamma: number): number[] =>
  potentials.slice(1).map((after, t) => gamma * after - potentials[t]!)

interface ShapingMode {
  readonly bounds: readonly [low: number, high: number]
  pay(potentials: readonly number[]): { readonly total: number; readonly turns: readonly number[] }
}

const turnMode = (gamma: number, [low, high]: ShapingMode['bounds']): ShapingMode => ({
  // A consultation without turns is paid 0, whatever the potential.
  bounds: [Math.min(0, -high), Math.max(0, -low)],
  pay(potentials) {
    const turns = shapingRewards([...potentials.slice(0, -1), 0], gamma)
    return { total: turns.length === 0 ? 0 : 0 - potentials[0]!, turns }
  },
})

const episodeMode = (beta: number, [low, high]: ShapingMode['bounds']): ShapingMode => ({
  bounds: [-beta * (high - low), beta * (high - low)],
  pay: (potentials) => ({
    total: beta * (potentials.at(-1)! - potentials[0]!),
    turns: shapingRewards(potentials, 1).map((step) => beta * step),
  }),
})

/**
 * Makes a shaping reward from a potential; not applicable where the case has none.
 * @throws RangeError for options out of range; the reward itself rejects with one for a wrong number of potentials, or
 * potentials out of bounds
 */
export function shapeReward(potential: Potential, options: ShapeOptions = {}): Reward {
  const { name = 'shape', mode = 'turn', gamma = 1, beta = maxBeta, bounds = [0, 1] } = options
  const { source = 'potential-based shaping (Ng, Harada and Russell, 1999)' } = options
  checkBounds(`the potential of ${name}`, bounds)
  if (!(gamma >= 0 && gamma <= 1))
    throw new RangeError(`Expected \`gamma\` to be within [0, 1], got ${gamma}`)
  if (!(beta > 0 && beta <= maxBeta))
    throw new RangeError(`Expected \`beta\` to be above 0 and at most ${maxBeta}, got ${beta}`)
  const way = mode === 'turn' ? turnMode(gamma, bounds) : episodeMode(beta, bounds)
  return defineReward(
    { name, source, bounds: way.bounds },
    async (episode, truth, context): Promise<RewardResult> => {
      const potentials = await potential(episode, truth, context)
      if (!potentials) return notApplicable
      checkPotentials(name, potentials, bounds, episode.turns.length)
      const { total, turns } = way.pay(potentials)
      const [first, last] = [potentials[0]!, potentials.at(-1)!]
      const evidence = `${first.toFixed(3)} to ${last.toFixed(3)}`
      return { total, parts: { [name]: ok(total, evidence) }, turns }
    },
  )
}

/**
 * The potential that is a reward's total after every turn, with the rest of the episode as it ended; undefined for a
 * case it is not applicable to. For rewards whose applicability depends on the case alone, as `historyCoverage`.
 * @throws Fault `component-failed` where the reward is unavailable
 */
export function potentialFromReward(reward: RewardFunction): Potential {
  const asked = asReward(reward)
  return async (episode, truth, context) => {
    const totals: number[] = []
    for (let t = 0; t <= episode.turns.length; t++) {
      const part = toPart(
        await asked({ ...episode, turns: episode.turns.slice(0, t) }, truth, context),
      )
      if (part.status === 'unavailable') throw new Fault('component-failed', part.reason)
      if (part.status === 'not-applicable') return undefined
      totals.push(part.value)
    }
    return totals
  }
}
