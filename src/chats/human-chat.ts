/** A chat model that is a person: at a terminal, or lines from a pipe. */
import type { Chat } from '../chat.js'
import { Fault } from '../error.js'
import { type LineStreams, lineReader, stripControls } from '../platform/line-reader.js'

/** Options of {@link humanChat}. */
export interface HumanChatOptions extends LineStreams {
  /** Who speaks in the messages of the user, as `Doctor: `. @default none */
  readonly other?: string
  /** What stands before what is typed. @default '> ' */
  readonly prompt?: string
}

/**
 * Makes a chat model of a person, who is shown the system message once and then the last message of each request.
 * @returns a chat that rejects with a Fault `component-failed` where the input ends
 */
export function humanChat({ other = '', prompt = '> ', ...streams }: HumanChatOptions): Chat {
  const reader = lineReader(streams, 'the person')
  const show = (text: string): void => void streams.output.write(`\n${stripControls(text)}\n`)
  let told: string | undefined
  return async (messages, { signal } = {}) => {
    const [first, ...rest] = messages
    if (first?.role === 'system' && first.content !== told) {
      told = first.content
      show(told)
    }
    show(`${other}${rest.at(-1)?.content ?? first?.content ?? ''}`)
    for (;;) {
      const line = await reader.read(prompt, signal)
      if (line === undefined)
        throw new Fault('component-failed', 'expected a line to be typed, got the end of the input')
      if (line.trim() === '') continue
      // Nobody says when the conversation is over: the input is held only while somebody types.
      reader.release()
      return { text: line.trim(), usage: { promptTokens: 0, completionTokens: 0 } }
    }
  }
}
