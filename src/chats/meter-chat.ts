/** Usage metering: a chat model that counts its calls and tokens. */
import type { Chat, Usage } from '../chat.js'

/** Wraps a chat model to count usage; `used` gives the totals so far. */
export function meterChat(chat: Chat): {
  readonly chat: Chat
  readonly used: () => Usage & { readonly calls: number }
} {
  let used = { calls: 0, promptTokens: 0, completionTokens: 0 }
  return {
    chat: async (messages, options) => {
      const reply = await chat(messages, options)
      used = {
        calls: used.calls + 1,
        promptTokens: used.promptTokens + reply.usage.promptTokens,
        completionTokens: used.completionTokens + reply.usage.completionTokens,
      }
      return reply
    },
    used: () => used,
  }
}
