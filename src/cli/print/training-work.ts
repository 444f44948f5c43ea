/** How the work of a training run spreads over its steps: those of a curriculum differ. */
import { tiers } from '../../knowledge/tiers.js'
import type { Recipe } from '../../runs/recipe.js'

/** Turns that are played of the most there may be, as a rough share: doctors conclude earlier. */
const playedShare = 2 / 3

const playedTurns = (most: number): number => Math.max(1, playedShare * most)

/**
 * The work up to a number of steps, in turns of one consultation a step; undefined where all steps are alike. A guess to
 * tell the time left by.
 */
export function trainingWork({ cases, env }: Recipe): ((steps: number) => number) | undefined {
  if (cases.curriculum.length === 0) return undefined
  const last = [env.maxTurns ?? tiers[cases.tier].maxTurns].flat().at(-1) ?? 1
  const stages = cases.curriculum.map(({ tier, maxTurns, steps }) => ({
    steps,
    turns: playedTurns(maxTurns ?? (tier === undefined ? last : tiers[tier].maxTurns)),
  }))
  return (steps) => {
    let work = 0
    let left = steps
    for (const stage of stages) {
      const played = Math.min(left, stage.steps)
      work += played * stage.turns
      left -= played
    }
    return work + left * playedTurns(last)
  }
}
