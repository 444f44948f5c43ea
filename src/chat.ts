/** A language model as a function from messages to a reply; `chats/` holds the kinds. */

/** Tokens that one call used. */
export interface Usage {
  readonly promptTokens: number
  readonly completionTokens: number
}

/** What a chat model answered. */
export interface ChatReply {
  readonly text: string
  readonly usage: Usage
}

/** One message of a conversation. */
export interface Message {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string
}

/** Settings of one call. */
export interface ChatOptions {
  /** Passed to servers that honour it. */
  readonly seed?: number
  readonly temperature?: number
  readonly maxTokens?: number
  readonly signal?: AbortSignal | undefined
}

/**
 * A chat model.
 * @throws Fault `model-unavailable` or `model-unreadable`
 */
export type Chat = (messages: readonly Message[], options?: ChatOptions) => Promise<ChatReply>
