/** Models behind OpenAI-compatible servers: chat and completions, with retries, deadlines and typed faults. */
import type OpenAI from 'openai'
import type { Chat, ChatOptions, ChatReply, Complete, Message, ReplyShape } from '../chat.js'
import { Fault } from '../error.js'
import { fullErrorMessage } from '../platform/retry.js'
import {
  type AttemptLimits,
  AttemptTimeout,
  OversizedReply,
  sendUntilAnswered,
} from './attempts.js'
import { gateOf } from './gate.js'
import { ModelFault } from './model-fault.js'
import { type ModelSettings, type ResolvedSettings, resolveSettings } from './settings.js'

/** The wait that a response's headers ask for, in ms; undefined where they ask for none. */
function retryAfter(headers: unknown): number | undefined {
  if (!(headers instanceof Headers)) return undefined
  const ms = Number.parseFloat(headers.get('retry-after-ms') ?? '')
  if (Number.isFinite(ms) && ms >= 0) return ms
  const given = headers.get('retry-after') ?? ''
  const seconds = /^\s*[\d.]+\s*$/.test(given) ? Number.parseFloat(given) : Number.NaN
  if (Number.isFinite(seconds)) return seconds * 1000
  const until = Date.parse(given) - (performance.timeOrigin + performance.now())
  return Number.isFinite(until) ? Math.max(0, until) : undefined
}

/** The error of a connection or of the transport, out of what the package wraps it in. */
function ownError(error: unknown): unknown {
  for (let at = error, depth = 0; at != null && depth < 4; depth++) {
    if (at instanceof AttemptTimeout || at instanceof OversizedReply) return at
    at = at instanceof Error ? at.cause : undefined
  }
  return error
}

/** Loads the readers of replies, which load zod: only a server's answer needs them. */
async function importReplies() {
  const [{ readChatReply, readTextReply }, { readStream }, { serverFault }] = await Promise.all([
    import('./reply.js'),
    import('./reply-stream.js'),
    import('./reply-parts.js'),
  ])
  return { readChatReply, readTextReply, readStream, serverFault }
}

type ReplyModule = Awaited<ReturnType<typeof importReplies>>

let replyModule: Promise<ReplyModule> | undefined

/** The readers, loaded once: three `import()`s would take 30 µs of each call. */
const loadReplies = (): Promise<ReplyModule> => {
  replyModule ??= importReplies()
  return replyModule
}

/** What to set where a server refuses a request; its status begins the message. */
function hintOf(
  message: string,
  { address, apiKey, apiKeyEnv }: ResolvedSettings,
  { json, tools, prefix, logprobs, topLogprobs, tokenIds }: ChatOptions,
): string {
  const status = Number(/^\d{3}\b/.exec(message)?.[0])
  if (status === 401 || status === 403)
    return apiKey
      ? ` (its key is that of ${apiKeyEnv})`
      : ` (no key: the environment variable ${apiKeyEnv} is not set)`
  if (status === 404 && !/\/v\d+$/.test(address)) return ' (is /v1 missing from its base URL?)'
  const asked = [
    ...(json ? ['JSON of a schema (`json: object` or `json: prompt` asks in other ways)'] : []),
    ...(tools ? ['tool calls'] : []),
    ...(prefix === undefined ? [] : ['a reply with a given beginning']),
    ...(logprobs || topLogprobs !== undefined ? ['log-probs'] : []),
    ...(tokenIds ? ['token ids'] : []),
  ]
  if (asked.length === 0 || ![400, 404, 422, 501].includes(status)) return ''
  return ` (it was asked for ${asked.join(' and ')}, which not every server has)`
}

