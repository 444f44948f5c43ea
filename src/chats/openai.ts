/** Chat models behind OpenAI-compatible servers, with retries, timeouts and a concurrency limit. */
import type OpenAI from 'openai'
import pLimit from 'p-limit'
import type { Chat, ChatOptions, Message } from '../chat.js'
import { Fault } from '../error.js'
import { fullErrorMessage, retry } from '../platform/retry.js'

/** Server, model, and limits of its calls. */
export interface OpenaiChatOptions {
  readonly model: string
  /** @default $OPENAI_BASE_URL, or https://api.openai.com/v1 */
  readonly baseURL?: string
  /** Environment variable with the API key; local servers need none. @default 'OPENAI_API_KEY' */
  readonly apiKeyEnv?: string
  /** Deadline of one attempt, from the request to the last byte of the reply. @default 60_000 */
  readonly timeoutMs?: number
  /** Retries after a connection error, a timeout, a 408, 409, 429 or 5xx. @default 3 */
  readonly maxRetries?: number
  /** Wait before the first retry; doubles each time, unless the server gives a delay. @default 500 */
  readonly backoffMs?: number
  /** Concurrent requests; the rest queue. @default 16 */
  readonly concurrency?: number
  readonly temperature?: number
  readonly maxTokens?: number
}

/** Delay before a retry of a failed request, from the server's headers where it sends them. */
function retryDelay(error: unknown): 'never' | number | undefined {
  if (Fault.is(error)) return 'never'
  const { status, headers } = Object(error)
  if (typeof status !== 'number') return undefined
  if (status < 500 && ![408, 409, 429].includes(status)) return 'never'
  const header = (name: string) =>
    Number.parseFloat((headers instanceof Headers && headers.get(name)) || '')
  const ms = header('retry-after-ms')
  const seconds = header('retry-after')
  const asked = Number.isFinite(ms) ? ms : seconds * 1000
  if (!Number.isFinite(asked) || asked < 0) return undefined
  // A server that asks for more than a minute is down for this run.
  return asked > 60_000 ? 'never' : asked
}

/** The URL as it may be printed. @throws Fault `bad-input` for an invalid URL or one with credentials */
function printableUrl(baseURL: string): string {
  const url = URL.canParse(baseURL) ? new URL(baseURL) : undefined
  if (url?.username || url?.password)
    throw new Fault(
      'bad-input',
      `Expected a base URL without credentials (they belong in the environment), got one for \`${url.host}\``,
    )
  if (!url || !/^https?:$/.test(url.protocol))
    throw new Fault('bad-input', `Expected an http(s) base URL, got \`${baseURL}\``)
  return `${url.origin}${url.pathname}`.replace(/\/$/, '')
}

/** Turns the error of a body with invalid JSON into text that `readReply` refuses. */
function asUnreadableBody(error: unknown): string {
  if (error instanceof SyntaxError) return error.message
  throw error
}

async function connect(apiKey: string, baseURL: string, timeout: number): Promise<OpenAI> {
  const { default: Client } = await import('openai')
  return new Client({ apiKey, baseURL, timeout, maxRetries: 0 })
}

/** The body of a request; `tokenLimit` is the server's name of the limit on new tokens. */
function requestBody(
  { model, temperature, maxTokens }: OpenaiChatOptions,
  tokenLimit: string,
  messages: readonly Message[],
  options: ChatOptions,
) {
  const heat = options.temperature ?? temperature
  const most = options.maxTokens ?? maxTokens
  return {
    model,
    messages: messages.map(({ role, content }) => ({ role, content })),
    ...(options.seed === undefined ? {} : { seed: options.seed }),
    ...(heat === undefined ? {} : { temperature: heat }),
    ...(most === undefined ? {} : { [tokenLimit]: most }),
  }
}

/** An error of the server as a fault. It has no `cause`, because a server may echo the key in its message. */
function toFault(error: unknown, server: string, apiKey: string): Fault {
  if (Fault.is(error)) return error
  const message = fullErrorMessage(error)
  const safe = apiKey === 'none' ? message : message.replaceAll(apiKey, '[key]')
  return new Fault('model-unavailable', `${server}: ${safe}`)
}

/**
 * A chat model behind an OpenAI-compatible server. The `openai` package is loaded with the first call.
 * The key comes from the environment and is sent only to `baseURL`.
 * @throws Fault `bad-input` for an invalid base URL; calls throw `model-unavailable`,
 *   `model-unreadable` (a 200 without a chat completion) or `aborted`
 */
export function openaiChat(options: OpenaiChatOptions): Chat {
  const {
    model,
    baseURL = process.env.OPENAI_BASE_URL || 'https://api.openai.com/v1',
    apiKeyEnv = 'OPENAI_API_KEY',
    timeoutMs = 60_000,
    maxRetries = 3,
    backoffMs = 500,
    concurrency = 16,
  } = options
  const address = printableUrl(baseURL)
  const apiKey = process.env[apiKeyEnv] || 'none'
  const queue = pLimit(concurrency)
  // OpenAI's own models require the new name, which not all other servers know.
  const tokenLimit = address.includes('//api.openai.com') ? 'max_completion_tokens' : 'max_tokens'
  let client: Promise<OpenAI> | undefined
  let calls = 0
  return async (messages, call = {}) => {
    client ??= connect(apiKey, baseURL, timeoutMs)
    const { chat } = await client
    const request = requestBody(options, tokenLimit, messages, call)
    const { readReply } = await import('./reply.js')
    const ask = async (signal: AbortSignal) =>
      readReply(address, await chat.completions.create(request, { signal }).catch(asUnreadableBody))
    const key = calls++
    const limits = { timeoutMs, maxRetries, backoffMs, key, signal: call.signal, queue }
    try {
      return await retry(ask, { ...limits, retryDelay: retryDelay })
    } catch (error) {
      throw toFault(error, `${address} (model ${model})`, apiKey)
    }
  }
}
