/** The chat doctor: a chat model prompted and parsed through a grammar. */
import type { Agent, Grammar } from '../agent.js'
import type { Chat, Message } from '../chat.js'
import { writtenReply } from '../chats/written-reply.js'
import { fork } from '../seed.js'
import { stripHiddenReasoning } from '../text/hidden-reasoning.js'
import { labelled } from './grammars/labelled.js'

/** Options of {@link chatDoctor}. */
export interface ChatDoctorOptions {
  readonly chat: Chat
  /** @default labelled() */
  readonly grammar?: Grammar
  /**
   * Retries after an unreadable reply; the model is shown its reply and the reason. After the last one the
   * reply counts as the doctor's turn. @default 0
   */
  readonly maxRetries?: number
}

/**
 * Makes a doctor of any chat model. Each turn and each retry has a seed of its own, derived from the agent's.
 * An unreadable reply is an `invalid` action; a failing model throws a Fault.
 */
export const chatDoctor =
  ({ chat, grammar = labelled(), maxRetries = 0 }: ChatDoctorOptions): Agent =>
  async (observation, { seed, signal }) => {
    const tools = grammar.tools ? { tools: grammar.tools } : {}
    let messages: readonly Message[] = grammar.render(observation)
    for (let attempt = 0; ; attempt++) {
      // 31 bits: some servers refuse a seed that is not a positive 32-bit integer.
      const drawn = fork(seed, 'chat', observation.turns.length, attempt) >>> 1
      const prompt = `chat-doctor-${grammar.name}/1`
      const reply = await chat(messages, { seed: drawn, prompt, signal, ...tools })
      // The whole reply, reasoning and calls too: it is kept as the doctor's own, and nobody else is shown it.
      const text = writtenReply(reply)
      const action = grammar.parse(text)
      if (action.kind !== 'invalid' || attempt >= maxRetries) return { action, text }
      messages = [
        ...messages,
        { role: 'assistant', content: stripHiddenReasoning(text) || '…' },
        { role: 'user', content: action.why },
      ]
    }
  }
