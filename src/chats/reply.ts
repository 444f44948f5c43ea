/** Parses a model server's reply. A separate module, so that zod is loaded only once a server has answered. */
import { z } from 'zod'
import type { ChatReply, ReplyTokens, Usage } from '../chat.js'
import { ModelFault, type ModelFaultKind, type Retryable } from './model-fault.js'

const Ids = z.array(z.number().int()).nullish()

const UsageCounts = z
  .object({ prompt_tokens: z.number().default(0), completion_tokens: z.number().default(0) })
  .nullish()

const ChatChoice = z.object({
  message: z.object({ content: z.string().nullish(), refusal: z.string().nullish() }),
  finish_reason: z.string().nullish(),
  token_ids: Ids,
  logprobs: z
    .object({ content: z.array(z.object({ logprob: z.number() })).nullish() })
    .nullish()
    .catch(undefined),
})

const TextChoice = z.object({
  text: z.string(),
  finish_reason: z.string().nullish(),
  token_ids: Ids,
  prompt_token_ids: Ids,
  logprobs: z
    .object({ token_logprobs: z.array(z.number()).nullish() })
    .nullish()
    .catch(undefined),
})

const ChatBody = z.object({
  choices: z.array(ChatChoice).min(1),
  usage: UsageCounts,
  prompt_token_ids: Ids,
})
const TextBody = z.object({ choices: z.array(TextChoice).min(1), usage: UsageCounts })

const ErrorBody = z.object({
  error: z.union([
    z.string().transform((message) => ({ message, code: undefined })),
    z.object({ message: z.string().default('an error'), code: z.unknown().optional() }),
  ]),
})

/** The kind that a status stands for, and whether the request may be sent again. */
function statusKind(status: number): {
  readonly kind: ModelFaultKind
  readonly retryable: Retryable
} {
  if (status === 429) return { kind: 'rate-limited', retryable: 'often' }
  if (status >= 500 || [408, 409, 425].includes(status))
    return { kind: 'server', retryable: 'often' }
  if (status === 413) return { kind: 'context-length', retryable: 'never' }
  return { kind: 'refused', retryable: 'never' }
}

const isContextLength = (said: string): boolean =>
  /context[ _-]?(?:length|window|size)|maximum (?:context|model) len|too many (?:input )?tokens|prompt is too long/i.test(
    said,
  )

/** The fault that an error of the server stands for. A quota that is used up is not a rate limit: it does not pass. */
export function serverFault(
  status: number | undefined,
  said: string,
  options: { readonly retryAfterMs?: number | undefined; readonly body?: boolean } = {},
): ModelFault {
  const { retryAfterMs } = options
  if (/insufficient_quota|billing/i.test(said)) return new ModelFault('refused', said)
  const bad = status === undefined || (status >= 400 && status < 500 && status !== 429)
  if (bad && isContextLength(said)) return new ModelFault('context-length', said)
  if (status === undefined) return new ModelFault('server', said, { retryable: 'often' })
  const { kind, retryable } = statusKind(status)
  return new ModelFault(kind, said, { retryable, retryAfterMs })
}

/** The usage in a body of any other shape: an empty reply was paid for too. */
const Paid = z.object({ usage: UsageCounts })

const countsOf = (usage: z.infer<typeof UsageCounts>): Usage => ({
  promptTokens: usage?.prompt_tokens ?? 0,
  completionTokens: usage?.completion_tokens ?? 0,
})

const preview = (body: unknown): string | undefined =>
  (typeof body === 'string' ? body : JSON.stringify(body))?.slice(0, 200)

/** The fault of a 200 that is no reply. */
function unreadable(body: unknown, expected: string): ModelFault {
  const failed = ErrorBody.safeParse(body)
  if (failed.success) {
    const { message, code } = failed.data.error
    const status = Number(code)
    const said = `a 200 with an error: ${message}${typeof code === 'string' ? ` (${code})` : ''}`
    return serverFault(status >= 400 && status < 600 ? status : undefined, said.slice(0, 300))
  }
  // Nothing at all is a connection that broke off; anything else may well come again.
  const retryable = body === undefined || body === '' ? 'often' : 'once'
  const { data: paid } = Paid.safeParse(body)
  return new ModelFault('unparsable', `expected ${expected}, got ${preview(body) || 'nothing'}`, {
    retryable,
    usage: countsOf(paid?.usage),
  })
}

