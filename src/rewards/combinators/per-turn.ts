/** Per-turn rewards: a function of one turn and of those before it. */
import type { GraderView } from '../../case.js'
import type { Episode, EpisodeTurn } from '../../episode.js'
import { ok, type Reward } from '../../reward.js'
import { checkBounds, defineReward, markContractError, type RewardDeclaration } from '../define.js'
import { clamp } from './weighted-mean.js'

/** Context of the turn that is scored. */
export interface TurnContext {
  /** The turns before it, in order. */
  readonly before: readonly EpisodeTurn[]
  readonly episode: Episode
  readonly truth: GraderView
}

/** Reward of one turn; null where there is nothing to judge, which pays 0. */
export type TurnFunction = (turn: EpisodeTurn, context: TurnContext) => number | null

/** Declaration of a per-turn reward. */
export interface PerTurnDeclaration extends Omit<RewardDeclaration, 'bounds' | 'timeoutMs'> {
  /** Bounds of the sum over turns, which is clipped to them, so that turns cannot be farmed. */
  readonly bounds: readonly [low: number, high: number]
  /** Bounds of one turn. @default `bounds` */
  readonly each?: readonly [low: number, high: number]
}

/**
 * Makes a reward that pays turn by turn. Its score's `turns` are the values of `worth`, for trainers with turn-level
 * credit; its total is their sum, clipped to `bounds`. A consultation without turns gets 0, clipped likewise.
 *
 * A policy repeats what a turn is paid for: pay for events that can happen once, as a finding elicited for the first
 * time, or take away for events that should not happen.
 * @throws RangeError for invalid bounds; the reward itself rejects with one for a turn outside `each`
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
      throw markContractError(
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
