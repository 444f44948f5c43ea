/** Parses a chat server's reply. A separate module, so that zod is loaded only once a server has answered. */
import { z } from 'zod'
import type { ChatReply } from '../chat.js'
import { Fault } from '../error.js'

const Completion = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({ content: z.string().nullish() }),
        finish_reason: z.string().nullish(),
      }),
    )
    .min(1),
  usage: z
    .object({ prompt_tokens: z.number().default(0), completion_tokens: z.number().default(0) })
    .nullish(),
})

/**
 * Parses a chat completion. A model cut off before its first visible word gives empty text, as its own mistake.
 * @throws Fault `model-unreadable` for any other body
 */
export function readReply(address: string, body: unknown): ChatReply {
  const parsed = Completion.safeParse(body)
  const choice = parsed.data?.choices[0]
  const text = choice?.message.content ?? (choice?.finish_reason === 'length' ? '' : undefined)
  if (text === undefined) {
    const got = (typeof body === 'string' ? body : JSON.stringify(body))?.slice(0, 200)
    throw new Fault(
      'model-unreadable',
      `${address}: expected a chat completion with choices[0].message.content, got ${got}`,
    )
  }
  return {
    text,
    usage: {
      promptTokens: parsed.data?.usage?.prompt_tokens ?? 0,
      completionTokens: parsed.data?.usage?.completion_tokens ?? 0,
    },
  }
}
