/** The chat doctor: a language model that reads what a grammar renders and whose replies it parses. */
import type { Agent, Grammar } from '../agent.js'
import type { Chat, Message } from '../chat.js'
import { fork } from '../seed.js'
import { visible } from '../text/hidden-reasoning.js'
import { labelled } from './grammars/labelled.js'

export interface ChatDoctorOptions {
  readonly chat: Chat
  /** @default labelled() */
  readonly grammar?: Grammar
  /**
   * How often a reply that cannot be read is shown to the model with the reason, and asked for again,
   * before it counts as the doctor's turn. @default 0
   */
  readonly maxRetries?: number
}

/**
 * A doctor of any chat model. Each turn and each retry has a seed of its own under the agent's;
 * a reply that cannot be read is an `invalid` action, a model that fails is a Fault.
 */
export const chatDoctor =
  ({ chat, grammar = labelled(), maxRetries = 0 }: ChatDoctorOptions): Agent =>
  async (observation, { seed, signal }) => {
    let messages: readonly Message[] = grammar.render(observation)
    for (let attempt = 0; ; attempt++) {
      // 31 bits: some servers refuse a seed that is no positive 32-bit integer.
      const drawn = fork(seed, 'chat', observation.turns.length, attempt) >>> 1
      const { text } = await chat(messages, { seed: drawn, signal })
      const action = grammar.parse(text)
      if (action.kind !== 'invalid' || attempt >= maxRetries) return { action, text }
      messages = [
        ...messages,
        { role: 'assistant', content: visible(text) || '…' },
        { role: 'user', content: action.why },
      ]
    }
  }
