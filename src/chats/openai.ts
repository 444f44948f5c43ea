/** A chat model behind any OpenAI-compatible server. */
import type OpenAI from 'openai'
import pLimit from 'p-limit'
import type { Chat } from '../chat.js'
import { Fault } from '../error.js'
import { retried, wholeMessage } from '../platform/retry.js'

/** Which server and model, and how patient to be with it. */
export interface OpenaiChatOptions {
  readonly model: string
  /** @default $OPENAI_BASE_URL, or https://api.openai.com/v1 */
  readonly baseURL?: string
  /** The environment variable that holds the key; local servers need none. @default 'OPENAI_API_KEY' */
  readonly apiKeyEnv?: string
  /** For one attempt, from the request to the last byte of the reply. @default 60_000 */
  readonly timeoutMs?: number
  /** After a connection error, a timeout, a 408, 409, 429 or 5xx. @default 3 */
  readonly maxRetries?: number
  /** The wait before the first retry; doubles each time, unless the server says how long. @default 500 */
  readonly backoffMs?: number
  /** Requests at the same time; the rest queue. @default 16 */
  readonly concurrency?: number
  readonly temperature?: number
  readonly maxTokens?: number
}

/** Whether a failed request may go better later: what the server says, where it says something. */
function advice(error: unknown): 'never' | number | undefined {
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

/** The address as it may be printed. @throws Fault `bad-input` when it is none, or carries credentials */
function printable(baseURL: string): string {
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

/** A body that is not JSON although it says so, as the text that `readReply` refuses. */
function notJson(error: unknown): string {
  if (error instanceof SyntaxError) return error.message
  throw error
}

async function connect(apiKey: string, baseURL: string, timeout: number): Promise<OpenAI> {
  const { default: Client } = await import('openai')
  return new Client({ apiKey, baseURL, timeout, maxRetries: 0 })
}

/**
 * A chat model behind an OpenAI-compatible server. The `openai` package is loaded with the first call;
 * the key comes from the environment and is sent nowhere but to `baseURL`.
 * @throws Fault `bad-input` for a base URL that is none; calls throw `model-unavailable`,
 *   `model-unreadable` (a 200 that is no chat completion) or `aborted`
 */
export function openaiChat({
  model,
  baseURL = process.env.OPENAI_BASE_URL || 'https://api.openai.com/v1',
  apiKeyEnv = 'OPENAI_API_KEY',
  timeoutMs = 60_000,
  maxRetries = 3,
  backoffMs = 500,
  concurrency = 16,
  temperature,
  maxTokens,
}: OpenaiChatOptions): Chat {
  const address = printable(baseURL)
  const apiKey = process.env[apiKeyEnv] || 'none'
  const queue = pLimit(concurrency)
  // OpenAI's own models insist on the new name, which other servers do not all know.
  const cap = address.includes('//api.openai.com') ? 'max_completion_tokens' : 'max_tokens'
  let client: Promise<OpenAI> | undefined
  let calls = 0
  return async (messages, options = {}) => {
    client ??= connect(apiKey, baseURL, timeoutMs)
    const { chat } = await client
    const heat = options.temperature ?? temperature
    const most = options.maxTokens ?? maxTokens
    const request = {
      model,
      messages: messages.map(({ role, content }) => ({ role, content })),
      ...(options.seed === undefined ? {} : { seed: options.seed }),
      ...(heat === undefined ? {} : { temperature: heat }),
      ...(most === undefined ? {} : { [cap]: most }),
    }
    const { readReply } = await import('./reply.js')
    const ask = async (signal: AbortSignal) =>
      readReply(address, await chat.completions.create(request, { signal }).catch(notJson))
    const key = calls++
    const { signal } = options
    try {
      return await retried(ask, { timeoutMs, maxRetries, backoffMs, key, signal, advice, queue })
    } catch (error) {
      if (Fault.is(error)) throw error
      // No `cause`: a server may echo the key in its message.
      const message = wholeMessage(error)
      const safe = apiKey === 'none' ? message : message.replaceAll(apiKey, '[key]')
      throw new Fault('model-unavailable', `${address} (model ${model}): ${safe}`)
    }
  }
}