/** What failed, as a fault whose message names the server and the model and never holds the key. */
function toFaultOf(settings: ResolvedSettings, options: ChatOptions, faults: ReplyModule) {
  const { address, model, apiKey } = settings
  const safe = (said: string) => (apiKey ? said.replaceAll(apiKey, '[key]') : said)
  const kindOf = (error: unknown): ModelFault => {
    const own = ownError(error)
    if (own instanceof ModelFault) return own
    const message = fullErrorMessage(own)
    if (own instanceof AttemptTimeout)
      return new ModelFault('timeout', message, { retryable: 'often' })
    if (own instanceof OversizedReply) return new ModelFault('unparsable', message)
    if (own instanceof SyntaxError)
      return new ModelFault('unparsable', `torn JSON: ${message}`, { retryable: 'often' })
    const { status, headers, code } = Object(own)
    const said =
      typeof code === 'string' && !message.includes(code) ? `${message} (${code})` : message
    return faults.serverFault(typeof status === 'number' ? status : undefined, said, {
      retryAfterMs: retryAfter(headers),
    })
  }
  return (error: unknown): ModelFault => {
    const { kind, message, retryable, retryAfterMs, usage } = kindOf(error)
    const hint = kind === 'refused' ? hintOf(message, settings, options) : ''
    const said = `${address} (model ${model}): ${safe(message)}${hint}`
    return new ModelFault(kind, said, { retryable, retryAfterMs, usage })
  }
}

/** Members of the body that both kinds of request share. */
function sharedBody(settings: ResolvedSettings, options: ChatOptions) {
  const { model, temperature, topP, maxTokens, stop, body } = settings
  const members = {
    seed: options.seed,
    temperature: options.temperature ?? temperature,
    top_p: topP,
    stop: options.stop ?? stop,
    ...(options.tokenIds ? { return_token_ids: true } : {}),
    ...(options.onText ? { stream: true, stream_options: { include_usage: true } } : {}),
  }
  const given = Object.entries(members).filter(([, value]) => value !== undefined)
  const limit = options.maxTokens ?? maxTokens
  return { model, ...Object.fromEntries(given), ...body, limit }
}

/** How each kind of server is told that JSON is wanted. */
const replyFormats = {
  schema: (shape: ReplyShape) => ({
    response_format: { type: 'json_schema', json_schema: { ...shape, strict: true } },
  }),
  object: () => ({ response_format: { type: 'json_object' } }),
  prompt: () => ({}),
} as const

const shapeInWords = ({ schema }: ReplyShape): Message => ({
  role: 'user',
  content: `Reply with one JSON object of this JSON Schema, and nothing else: ${JSON.stringify(schema)}`,
})

/** The members of a message that a server knows, whatever else the object has. */
const wireMessage = ({ role, content, tool_calls, tool_call_id }: Message): Message => ({
  ...{ role, content },
  ...(tool_calls ? { tool_calls } : {}),
  ...(tool_call_id === undefined ? {} : { tool_call_id }),
})

const begun = (prefix: string): Message => ({ role: 'assistant', content: prefix })

/** Tells vLLM and SGLang to go on with the last message; llama.cpp does by itself. */
const continuing = { continue_final_message: true, add_generation_prompt: false }

function chatBody(
  settings: ResolvedSettings,
  messages: readonly Message[],
  options: ChatOptions,
): object {
  const { limit, ...shared } = sharedBody(settings, options)
  const { json: form = 'schema', tokenLimit } = settings
  const { json, tools, prefix, logprobs, topLogprobs } = options
  const asked = json && form !== 'schema' ? [...messages, shapeInWords(json)] : messages
  return {
    ...shared,
    messages: (prefix === undefined ? asked : [...asked, begun(prefix)]).map(wireMessage),
    ...(prefix === undefined ? {} : continuing),
    ...(tools ? { tools: tools.map((one) => ({ type: 'function', function: one })) } : {}),
    ...(limit === undefined ? {} : { [tokenLimit]: limit }),
    ...(logprobs || topLogprobs !== undefined ? { logprobs: true } : {}),
    ...(topLogprobs === undefined ? {} : { top_logprobs: topLogprobs }),
    ...(json ? replyFormats[form](json) : {}),
  }
}

function textBody(
  settings: ResolvedSettings,
  prompt: string | readonly number[],
  options: ChatOptions,
): object {
  const { limit, ...shared } = sharedBody(settings, options)
  const { logprobs, topLogprobs } = options
  return {
    ...shared,
    prompt,
    ...(limit === undefined ? {} : { max_tokens: limit }),
    ...(logprobs || topLogprobs !== undefined ? { logprobs: topLogprobs ?? 0 } : {}),
  }
}

