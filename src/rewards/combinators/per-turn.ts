/** Rewards of turns: a function of one turn and of those before it. */
import type { GraderView } from '../../case.js'
import type { Episode, EpisodeTurn } from '../../episode.js'
import type { Reward } from '../../reward.js'
import { ok } from '../../reward.js'
import type { RewardDeclaration } from '../define.js'
import { broken, checkBounds, defineReward } from '../define.js'
import { clamp } from './weighing.js'

/** What a turn is judged in. */
export interface TurnContext {
  /** The turns before it, in order. */
  readonly before: readonly EpisodeTurn[]
  readonly episode: Episode
  readonly truth: GraderView
}

/** What a turn is worth; null where there is nothing to judge, which pays 0. */
export type TurnFunction = (turn: EpisodeTurn, context: TurnContext) => number | null

export interface PerTurnDeclaration extends Omit<RewardDeclaration, 'bounds' | 'timeoutMs'> {
  /** Of what the turns come to together: more or less is cut off, so that turns cannot be farmed. */
  readonly bounds: readonly [low: number, high: number]
  /** Of one turn. @default `bounds` */
  readonly each?: readonly [low: number, high: number]
}

/**
 * Makes a reward that pays by turn. Its score's `turns` are what `worth` gave for each, for trainers that credit turn
 * by turn; its total is their sum, held within `bounds`. A consultation without turns is worth 0, held likewise.
 *
 * Whatever a turn is paid for, a policy will do it again: pay for what can happen once, as a finding told the first
 * time, or take away for what should not happen.
 * @throws RangeError for bounds that are none; the reward itself rejects with one for a turn outside of `each`
 */
export function perTurn(
  { bounds, each = bounds, ...declaration }: PerTurnDeclaration,
  worth: TurnFunction,
): Reward {
  const { name } = declaration
  checkBounds(name, bounds)
  checkBounds(`each turn of ${name}`, each)
  const [low, high] = each
  return defineReward({ ...declaration, bounds }, (episode, truth) => {
    const turns = episode.turns.map((turn, t) => {
      const value = worth(turn, { before: episode.turns.slice(0, t), episode, truth }) ?? 0
      if (value >= low && value <= high) return value
      throw broken(
        new RangeError(
          `Expected turn ${t} of reward \`${name}\` to be within [${low}, ${high}], got ${value}`,
        ),
      )
    })
    const total = clamp(
      turns.reduce((all, value) => all + value, 0),
      bounds,
    )
    return { total, parts: { [name]: ok(total, `${turns.length} turns`) }, turns }
  })
}
