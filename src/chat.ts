/** The chat model: a function from messages to a reply. `chats/` holds the implementations. */

/** Token counts of one call. */
export interface Usage {
  readonly promptTokens: number
  readonly completionTokens: number
}

/** A chat model's reply. */
export interface ChatReply {
  readonly text: string
  readonly usage: Usage
}

/** A message of a conversation. */
export interface Message {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string
}

/** Settings of one call. */
export interface ChatOptions {
  /** Sampling seed, passed on to servers that support it. */
  readonly seed?: number
  readonly temperature?: number
  readonly maxTokens?: number
  readonly signal?: AbortSignal | undefined
}

/** A chat model. @throws Fault `model-unavailable` or `model-unreadable` */
export type Chat = (messages: readonly Message[], options?: ChatOptions) => Promise<ChatReply>