const listed = <T>(name: keyof ReplyTokens, list: readonly T[] | null | undefined) =>
  list ? { [name]: list } : {}

interface ReadChoice {
  readonly text: string
  readonly finish: string | null | undefined
  readonly usage: z.infer<typeof UsageCounts>
  readonly tokens: ReplyTokens
}

function replyOf({ text, finish, usage, tokens }: ReadChoice): ChatReply {
  return {
    text,
    usage: countsOf(usage),
    ...(finish === 'length' ? { cutOff: true } : {}),
    ...(Object.keys(tokens).length > 0 ? { tokens } : {}),
  }
}

/**
 * Parses a chat completion. A model cut off before its first visible word gives empty text, as its own mistake.
 * @throws ModelFault `unparsable` for any other body, `refused` where the model declined, and that of an error in it
 */
export function readChatReply(body: unknown): ChatReply {
  const { data } = ChatBody.safeParse(body)
  const choice = data?.choices[0]
  if (!data || !choice) throw unreadable(body, 'a chat completion with choices[0].message.content')
  const { message, finish_reason: finish, logprobs, token_ids: ids } = choice
  const text = message.content ?? (finish === 'length' ? '' : undefined)
  if (message.refusal && !text)
    throw new ModelFault('refused', `the model declined: ${message.refusal.slice(0, 200)}`, {
      usage: countsOf(data.usage),
    })
  if (finish === 'content_filter')
    throw new ModelFault('refused', 'the server filtered the reply (finish_reason content_filter)')
  if (text === undefined)
    throw unreadable(body, 'a chat completion with choices[0].message.content')
  const tokens: ReplyTokens = {
    ...listed('ids', ids),
    ...listed('promptIds', data.prompt_token_ids),
    ...listed(
      'logprobs',
      logprobs?.content?.map(({ logprob }) => logprob),
    ),
  }
  return replyOf({ text, finish, usage: data.usage, tokens })
}

/** Parses a text completion. @throws ModelFault for any other body */
export function readTextReply(body: unknown): ChatReply {
  const { data } = TextBody.safeParse(body)
  const choice = data?.choices[0]
  if (!data || !choice) throw unreadable(body, 'a completion with choices[0].text')
  const tokens: ReplyTokens = {
    ...listed('ids', choice.token_ids),
    ...listed('promptIds', choice.prompt_token_ids),
    ...listed('logprobs', choice.logprobs?.token_logprobs),
  }
  return replyOf({ text: choice.text, finish: choice.finish_reason, usage: data.usage, tokens })
}

const Chunk = z.object({
  choices: z
    .array(
      z.object({
        delta: z.object({ content: z.string().nullish() }).optional(),
        text: z.string().optional(),
        finish_reason: z.string().nullish(),
      }),
    )
    .default([]),
  usage: UsageCounts,
})

/**
 * Reads a streamed reply of either kind to its end. Ids and log-probs are not read from streams.
 * @throws ModelFault `unparsable` for a piece of another shape, and for a stream that ends before the reply does
 */
export async function readStream(
  pieces: AsyncIterable<unknown>,
  onText: (piece: string) => void,
): Promise<ChatReply> {
  let [text, usage]: [string, z.infer<typeof UsageCounts>] = ['', undefined]
  let finish: string | undefined
  for await (const piece of pieces) {
    const { data } = Chunk.safeParse(piece)
    if (!data) throw unreadable(piece, 'a piece of a completion')
    usage = data.usage ?? usage
    const choice = data.choices[0]
    const more = choice?.delta?.content ?? choice?.text ?? ''
    text += more
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
  return replyOf({ text, finish, usage, tokens: {} })
}
