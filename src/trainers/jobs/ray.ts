/**
 * Client of Ray's Jobs REST API: submit with a package, look, follow the log, stop. Written against Ray 2.60; an id of
 * the caller's choice makes a submission idempotent.
 */
import http from 'node:http'
import https from 'node:https'
import { WebSocket } from 'ws'
import { z } from 'zod'
import { errorMessage, Fault } from '../../error.js'
import { fullErrorMessage, pause, retry } from '../../platform/retry.js'
import type { EnvironmentVariables } from '../sidecar/program.js'
import { HttpRefusal, serverAddress, serverMessage } from '../tinker/transport.js'
import { hasEnded, type JobSpec, type JobState, type Jobs } from './job.js'
import { packageName, zipFiles } from './package.js'

/** Options of {@link rayJobs}. */
export interface RayJobsOptions {
  /** Address of the dashboard, `http://HOST:8265`. */
  readonly address: string
  /** `RAY_AUTH_TOKEN`, and `RAY_JOB_HEADERS` as Ray's own command line reads them. @default process.env */
  readonly env?: EnvironmentVariables
  /** Deadline of a request, in ms. @default 20,000 */
  readonly timeoutMs?: number
  /** Attempts after the first. @default 4 */
  readonly maxRetries?: number
}

const Details = z.object({
  status: z.enum(['PENDING', 'RUNNING', 'STOPPED', 'SUCCEEDED', 'FAILED']),
  message: z.string().nullish(),
  driver_exit_code: z.number().nullish(),
})

const Logs = z.object({
  logs: z
    .string()
    .nullish()
    .transform((logs) => logs ?? ''),
})

/** What a job is taken for that nobody can be asked about. */
const running: JobState = { status: 'running', message: '' }

const Version = z.object({ ray_version: z.string() })

const Headers = z.record(z.string(), z.string())

/** Headers that every request carries. @throws Fault `bad-input`, which never shows them */
function headersOf({ RAY_AUTH_TOKEN, RAY_JOB_HEADERS }: EnvironmentVariables) {
  let given: Readonly<Record<string, string>> = {}
  if (RAY_JOB_HEADERS) {
    try {
      given = Headers.parse(JSON.parse(RAY_JOB_HEADERS))
    } catch {
      throw new Fault('bad-input', 'RAY_JOB_HEADERS: expected a JSON object of texts')
    }
  }
  return { ...given, ...(RAY_AUTH_TOKEN ? { authorization: `Bearer ${RAY_AUTH_TOKEN}` } : {}) }
}

interface Api {
  readonly address: string
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly maxRetries: number
}

interface ApiRequest {
  readonly method?: 'GET' | 'POST' | 'PUT'
  readonly body?: Uint8Array | string
  /** Deadline in ms. @default that of the client */
  readonly timeoutMs?: number
}

/** One request. Not by `fetch`: its headers are those of a browser, whose uploads Ray refuses. */
const request = (
  url: string,
  options: http.RequestOptions,
  body: ApiRequest['body'] = '',
): Promise<{ readonly status: number; readonly text: string }> =>
  new Promise((resolve, reject) => {
    const client = url.startsWith('https:') ? https : http
    const sent = client.request(url, options, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject)
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
      )
    })
    sent.on('error', reject).end(body)
  })

/** What is to be told of an answer: of a traceback, its last error. */
const essence = (text: string): string =>
  text
    .trim()
    .split('\n')
    .findLast((line) => /^[\w.]*(?:Error|Exception|Exit)\b/.test(line)) ?? text

/** One request with its retries: a network that fails, and what a proxy says while the head starts. */
async function ask({ address, headers, ...api }: Api, route: string, asked: ApiRequest = {}) {
  const { method = 'GET', body, timeoutMs = api.timeoutMs } = asked
  const attempt = async (signal: AbortSignal): Promise<string> => {
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
    const options = { method, headers: { ...headers, ...length }, signal }
    const { status, text } = await request(`${address}${route}`, options, body)
    if (status >= 200 && status < 300) return text
    throw new HttpRefusal(status, serverMessage(essence(text)), undefined)
  }
  try {
    return await retry(attempt, {
      ...{ timeoutMs, maxRetries: api.maxRetries, backoffMs: 250, maxBackoffMs: 4000, key: 0 },
      retryDelay: (error) =>
        error instanceof HttpRefusal && ![502, 503, 504].includes(error.status)
          ? 'never'
          : undefined,
    })
  } catch (error) {
    if (error instanceof HttpRefusal) throw error
    throw new Fault(
      'model-unavailable',
      `${method} ${address}${route}: ${fullErrorMessage(error)}`,
      { cause: error },
    )
  }
}

/** A refusal as a Fault: a token that is not the right one, or a request that this Ray does not take. */
function refusalFault({ address }: Api, what: string, error: unknown): unknown {
  if (!(error instanceof HttpRefusal)) return error
  const hint =
    error.status === 401 || error.status === 403
      ? ' (it asks for a token: set RAY_AUTH_TOKEN, or RAY_JOB_HEADERS for another header)'
      : ''
  return new Fault('bad-input', `${address}: ${what}: ${error.message}${hint}`)
}

