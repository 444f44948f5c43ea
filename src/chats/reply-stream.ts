/** Reads a streamed reply. Loaded with the other readers, once a server has answered. */
import { z } from 'zod'
import type { ChatReply } from '../chat.js'
import { ModelFault } from './model-fault.js'
import {
  type Call,
  callsOf,
  Reasoned,
  reasoningOf,
  replyOf,
  UsageCounts,
  unreadable,
} from './reply-parts.js'

/** A piece of a call: its id and name come first, its arguments bit by bit. */
const CallPiece = z.object({
  index: z.number().int().min(0).default(0),
  id: z.string().nullish(),
  function: z
    .object({ name: z.string().nullish(), arguments: z.string().nullish() })
    .default({ name: '', arguments: '' }),
})

const Chunk = z.object({
  choices: z
    .array(
      z.object({
        delta: z
          .object({
            content: z.string().nullish(),
            tool_calls: z.array(CallPiece).nullish(),
            ...Reasoned,
          })
          .optional(),
        text: z.string().optional(),
        finish_reason: z.string().nullish(),
      }),
    )
    .default([]),
  usage: UsageCounts,
})

function addPiece(
  calls: Map<number, z.infer<typeof Call>>,
  { index, id, function: { name, arguments: more } }: z.infer<typeof CallPiece>,
): void {
  const { id: known, function: begun } = calls.get(index) ?? {
    function: { name: '', arguments: '' },
  }
  const called = { name: begun.name + (name ?? ''), arguments: begun.arguments + (more ?? '') }
  calls.set(index, { id: known || id, function: called })
}

/**
 * Reads a streamed reply of either kind to its end. Ids and log-probs are not read from streams.
 * @throws ModelFault `unparsable` for a piece of another shape, and for a stream that ends before the reply does
 */
export async function readStream(
  pieces: AsyncIterable<unknown>,
  onText: (piece: string) => void,
): Promise<ChatReply> {
  let usage: z.infer<typeof UsageCounts>
  let [text, reasoning] = ['', '']
  let finish: string | undefined
  const calls = new Map<number, z.infer<typeof Call>>()
  for await (const piece of pieces) {
    const { data } = Chunk.safeParse(piece)
    if (!data) throw unreadable(piece, 'a piece of a completion')
    usage = data.usage ?? usage
    const choice = data.choices[0]
    const more = choice?.delta?.content ?? choice?.text ?? ''
    text += more
    reasoning += reasoningOf(choice?.delta)
    for (const piece of choice?.delta?.tool_calls ?? []) addPiece(calls, piece)
    finish = choice?.finish_reason ?? finish
    if (more !== '') onText(more)
  }
  if (finish === undefined)
    throw new ModelFault(
      'unparsable',
      `the stream ended before the reply, at \`${text.slice(-80)}\``,
      {
        retryable: 'often',
      },
    )
  if (finish === 'content_filter')
    throw new ModelFault('refused', 'the server filtered the reply (finish_reason content_filter)')
  const called = callsOf([...calls.values()])
  return replyOf({ text, reasoning, calls: called, finish, usage, tokens: {} })
}
