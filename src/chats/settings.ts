/** Settings of a model behind an OpenAI-compatible server, and the checks that need no request. */
import { Fault } from '../error.js'

/** Server, model, sampling and the limits of its calls. */
export interface ModelSettings {
  readonly model: string
  /** @default $OPENAI_BASE_URL, or https://api.openai.com/v1 */
  readonly baseURL?: string
  /** Environment variable with the API key; local servers need none. @default 'OPENAI_API_KEY' */
  readonly apiKeyEnv?: string
  /** Headers beside those of the API; none that carries a key. */
  readonly headers?: Readonly<Record<string, string>>
  readonly temperature?: number
  readonly topP?: number
  readonly maxTokens?: number
  /** Strings that end a reply. */
  readonly stop?: readonly string[]
  /** Members of the request's body that only some servers know, as `top_k` or `chat_template_kwargs`. */
  readonly body?: Readonly<Record<string, unknown>>
  /**
   * How JSON is asked for: by its schema, as any JSON object, or in the prompt alone, for servers that know neither.
   * @default 'schema'
   */
  readonly json?: 'schema' | 'object' | 'prompt'
  /** Deadline of one request, from its start to the last byte of the reply. @default 60_000 */
  readonly timeoutMs?: number
  /** Deadline of a call with all its retries and waits, from the start of its first request. @default 300_000 */
  readonly deadlineMs?: number
  /** Retries after a failed connection, a timeout, a 408, 409, 5xx or a torn reply; a 429 is outlasted. @default 3 */
  readonly maxRetries?: number
  /** Wait before the first retry; doubles each time, unless the server gives a delay. @default 500 */
  readonly backoffMs?: number
  /** Requests at once at the server, those of its other models and roles counted; the rest queue. @default 16 */
  readonly concurrency?: number
  /** Requests begun per minute at the server. @default no limit */
  readonly requestsPerMinute?: number
}

/** The URL as it may be printed. @throws Fault `bad-input` for an invalid URL or one with credentials */
function printableUrl(baseURL: string, model: string): string {
  const url = URL.canParse(baseURL) ? new URL(baseURL) : undefined
  if (url?.username || url?.password)
    throw new Fault(
      'bad-input',
      `model ${model}: expected a base URL without credentials (they belong in the environment), got one for \`${url.host}\``,
    )
  if (!url || !/^https?:$/.test(url.protocol))
    throw new Fault(
      'bad-input',
      `model ${model}: expected an http(s) base URL such as http://localhost:8000/v1 (--base-url, base-url of its role, or OPENAI_BASE_URL), got \`${baseURL}\``,
    )
  return `${url.origin}${url.pathname}`.replace(/\/$/, '')
}

const carriesKey = (name: string): boolean => /^(authorization|cookie|.*api-?key)$/i.test(name)

/** Checks headers. @throws Fault `bad-input` for one that would carry a key */
function checkHeaders(headers: Readonly<Record<string, string>>): void {
  const name = Object.keys(headers).find(carriesKey)
  if (name !== undefined)
    throw new Fault(
      'bad-input',
      `Expected headers without a key, got \`${name}\`; the key belongs in the environment variable that \`apiKeyEnv\` names`,
    )
}

/** Settings with their defaults, the server's printable address and its key. */
export type ResolvedSettings = ReturnType<typeof resolveSettings>

/** Fills in defaults and reads the key. @throws Fault `bad-input` for a wrong URL, a header with a key, or a missing key */
export function resolveSettings({
  baseURL = process.env.OPENAI_BASE_URL || 'https://api.openai.com/v1',
  apiKeyEnv = 'OPENAI_API_KEY',
  headers = {},
  timeoutMs = 60_000,
  deadlineMs = 300_000,
  maxRetries = 3,
  backoffMs = 500,
  concurrency = 16,
  ...settings
}: ModelSettings) {
  const address = printableUrl(baseURL, settings.model)
  checkHeaders(headers)
  const apiKey = process.env[apiKeyEnv] || undefined
  // OpenAI's own models require the new name, which not all other servers know.
  const hosted = address.includes('//api.openai.com')
  if (hosted && apiKey === undefined)
    throw new Fault(
      'bad-input',
      `model ${settings.model}: ${address} needs a key; set the environment variable ${apiKeyEnv}, or the base URL of a server of your own`,
    )
  const limits = { timeoutMs, deadlineMs, maxRetries, backoffMs, concurrency }
  const tokenLimit = hosted ? 'max_completion_tokens' : 'max_tokens'
  return { ...settings, ...limits, baseURL, address, apiKey, apiKeyEnv, headers, tokenLimit }
}
