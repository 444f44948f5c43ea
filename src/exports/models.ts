/** `bedside/models`: language models behind servers, what they used, and recorded replies. */

export type {
  Chat,
  ChatOptions,
  ChatReply,
  Complete,
  Message,
  ModelCall,
  ReplyShape,
  ReplyTokens,
  RoleUsage,
  TokenChance,
  Tool,
  ToolCall,
  Usage,
} from '../chat.js'
export { type UsageByRole, withAccount } from '../chats/account.js'
export {
  type Cassette,
  type CassetteMode,
  type CassetteOptions,
  openCassette,
} from '../chats/cassette.js'
export { type HumanChatOptions, humanChat } from '../chats/human-chat.js'
export {
  type Ledger,
  type LedgerOptions,
  type ModelBudget,
  openLedger,
  type Price,
  usageLine,
} from '../chats/ledger.js'
export { ModelFault, type ModelFaultKind, modelFaultKind } from '../chats/model-fault.js'
export { openaiChat, openaiCompletion } from '../chats/openai.js'
export type { RoleModel } from '../chats/request-key.js'
export type { ModelSettings } from '../chats/settings.js'
export {
  type MemoryStore,
  memoryStore,
  type ReplyStore,
  type StoredRequest,
  shareReplies,
} from '../chats/shared-replies.js'
export { type AskJsonOptions, askJson } from '../chats/structured.js'
export { writtenReply } from '../chats/written-reply.js'
