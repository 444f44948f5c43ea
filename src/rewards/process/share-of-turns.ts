/** Rewards that are the share of the turns in which the doctor followed a rule. */
import type { Episode, EpisodeTurn } from '../../episode.js'
import type { Reward } from '../../reward.js'
import { ok } from '../../reward.js'
import { defineReward } from '../define.js'

/** Scores how well a turn followed the rule, 0 to 1; undefined for a turn that the rule does not cover. */
export type TurnJudge = (turn: EpisodeTurn) => number | undefined

/**
 * Makes a reward that is the mean over the turns judged. Without any it is 0: a doctor who never asked has not asked
 * well, and a part left out would raise the weight of the others.
 * @param judging makes the turn judge of an episode, which is called on its turns in order
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
