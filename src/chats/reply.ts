/** Parses a model server's reply. A separate module, so that zod is loaded only once a server has answered. */
import { z } from 'zod'
import type { ChatReply, ReplyTokens, ToolCall, Usage } from '../chat.js'
import { ModelFault, type ModelFaultKind, type Retryable } from './model-fault.js'
import { toolCallId } from './written-reply.js'

const Ids = z.array(z.number().int()).nullish()

const UsageCounts = z
  .object({ prompt_tokens: z.number().default(0), completion_tokens: z.number().default(0) })
  .nullish()

/** What servers call the reasoning that they take out of a reply. */
const Reasoned = { reasoning_content: z.string().nullish(), reasoning: z.string().nullish() }

const reasoningOf = (said: z.infer<z.ZodObject<typeof Reasoned>> | undefined): string =>
  said?.reasoning_content || said?.reasoning || ''

/** Some servers give the arguments parsed, or a call no id. */
const Call = z.object({
  id: z.string().nullish(),
  function: z.object({
    name: z.string(),
    arguments: z.union([
      z.string(),
      z.record(z.string(), z.unknown()).transform((given) => JSON.stringify(given)),
    ]),
  }),
})

const ChatChoice = z.object({
  message: z.object({
    content: z.string().nullish(),
    refusal: z.string().nullish(),
    tool_calls: z.array(Call).nullish(),
    ...Reasoned,
  }),
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

const callsOf = (calls: readonly z.infer<typeof Call>[]): readonly ToolCall[] =>
  calls.map(({ id, function: called }, n) => ({
    id: id || toolCallId(n),
    type: 'function',
    function: called,
  }))

interface ReadChoice {
  readonly text: string
  readonly reasoning?: string
  readonly calls?: readonly ToolCall[]
  readonly finish: string | null | undefined
  readonly usage: z.infer<typeof UsageCounts>
  readonly tokens: ReplyTokens
}

function replyOf({ text, reasoning, calls = [], finish, usage, tokens }: ReadChoice): ChatReply {
  return {
    text,
    ...(reasoning ? { reasoning } : {}),
    ...(calls.length > 0 ? { calls } : {}),
    usage: countsOf(usage),
    ...(finish === 'length' ? { cutOff: true } : {}),
    ...(Object.keys(tokens).length > 0 ? { tokens } : {}),
  }
}

/**
 * Parses a chat completion. A model that only thought, or was cut off before its first visible word, gives empty text:
 * that is its own mistake.
 * @throws ModelFault `unparsable` for any other body, `refused` where the model declined, and that of an error in it
 */
export function readChatReply(body: unknown): ChatReply {
  const { data } = ChatBody.safeParse(body)
  const choice = data?.choices[0]
  if (!data || !choice) throw unreadable(body, 'a chat completion with choices[0].message.content')
  const { message, finish_reason: finish, logprobs, token_ids: ids } = choice
  const calls = callsOf(message.tool_calls ?? [])
  const reasoning = reasoningOf(message)
  const said = finish === 'length' || calls.length > 0 || reasoning !== ''
  const text = message.content ?? (said ? '' : undefined)
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
  return replyOf({ text, reasoning, calls, finish, usage: data.usage, tokens })
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
