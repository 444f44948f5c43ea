/** The language-model doctor: an agent that samples replies on a growing token stream and keeps their tokens. */
import { isDeepStrictEqual } from 'node:util'
import type { Agent, Grammar } from '../../agent.js'
import { fork } from '../../seed.js'
import type { Action, Turn } from '../../turn.js'
import { assertCounts } from '../counts.js'
import type { ChatTokenizer } from './chat-tokenizer.js'
import {
  appendDrawn,
  type DrawnTokens,
  nextStream,
  openedThinkTag,
  type PreviousReply,
  restoreReply,
  type StoredReply,
  storeReply,
} from './token-stream.js'

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
) => Promise<DrawnTokens>

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

/** What the doctor remembers of its last move: plain data. */
export interface DoctorMemory {
  readonly kind: 'language-doctor'
  readonly action: Action
  readonly messages: PreviousReply['messages']
  readonly reply: StoredReply
}

/** The doctor's own last reply, if the memory is of the last turn. */
export function recallReply(
  tokenizer: ChatTokenizer,
  memory: unknown,
  last: Turn | undefined,
): PreviousReply | undefined {
  // What `languageDoctor` gave out comes back; the kind tells it from another agent's.
  const own = memory as DoctorMemory | undefined
  return last && own?.kind === 'language-doctor' && isDeepStrictEqual(own.action, last.action)
    ? { turn: restoreReply(tokenizer, own.reply), messages: own.messages }
    : undefined
}

/**
 * Creates a doctor whose prompts contain everything it has read and drawn in the consultation, as the ids it drew.
 * It finds its earlier draws in its `memory`, which survives JSON. Without it, or after another agent's turn, the
 * grammar's rendering is encoded anew.
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
  return async (observation, { seed, memory, signal }) => {
    const messages = grammar.render(observation)
    const before = recallReply(tokenizer, memory, observation.turns.at(-1))
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
    const action = grammar.parse(openedThinkTag(stream.marked) + turn.text)
    const next: DoctorMemory = {
      kind: 'language-doctor',
      action,
      messages,
      reply: storeReply(turn),
    }
    return { action, text: turn.text, sample: turn.sample, memory: next }
  }
}
