/** Where a token stream had to begin anew, and why. */
import type { ChatTokenizer } from './chat-tokenizer.js'

/** Where a prompt did not extend the stream before it. */
export interface Fork {
  /** The draw it follows, from 0. */
  readonly turn: number
  /**
   * `history`: the template renders what was read or drawn differently later. `end-of-turn`: the policy ended its
   * turn with another token than the template puts there.
   */
  readonly reason: 'history' | 'end-of-turn'
  /** Index of the first id that differs; `expected` is the stream's and `got` the rendering's, null past the end. */
  readonly position: number
  readonly expected: number | null
  readonly got: number | null
  /** The rendering around that place. */
  readonly text: string
}

/** The first index at which `longer` does not extend `prefix`; undefined where it does. */
export function breakAt(prefix: readonly number[], longer: readonly number[]): number | undefined {
  const at = prefix.findIndex((id, i) => id !== longer[i])
  return at < 0 ? undefined : at
}

/** The fork at a place where `prompt` leaves the stream. */
export function forkAt(
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
