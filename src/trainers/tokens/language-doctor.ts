/** The language-model doctor: an agent that samples replies on a growing token stream and keeps their tokens. */
import type { Agent, Grammar } from '../../agent.js'
import { fork } from '../../seed.js'
import type { Action } from '../../turn.js'
import { assertCounts } from '../counts.js'
import type { ChatTokenizer } from './chat-tokenizer.js'
import type { Draw, PreviousReply } from './token-stream.js'
import { appendDrawn, nextStream, openedThinkTag } from './token-stream.js'

/** Samples at most `maxTokens` ids, up to and including the first of `stop`. @throws Fault when the model fails */
export type DrawTokens = (
  prompt: readonly number[],
  options: {
    /** Below 2^31. */
    readonly seed: number
    readonly maxTokens: number
    readonly stop: readonly number[]
    readonly signal?: AbortSignal | undefined
  },
) => Promise<Draw>

/** Model, tokenizer and limits of a language-model doctor. */
export interface LanguageDoctorOptions {
  readonly tokenizer: ChatTokenizer
  /** Renders observations and parses replies. */
  readonly grammar: Grammar
  readonly draw: DrawTokens
  /** Maximum tokens of one reply. */
  readonly maxTokens: number
  /** Context window of the model in tokens, prompt and reply together. */
  readonly contextLength: number
  /** Whether reasoning of earlier turns stays in the prompt. @default 'keep' */
  readonly history?: 'keep' | 'strip-reasoning'
}

/**
 * Creates a doctor whose prompts contain everything it has read and drawn in the consultation, as the ids it drew.
 * Earlier draws are found by the identity of the observation's last action object. After another agent's turn, or in a
 * copy of the observation, the grammar's rendering is encoded anew.
 *
 * Each turn has its own seed, forked from the agent's. A reply cut by length is parsed as it stands. Where the context
 * has no room for one token, the doctor gives up and draws nothing.
 */
export function languageDoctor({
  tokenizer,
  grammar,
  draw,
  maxTokens,
  contextLength,
  history = 'keep',
}: LanguageDoctorOptions): Agent {
  assertCounts({ maxTokens, contextLength })
  const replies = new WeakMap<Action, PreviousReply>()
  return async (observation, { seed, signal }) => {
    const messages = grammar.render(observation)
    const last = observation.turns.at(-1)
    const before = last && replies.get(last.action)
    const stream = nextStream(tokenizer, messages, before, { history })
    const room = contextLength - stream.prompt.length
    if (room < 1) return { action: { kind: 'give-up' } }
    const sampled = await draw(stream.prompt, {
      // 31 bits: some servers refuse a seed that is not a positive 32-bit integer.
      seed: fork(seed, 'reply', observation.turns.length) >>> 1,
      maxTokens: Math.min(maxTokens, room),
      stop: tokenizer.ends,
      signal,
    })
    const turn = appendDrawn(stream, sampled)
    // A grammar may give one object for many replies; the copy is of this turn alone.
    const action = { ...grammar.parse(openedThinkTag(stream.marked) + turn.text) }
    replies.set(action, { turn, messages })
    return { action, text: turn.text, sample: turn.sample }
  }
}
