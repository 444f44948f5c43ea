/** Continues the token stream of a consultation from one rendering of a grammar to the next. */
import type { Message } from '../../chat.js'
import type { ChatTokenizer } from './chat-tokenizer.js'
import type { DrawnReply, TokenStream, TokenStreamOptions } from './token-stream.js'
import { appendHeard, startStream } from './token-stream.js'

/** The policy's previous reply, and the messages of the prompt it answered. */
export interface PreviousReply {
  readonly turn: DrawnReply
  readonly messages: readonly Message[]
}

/** Messages that follow a reply; undefined where the new rendering does not extend the reply's messages. */
function newMessages(
  { messages }: PreviousReply,
  now: readonly Message[],
): readonly Message[] | undefined {
  const grown = messages.every(
    ({ role, content }, i) => now[i]?.role === role && now[i].content === content,
  )
  const [reply, ...world] = now.slice(messages.length)
  const answered = world.length > 0 && world.every(({ role }) => role !== 'assistant')
  return grown && reply?.role === 'assistant' && answered ? world : undefined
}

/**
 * The stream from which the next reply is drawn: the previous reply's stream with the messages after it, or a new
 * stream where there is no previous reply or the rendering does not extend it.
 * @throws Fault `bad-input` where the template refuses the messages
 */
export function nextStream(
  tokenizer: ChatTokenizer,
  messages: readonly Message[],
  before: PreviousReply | undefined,
  options: TokenStreamOptions,
): TokenStream {
  const world = before && newMessages(before, messages)
  return world ? appendHeard(before.turn, world) : startStream(tokenizer, messages, options)
}