/** The package's client with our transport; retries, limits of time and cancellation are ours. */
async function connect({
  apiKey = 'none',
  baseURL,
  headers,
  timeoutMs,
}: ResolvedSettings): Promise<OpenAI> {
  const [{ default: Client }, { transport }] = await Promise.all([
    import('openai'),
    import('./transport.js'),
  ])
  return new Client({
    ...{ apiKey, baseURL, maxRetries: 0, fetch: transport, defaultHeaders: headers },
    // A sign to the server only; the transport keeps the time.
    timeout: timeoutMs,
    // It would print unreadable pieces of streams, which are faults of their own.
    logLevel: 'off',
  })
}

/** Options of the package's call that hand the limits on to the transport. */
const withLimits = (attempt: AttemptLimits, streamed: boolean) =>
  // The package passes members it does not know on to `fetch`.
  ({ fetchOptions: { attempt, streamed } as object })

/** One kind of request: its body, its route, and the reader of its reply. */
interface Route<Prompt> {
  readonly path: '/chat/completions' | '/completions'
  readonly bodyOf: (settings: ResolvedSettings, prompt: Prompt, options: ChatOptions) => object
  readonly read: (replies: ReplyModule, body: unknown) => ChatReply
}

/** A reply with its given beginning, which some servers repeat and some do not. */
const withPrefix = ({ prefix = '' }: ChatOptions, reply: ChatReply): ChatReply =>
  reply.text.startsWith(prefix) ? reply : { ...reply, text: prefix + reply.text }

/** The body of a reply whose model said nothing. */
const nothingSaid = { choices: [{ message: { content: '' }, finish_reason: 'stop' }] }

/** llama.cpp answers 500 where the model breaks off a call: that is the model's mistake, and not the server's. */
async function unlessBrokenCall(
  { tools }: ChatOptions,
  post: () => Promise<unknown>,
): Promise<unknown> {
  try {
    return await post()
  } catch (error) {
    const { status } = Object(error)
    const said = fullErrorMessage(error)
    if (tools && status === 500 && /model produced output that does not match/i.test(said))
      return nothingSaid
    throw error
  }
}

let calls = 0

function openModel<Prompt>(given: ModelSettings, { path, bodyOf, read }: Route<Prompt>) {
  const settings = resolveSettings(given)
  const gate = gateOf(settings.address)
  let client: Promise<OpenAI> | undefined
  return async (prompt: Prompt, options: ChatOptions = {}): Promise<ChatReply> => {
    const { onText, signal } = options
    client ??= connect(settings)
    const [api, replies] = await Promise.all([client, loadReplies()])
    const body = bodyOf(settings, prompt, options)
    const send = async (attempt: AttemptLimits): Promise<ChatReply> => {
      const more = withLimits(attempt, onText !== undefined)
      const posted = () => api.post<unknown>(path, { body, ...more })
      if (!onText)
        return withPrefix(options, read(replies, await unlessBrokenCall(options, posted)))
      const pieces = await api.post<AsyncIterable<unknown>>(path, { body, stream: true, ...more })
      return withPrefix(options, await replies.readStream(pieces, onText))
    }
    const limits = { ...settings, signal }
    const toFault = toFaultOf(settings, options, replies)
    return sendUntilAnswered(gate, limits, calls++, send, toFault)
  }
}

/**
 * A chat model behind an OpenAI-compatible server. The `openai` package is loaded with the first call. The key comes
 * from the environment and is sent only to `baseURL`; all models of one server share its limits. A streamed reply that
 * fails is asked for again from its start, so `onText` may hear its beginning twice.
 * @throws Fault `bad-input` for a wrong base URL or a missing key; calls throw a {@link ModelFault} or Fault `aborted`
 */
export const openaiChat = (settings: ModelSettings): Chat =>
  openModel<readonly Message[]>(settings, {
    path: '/chat/completions',
    bodyOf: chatBody,
    read: (replies, body) => replies.readChatReply(body),
  })

/** A completion model behind an OpenAI-compatible server: its prompt is text, or token ids. See {@link openaiChat}. */
export function openaiCompletion(settings: ModelSettings): Complete {
  const complete = openModel<string | readonly number[]>(settings, {
    path: '/completions',
    bodyOf: textBody,
    read: (replies, body) => replies.readTextReply(body),
  })
  return async (prompt, options = {}) => {
    const only = (['json', 'tools', 'prefix'] as const).find((name) => options[name] !== undefined)
    if (only)
      throw new Fault('bad-input', `\`${only}\`: expected a chat model, got a completion model`)
    return complete(prompt, options)
  }
}
