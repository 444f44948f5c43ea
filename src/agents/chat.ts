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

/** A doctor's earlier replies, one for each turn, without their reasoning. */
type OwnReplies = readonly string[]

/** The memory of this doctor's last move, if it has played every turn so far. */
const ownReplies = (memory: unknown, turns: number): OwnReplies | undefined =>
  // Only this agent's own moves make its memory.
  Array.isArray(memory) && memory.length === turns ? (memory as OwnReplies) : undefined

/** The prompt with the doctor's messages as it wrote them; what was hidden whole stays as rendered. */
function withReplies(messages: readonly Message[], replies: OwnReplies): readonly Message[] {
  let turn = 0
  return messages.map((message) =>
    message.role === 'assistant'
      ? { ...message, content: replies[turn++] || message.content }
      : message,
  )
}

/**
 * Makes a doctor of any chat model. Each turn and each retry has a seed of its own, derived from the agent's.
 * An unreadable reply is an `invalid` action; a failing model throws a Fault.
 */
export const chatDoctor =
  ({ chat, grammar = labelled(), maxRetries = 0 }: ChatDoctorOptions): Agent =>
  async (observation, { seed, memory, signal }) => {
    const tools = grammar.tools ? { tools: grammar.tools } : {}
    const played = observation.turns.length
    const replies = grammar.keepsReplies ? ownReplies(memory ?? [], played) : undefined
    const rendered = grammar.render(observation)
    let messages = replies ? withReplies(rendered, replies) : rendered
    for (let attempt = 0; ; attempt++) {
      // 31 bits: some servers refuse a seed that is not a positive 32-bit integer.
      const drawn = fork(seed, 'chat', played, attempt) >>> 1
      const prompt = `chat-doctor-${grammar.name}/1`
      const reply = await chat(messages, { seed: drawn, prompt, signal, ...tools })
      // The whole reply, reasoning and calls too: it is kept as the doctor's own, and nobody else is shown it.
      const text = writtenReply(reply)
      const action = grammar.parse(text)
      const visible = stripHiddenReasoning(text)
      if (action.kind !== 'invalid' || attempt >= maxRetries)
        return { action, text, ...(replies ? { memory: [...replies, visible] } : {}) }
      messages = [
        ...messages,
        { role: 'assistant', content: visible || '…' },
        { role: 'user', content: action.why },
      ]
    }
  }
