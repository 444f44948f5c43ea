/** A reply as one text, as its model would have written it: reasoning in tags, words, calls of functions. */
import type { ChatReply, ToolCall } from '../chat.js'
import { stripHiddenReasoning } from '../text/hidden-reasoning.js'

/** An id for call number `n` of a conversation: nine letters and digits, which is what the strictest templates want. */
export const toolCallId = (n: number): string => `call${String(n % 100_000).padStart(5, '0')}`

function parsedOrText(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return json
  }
}

/** A call in the tags of Hermes and Qwen. No `<` stands inside, so that nothing in it can end the tag or open another. */
export function writtenCall({ function: { name, arguments: given } }: ToolCall): string {
  const call = JSON.stringify({ name, arguments: parsedOrText(given) }).replaceAll('<', '\\u003c')
  return `<tool_call>\n${call}\n</tool_call>`
}

/** Reasoning in its tag. Where it holds tags or headings that would end it early, they are broken. */
function writtenReasoning(reasoning: string): string {
  const probe = 'visible'
  const written = `<think>\n${reasoning}\n</think>\n`
  const closed = stripHiddenReasoning(`${written}${probe}`) === probe
  return closed ? written : `<think>\n${reasoning.replace(/[<#]/g, '')}\n</think>\n`
}

/** The whole reply, for whoever spoke; {@link stripHiddenReasoning} gives what others may hear of it. */
export const writtenReply = ({
  text,
  reasoning,
  calls = [],
}: Pick<ChatReply, 'text' | 'reasoning' | 'calls'>): string => {
  const thought = reasoning ? writtenReasoning(reasoning) : ''
  return `${thought}${[text, ...calls.map(writtenCall)].filter(Boolean).join('\n')}`
}