/** Follows a log over its WebSocket. @returns whether the server said that it has ended */
function tail(
  { address, headers }: Api,
  id: string,
  onText: (text: string) => void,
  signal: AbortSignal,
): Promise<boolean> {
  return new Promise((resolve) => {
    const url = `${address.replace(/^http/, 'ws')}/api/jobs/${id}/logs/tail`
    const socket = new WebSocket(url, { headers: { ...headers } })
    const stop = () => socket.terminate()
    signal.addEventListener('abort', stop, { once: true })
    socket.on('message', (data) => onText(String(data)))
    socket.on('error', () => undefined)
    socket.on('close', (code) => {
      signal.removeEventListener('abort', stop)
      resolve(code === 1000)
    })
  })
}

/** Uploads a job's files, where the cluster does not have them. @returns the URI of their package */
async function upload(api: Api, files: JobSpec['files']): Promise<string> {
  const zip = zipFiles(files)
  const name = packageName(zip)
  const route = `/api/packages/gcs/${name}`
  const there = await ask(api, route).catch((error) => {
    if (error instanceof HttpRefusal && error.status === 404) return undefined
    throw refusalFault(api, 'looking for the package', error)
  })
  if (there === undefined)
    await ask(api, route, { method: 'PUT', body: zip, timeoutMs: 120_000 }).catch((error) => {
      throw refusalFault(api, `uploading ${zip.length} bytes`, error)
    })
  return `gcs://${name}`
}

/** Words of one command line for a POSIX shell: Ray hands the entrypoint to one. */
export const shellLine = (words: readonly string[]): string =>
  words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(' ')

async function submit(api: Api, { id, command, env, files }: JobSpec): Promise<boolean> {
  const working = files.size === 0 ? {} : { working_dir: await upload(api, files) }
  const body = JSON.stringify({
    ...{ entrypoint: shellLine(command), submission_id: id },
    ...{ runtime_env: { env_vars: env, ...working }, metadata: { submitted_by: 'bedside' } },
  })
  try {
    await ask(api, '/api/jobs/', { method: 'POST', body })
    return true
  } catch (error) {
    // Also after a submission whose answer was lost.
    if (error instanceof HttpRefusal && error.message.includes('already exists')) return false
    throw refusalFault(api, 'submitting the job', error)
  }
}

async function state(api: Api, id: string): Promise<JobState | undefined> {
  const text = await ask(api, `/api/jobs/${id}`).catch((error) => {
    if (error instanceof HttpRefusal && error.status === 404) return undefined
    throw refusalFault(api, `asking for the job ${id}`, error)
  })
  if (text === undefined) return undefined
  const { status, message, driver_exit_code } = Details.parse(JSON.parse(text))
  return {
    status: status.toLowerCase() as JobState['status'], // the same names
    message: message ?? '',
    exitCode: driver_exit_code ?? undefined,
  }
}

/** @throws Fault `bad-input` where no Ray answers */
async function check(api: Api): Promise<void> {
  const { address } = api
  try {
    Version.parse(JSON.parse(await ask({ ...api, maxRetries: 1 }, '/api/version')))
  } catch (error) {
    if (error instanceof HttpRefusal) throw refusalFault(api, 'asking for its version', error)
    const why = Fault.is(error) ? error.message : `no Ray dashboard: ${errorMessage(error)}`
    throw new Fault(
      'bad-input',
      `cluster.ray: expected the dashboard of a Ray head at ${address}, got ${why}; start one with \`ray start --head --dashboard-host 127.0.0.1\`, or give its address`,
      { cause: error },
    )
  }
}

/** Follows a log to the end of its job, over connections that break. */
async function followLog(
  api: Api,
  id: string,
  onText: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  for (let seen = 0; !signal.aborted; ) {
    // Each connection tells the log from its beginning.
    let told = 0
    const tellNew = (text: string): void => {
      const from = Math.max(0, seen - told)
      told += text.length
      if (told > seen) onText(text.slice(from))
      seen = Math.max(seen, told)
    }
    const whole = await tail(api, id, tellNew, signal)
    if (whole || hasEnded((await state(api, id).catch(() => undefined)) ?? running)) {
      const rest = await ask(api, `/api/jobs/${id}/logs`).catch(() => '{}')
      return onText(Logs.parse(JSON.parse(rest)).logs.slice(seen))
    }
    await pause(500, signal)
  }
}

/** Jobs of a Ray cluster, through its dashboard. @throws Fault `bad-input` for an address that is none */
export function rayJobs(options: RayJobsOptions): Jobs {
  const { env = process.env, timeoutMs = 20_000, maxRetries = 4 } = options
  const address = serverAddress(options.address)
  const api = { address, headers: headersOf(env), timeoutMs, maxRetries }
  return {
    place: `Ray at ${address}`,
    check: () => check(api),
    submit: (spec) => submit(api, spec),
    state: (id) => state(api, id),
    follow: (id, onText, signal) => followLog(api, id, onText, signal),
    async stop(id) {
      await ask(api, `/api/jobs/${id}/stop`, { method: 'POST' }).catch((error) => {
        if (!(error instanceof HttpRefusal && error.status === 404))
          throw refusalFault(api, `stopping the job ${id}`, error)
      })
    },
  }
}
