/** What is asked of a server before anything is trained: what it is, what it offers, how large a request may be. */
import { z } from 'zod'
import { Fault } from '../../error.js'
import { retried } from '../../platform/retry.js'
import { adviceOnSubmission } from './advice.js'
import { readCapabilities, type SidecarCapabilities } from './capabilities.js'
import { jsonOf } from './operation.js'
import { type DialectName, profileNames, profileOf, type WireProfile } from './profile.js'
import { exchange, Refusal, requestFault, type Transport } from './transport.js'

/** A base model that the server offers. */
export interface OfferedModel {
  readonly name: string
  /** In tokens, where the server says. */
  readonly contextLength?: number
}

/** The versions of the SDK whose wire is spoken: the last of JSON, and the newest. */
const spokenVersions = { json: '0.24.1', protobuf: '0.38.0' } as const

/** A request whose answer is there at once; undefined where the server does not know the route. @throws Fault */
export async function question(
  transport: Transport,
  route: string,
  body?: object,
): Promise<unknown> {
  const { timeoutMs, maxRetries, backoffMs, closing } = transport
  const what = `${body ? 'POST' : 'GET'} ${route}`
  const bytes = body && new TextEncoder().encode(JSON.stringify(body))
  const headers = body && { 'Content-Type': 'application/json' }
  try {
    const reply = await retried(
      (signal) =>
        exchange(
          transport,
          route,
          bytes && headers ? { body: bytes, headers, signal } : { signal },
        ),
      {
        timeoutMs,
        maxRetries,
        backoffMs,
        maxBackoffMs: 30_000,
        key: transport.nextKey(),
        signal: closing,
        advice: adviceOnSubmission,
      },
    )
    return jsonOf(reply, what)
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return undefined
    throw requestFault(transport, what, error)
  }
}

function read<T>({ address }: Transport, route: string, schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  throw new Fault('model-unreadable', `${address}${route}: ${z.prettifyError(parsed.error)}`)
}

/** A server that was recognised. */
export interface KnownServer {
  readonly profile: WireProfile
  readonly extensions: SidecarCapabilities | undefined
}

/**
 * Which server it is: the one that was named, or our own where it says so.
 * @throws RangeError for a name that is none, Fault `bad-input` where nothing says what it is
 */
export async function recognise(
  transport: Transport,
  named: string | WireProfile | undefined,
): Promise<KnownServer> {
  const profile = typeof named === 'string' ? profileOf(named) : (named ?? profileOf('bedside'))
  if (profile.name !== 'bedside') return { profile, extensions: undefined }
  const answer = await question(transport, '/ext/v1/capabilities')
  if (answer !== undefined)
    return { profile, extensions: readCapabilities(answer, transport.address) }
  throw new Fault(
    'bad-input',
    `${transport.address} is no sidecar of ours (it has no /ext/v1/capabilities): name the server it is, of ${profileNames.join(', ')}`,
  )
}

const Config = z.object({
  fwdbwd_max_chunk_len: z.int().positive().nullish(),
  fwdbwd_max_chunk_bytes_count: z.int().positive().nullish(),
  sample_max_concurrent_requests: z.int().positive().nullish(),
})

/** Of a request, around its data. */
const envelopeBytes = 16_384

/** The profile under the server's own limits, where they are narrower. @throws Fault */
export async function underServerLimits(
  transport: Transport,
  { profile, extensions }: KnownServer,
  dialect: DialectName,
): Promise<WireProfile> {
  const route = '/api/v1/client/config'
  const version = { sdk_version: spokenVersions[dialect] }
  const said = read(transport, route, Config, (await question(transport, route, version)) ?? {})
  const { maxRequestBytes = Infinity } = extensions?.limits ?? {}
  return {
    ...profile,
    maxDatums: Math.min(profile.maxDatums, said.fwdbwd_max_chunk_len ?? Infinity),
    maxBytes: Math.min(
      profile.maxBytes,
      said.fwdbwd_max_chunk_bytes_count ?? Infinity,
      maxRequestBytes - envelopeBytes,
    ),
    sampleMaxConcurrent: Math.min(
      profile.sampleMaxConcurrent,
      said.sample_max_concurrent_requests ?? Infinity,
    ),
  }
}

const Offer = z.object({
  supported_models: z
    .array(z.object({ model_name: z.string().nullish(), max_context_length: z.number().nullish() }))
    .default([]),
})

/** The base models that the server offers. @throws Fault */
export async function offeredModels(transport: Transport): Promise<readonly OfferedModel[]> {
  const route = '/api/v1/get_server_capabilities'
  const { supported_models } = read(
    transport,
    route,
    Offer,
    (await question(transport, route)) ?? {},
  )
  return supported_models.flatMap(({ model_name, max_context_length }) =>
    model_name
      ? [{ name: model_name, ...(max_context_length ? { contextLength: max_context_length } : {}) }]
      : [],
  )
}

/** Opens a session; its id. @throws Fault `bad-input` where the server does not speak the wire */
export async function openSession(transport: Transport, dialect: DialectName): Promise<string> {
  const route = '/api/v1/create_session'
  const answer = await question(transport, route, {
    type: 'create_session',
    tags: ['bedside'],
    user_metadata: {},
    sdk_version: spokenVersions[dialect],
  })
  if (answer === undefined)
    throw new Fault('bad-input', `${transport.address} does not speak the Tinker wire: no ${route}`)
  return read(transport, route, z.object({ session_id: z.string() }), answer).session_id
}
