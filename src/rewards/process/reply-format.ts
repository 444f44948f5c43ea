/** Format reward: the share of the doctor's replies that are well-formed. */
import type { EpisodeTurn } from '../../episode.js'
import { findDraw } from '../../episode.js'
import type { Reward } from '../../reward.js'
import { stripHiddenReasoning } from '../../text/hidden-reasoning.js'
import { shareOfTurns } from './share-of-turns.js'

/** End marker: cannot be part of a tag, and does not occur in text. */
const end = '\u{10fffd}'

/** Whether a reply has an unclosed segment of hidden reasoning, which hides everything after it. */
const isUnclosed = (text: string): boolean => !stripHiddenReasoning(`${text}\n${end}`).endsWith(end)

const isWellFormed = (turn: EpisodeTurn): boolean =>
  turn.action.kind !== 'invalid' &&
  findDraw(turn)?.stopReason !== 'length' &&
  (turn.text === undefined || !isUnclosed(turn.text))

/**
 * The share of well-formed replies: parsed by the grammar as exactly one action, all hidden reasoning closed, and not
 * cut off at the token limit. The last two are judged where the reply's text or tokens are recorded. Every reply counts,
 * the diagnosis too; no reply at all is 0. It ignores the content, so any terse doctor gets it: use a small weight, or
 * `gate(replyFormat(), …)`.
 */
export const replyFormat = (): Reward =>
  shareOfTurns(
    { name: 'format', source: 'share of readable replies, after the format rewards of R1' },
    () => (turn) => (isWellFormed(turn) ? 1 : 0),
  )
