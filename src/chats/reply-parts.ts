/** What whole and streamed replies have in common: counts, calls, reasoning, and the faults of what is no reply. */
import { z } from 'zod'
import type { ChatReply, ReplyTokens, ToolCall, Usage } from '../chat.js'
import { ModelFault, type ModelFaultKind, type Retryable } from './model-fault.js'
import { toolCallId } from './written-reply.js'

/** Token counts as servers give them. */
export const UsageCounts = z
  .object({ prompt_tokens: z.number().default(0), completion_tokens: z.number().default(0) })
  .nullish()

/** What servers call the reasoning that they take out of a reply. */
export const Reasoned = { reasoning_content: z.string().nullish(), reasoning: z.string().nullish() }

/** The reasoning that a server took out; empty for none. */
export const reasoningOf = (said: z.infer<z.ZodObject<typeof Reasoned>> | undefined): string =>
  said?.reasoning_content || said?.reasoning || ''

/** Some servers give the arguments parsed, or a call no id. */
export const Call = z.object({
  id: z.string().nullish(),
  function: z.object({
    name: z.string(),
    arguments: z.union([
      z.string(),
      z.record(z.string(), z.unknown()).transform((given) => JSON.stringify(given)),
    ]),
  }),
})

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

/** Token counts, 0 where a server gives none. */
export const countsOf = (usage: z.infer<typeof UsageCounts>): Usage => ({
  promptTokens: usage?.prompt_tokens ?? 0,
  completionTokens: usage?.completion_tokens ?? 0,
})

const preview = (body: unknown): string | undefined =>
  (typeof body === 'string' ? body : JSON.stringify(body))?.slice(0, 200)

/** The fault of a 200 that is no reply. */
export function unreadable(body: unknown, expected: string): ModelFault {
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

/** Calls in the form of a message, each with an id. */
export const callsOf = (calls: readonly z.infer<typeof Call>[]): readonly ToolCall[] =>
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

/** Makes a reply of what was read. */
export function replyOf({
  text,
  reasoning,
  calls = [],
  finish,
  usage,
  tokens,
}: ReadChoice): ChatReply {
  return {
    text,
    ...(reasoning ? { reasoning } : {}),
    ...(calls.length > 0 ? { calls } : {}),
    usage: countsOf(usage),
    ...(finish === 'length' ? { cutOff: true } : {}),
    ...(Object.keys(tokens).length > 0 ? { tokens } : {}),
  }
}
