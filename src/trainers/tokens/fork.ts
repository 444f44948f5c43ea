/** Forks: places where a prompt does not extend the token stream before it, and why. */
import type { ChatTokenizer } from './chat-tokenizer.js'

/** A place where a prompt does not extend the stream before it. */
export interface Fork {
  /** Index of the draw it follows, from 0. */
  readonly turn: number
  /**
   * `history`: the template later renders earlier text differently. `end-of-turn`: the policy ended its turn with
   * another token than the template puts there.
   */
  readonly reason: 'history' | 'end-of-turn'
  /** Index of the first id that differs; `expected` is the stream's id, `got` the rendering's, null past the end. */
  readonly position: number
  readonly expected: number | null
  readonly got: number | null
  /** Text of the rendering around that position. */
  readonly text: string
}

/** First index at which `longer` does not extend `prefix`; undefined if it extends it. */
export function firstDivergence(
  prefix: readonly number[],
  longer: readonly number[],
): number | undefined {
  const at = prefix.findIndex((id, i) => id !== longer[i])
  return at < 0 ? undefined : at
}

/** Describes the fork at the position where `prompt` leaves the stream. */
export function createFork(
  position: number,
  reason: Fork['reason'],
  stream: readonly number[],
  prompt: readonly number[],
  { tokenizer, turns }: { readonly tokenizer: ChatTokenizer; readonly turns: number },
): Fork {
  const around = prompt.slice(Math.max(0, position - 12), position + 12)
  return Object.freeze({
    turn: turns,
    reason,
    position,
    expected: stream[position] ?? null,
    got: prompt[position] ?? null,
    text: tokenizer.decode(around),
  })
}
