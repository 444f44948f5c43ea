/** Rewards that are the share of the turns in which a doctor kept a rule. */
import type { Episode, EpisodeTurn } from '../../episode.js'
import type { Reward } from '../../reward.js'
import { ok } from '../../reward.js'
import { defineReward } from '../define.js'

/** How well a turn kept the rule, 0 to 1; undefined for one that the rule says nothing of. */
export type TurnJudge = (turn: EpisodeTurn) => number | undefined

/**
 * Makes a reward of the mean over the turns that were judged. Where none was, it is 0: a doctor who never asked has not
 * asked well, and must not get what is divided among the other parts.
 * @param judging makes the judge of one episode, which sees its turns in order
 */
export const shareOfTurns = (
  { name, source }: { readonly name: string; readonly source: string },
  judging: (episode: Episode) => TurnJudge,
): Reward =>
  defineReward({ name, bounds: [0, 1], source }, (episode) => {
    const judge = judging(episode)
    let judged = 0
    let good = 0
    for (const turn of episode.turns) {
      const value = judge(turn)
      if (value === undefined) continue
      judged++
      good += value
    }
    return ok(judged === 0 ? 0 : good / judged, `${good} of ${judged} turns`)
  })
