/** The token stream of a consultation, from one rendering of a grammar to the next. */
import type { Message } from '../../chat.js'
import type { ChatTokenizer } from './chat-tokenizer.js'
import type { Drawn, TokenStream, TokenStreamOptions } from './token-stream.js'
import { heard, startStream } from './token-stream.js'

/** A reply, and the grammar's messages that it answered. */
export interface Reply {
  readonly turn: Drawn
  readonly messages: readonly Message[]
}

/** What the world said after a reply; undefined where the grammar's messages did not only grow at their end. */
function answerTo({ messages }: Reply, now: readonly Message[]): readonly Message[] | undefined {
  const grown = messages.every(
    ({ role, content }, i) => now[i]?.role === role && now[i].content === content,
  )
  const [reply, ...world] = now.slice(messages.length)
  const answered = world.length > 0 && world.every(({ role }) => role !== 'assistant')
  return grown && reply?.role === 'assistant' && answered ? world : undefined
}

/**
 * The stream that the next reply is drawn from: the one of the reply before with what the world said to it, or a
 * new one of the whole rendering where there is no such reply, or the rendering does not go on from it.
 * @throws Fault `bad-input` where the template refuses the messages
 */
export function streamOf(
  tokenizer: ChatTokenizer,
  messages: readonly Message[],
  before: Reply | undefined,
  options: TokenStreamOptions,
): TokenStream {
  const world = before && answerTo(before, messages)
  return world ? heard(before.turn, world) : startStream(tokenizer, messages, options)
}
