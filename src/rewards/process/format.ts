/** Whether the doctor's replies were in the form that was asked for. */
import type { EpisodeTurn } from '../../episode.js'
import type { Reward } from '../../reward.js'
import { visible } from '../../text/hidden-reasoning.js'
import { shareOfTurns } from './share-of-turns.js'

/** Cannot be part of a tag, and nobody writes it. */
const end = '\u{10fffd}'

/** Whether a reply hides whatever is said after it, for a segment of hidden reasoning was never closed. */
const isUnclosed = (text: string): boolean => !visible(`${text}\n${end}`).endsWith(end)

const isWell = ({ action, text, sample }: EpisodeTurn): boolean =>
  action.kind !== 'invalid' &&
  sample?.stopReason !== 'length' &&
  (text === undefined || !isUnclosed(text))

/**
 * The share of the replies that were well-formed: read by the grammar as exactly one action, with all hidden reasoning
 * closed, and not cut off at the most tokens. The last two are judged where a reply's own words or tokens are kept.
 * Every reply counts, the diagnosis too, and no reply at all is 0. It says nothing of what was said, so any doctor of
 * few words has it: a small weight, or `gate(replyFormat(), …)`.
 */
export const replyFormat = (): Reward =>
  shareOfTurns(
    { name: 'format', source: 'share of readable replies, after the format rewards of R1' },
    () => (turn) => (isWell(turn) ? 1 : 0),
  )
