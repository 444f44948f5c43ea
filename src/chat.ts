/** The language model: a function from messages, or from a prompt, to a reply. `chats/` holds the implementations. */

/** Token counts of one call. */
export interface Usage {
  readonly promptTokens: number
  readonly completionTokens: number
}

/** Calls of a role's models, with their tokens and money. */
export interface RoleUsage {
  /** All calls, failed ones too. */
  readonly calls: number
  readonly failed: number
  /** Requests beyond one per call. */
  readonly retries: number
  readonly promptTokens: number
  readonly completionTokens: number
  /** In the currency of the price table; null where a model has no price, which is not 0. */
  readonly cost: number | null
}

/** A token that a model might have drawn, with its log-prob, natural logarithm. */
export interface TokenChance {
  readonly token: string
  readonly logprob: number
}

/** The tokens of a reply, as far as the server gives them. */
export interface ReplyTokens {
  /** Ids of the reply's tokens. */
  readonly ids?: readonly number[]
  /** Ids of the tokens that the model read. */
  readonly promptIds?: readonly number[]
  /** log P of each token of the reply, natural logarithm. */
  readonly logprobs?: readonly number[]
  /** At each token of the reply, the likeliest tokens. */
  readonly alternatives?: readonly (readonly TokenChance[])[]
}

/** A call of a function as a model wrote it, in the form of OpenAI's interface. */
export interface ToolCall {
  readonly id: string
  readonly type: 'function'
  /** Its arguments are JSON as the model wrote it, which may be none. */
  readonly function: { readonly name: string; readonly arguments: string }
}

/** A function that a model may call. */
export interface Tool {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>
}

/** A model's reply. */
export interface ChatReply {
  readonly text: string
  /** Reasoning that the server took out of the text; for the one who spoke, and for nobody else. */
  readonly reasoning?: string
  /** Functions that the model calls. */
  readonly calls?: readonly ToolCall[]
  readonly usage: Usage
  /** True where the limit of new tokens ended the reply. */
  readonly cutOff?: true
  /** Requests before the one that was answered; absent for none. */
  readonly retries?: number
  /** Present where ids or log-probs were asked for and the server gave some. */
  readonly tokens?: ReplyTokens
  /** True where an earlier call paid for this reply: the same question to the same model, asked again. */
  readonly reused?: true
}

/** A message of a conversation, in the form of OpenAI's interface, which chat templates read too. */
export interface Message {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content: string
  /** Functions that the assistant called. */
  readonly tool_calls?: readonly ToolCall[]
  /** The call whose result a `tool` message is. */
  readonly tool_call_id?: string
}

/** A shape that a reply is to have. */
export interface ReplyShape {
  /** Letters, digits, `-` and `_`. */
  readonly name: string
  /** JSON Schema of the reply. */
  readonly schema: Readonly<Record<string, unknown>>
}

/** Settings of one call. */
export interface ChatOptions {
  /** Sampling seed, passed on to servers that support it. */
  readonly seed?: number
  readonly temperature?: number
  readonly maxTokens?: number
  /** Strings that end the reply; the reply is without them. */
  readonly stop?: readonly string[]
  /** Asks for JSON of this shape; the reply is not checked, see `askJson`. */
  readonly json?: ReplyShape
  /** Functions that the model may call. */
  readonly tools?: readonly Tool[]
  /** Asks for the log-probs of the reply's tokens. */
  readonly logprobs?: boolean
  /** Asks for so many of the likeliest tokens at each token of the reply, beside their log-probs. */
  readonly topLogprobs?: number
  /**
   * Text that the reply begins with, and which the model goes on from; vLLM, SGLang and llama.cpp can. The reply's text
   * holds it, its tokens do not.
   */
  readonly prefix?: string
  /** Asks for token ids, which vLLM gives and other servers may refuse. */
  readonly tokenIds?: boolean
  /** Called with each piece of the reply as it comes; the request is then streamed. */
  readonly onText?: (piece: string) => void
  /** Name and version of the prompt, as `chat-patient/1`: a recording of another version is not replayed. */
  readonly prompt?: string
  readonly signal?: AbortSignal | undefined
}

/** A model that is asked by a prompt of one kind. @throws Fault `model-unavailable`, `model-unreadable` or `budget` */
export type ModelCall<Prompt> = (prompt: Prompt, options?: ChatOptions) => Promise<ChatReply>

/** A chat model. */
export type Chat = ModelCall<readonly Message[]>

/** A completion model: it goes on with a text, or with tokens. */
export type Complete = ModelCall<string | readonly number[]>
