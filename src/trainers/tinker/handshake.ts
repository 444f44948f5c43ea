/** Handshake with a server: identifies it, reads its models and request limits, and opens a session. */
import { z } from 'zod'
import { Fault } from '../../error.js'
import { parseJsonReply, readFields } from './operation.js'
import { type DialectName, getProfile, profileNames, type WireProfile } from './profile.js'
import {
  HttpRefusal,
  requestFault,
  retryRequest,
  sendRequest,
  type Transport,
} from './transport.js'

/** A base model that the server offers. */
export interface OfferedModel {
  readonly name: string
  /** In tokens; absent when the server does not report it. */
  readonly contextLength?: number
}

/** SDK version sent for each dialect: the last with a JSON wire, and the newest. */
const sdkVersions = { json: '0.24.1', protobuf: '0.38.0' } as const

/** Sends a request that is answered at once with JSON; undefined for status 404. @throws Fault */
export async function requestJson(
  transport: Transport,
  route: string,
  body?: object,
): Promise<unknown> {
  const what = `${body ? 'POST' : 'GET'} ${route}`
  const bytes = body && {
    body: new TextEncoder().encode(JSON.stringify(body)),
    headers: { 'Content-Type': 'application/json' },
  }
  try {
    const reply = await retryRequest(transport, transport.closing, (signal) =>
      sendRequest(transport, route, { ...bytes, signal }),
    )
    return parseJsonReply(reply, what)
  } catch (error) {
    if (error instanceof HttpRefusal && error.status === 404) return undefined
    throw requestFault(transport, what, error)
  }
}

/** What our own sidecar reports at `/ext/v1/capabilities`, an extension of the Tinker wire. */
const capabilitiesSchema = z.object({
  /** Engine that runs: `peft`, `unsloth` … */
  engine: z.string(),
  device: z.string(),
  dtype: z.string(),
  versions: z.record(z.string(), z.string()),
  model: z.object({
    name: z.string(),
    path: z.string(),
    arch: z.string(),
    contextLength: z.int(),
    vocabSize: z.int(),
    parameters: z.number(),
    tiedEmbeddings: z.boolean(),
  }),
  modes: z.array(z.string()),
  heads: z.array(z.string()),
  exports: z.array(z.string()),
  losses: z.array(z.string()),
  /** Settings that each loss takes: `number`, or the words of which it is one; servers of before said none. */
  lossSettings: z
    .record(z.string(), z.record(z.string(), z.union([z.literal('number'), z.array(z.string())])))
    .default({}),
  /** What does not hold on the server's machine, in sentences. */
  notes: z.array(z.string()).optional(),
  /** Folder that `tinker://` paths are relative to. */
  state: z.string(),
  limits: z.record(z.string(), z.number()),
})

/** Sidecar capabilities: engine, device, model, training modes, heads, export formats, losses and limits. */
export type SidecarCapabilities = z.infer<typeof capabilitiesSchema>

/** An identified server; only our own sidecar has `extensions`. */
export interface IdentifiedServer {
  readonly profile: WireProfile
  readonly extensions: SidecarCapabilities | undefined
}

/**
 * Identifies the server: the named one, or by default our own sidecar, which must answer its capabilities route.
 * @throws RangeError for an unknown name, Fault `bad-input` for an unnamed server that is not our sidecar
 */
export async function identifyServer(
  transport: Transport,
  named: string | WireProfile | undefined,
): Promise<IdentifiedServer> {
  const profile = typeof named === 'string' ? getProfile(named) : (named ?? getProfile('bedside'))
  if (profile.name !== 'bedside') return { profile, extensions: undefined }
  const route = '/ext/v1/capabilities'
  const answer = await requestJson(transport, route)
  if (answer !== undefined)
    return {
      profile,
      extensions: readFields(answer, `${transport.address}${route}`, capabilitiesSchema),
    }
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

/** Bytes reserved in a request for everything but its data. */
const envelopeBytes = 16_384

/** Returns the profile with its limits lowered to the server's own. @throws Fault */
export async function applyServerLimits(
  transport: Transport,
  { profile, extensions }: IdentifiedServer,
  dialect: DialectName,
): Promise<WireProfile> {
  const route = '/api/v1/client/config'
  const version = { sdk_version: sdkVersions[dialect] }
  const answer = (await requestJson(transport, route, version)) ?? {}
  const limits = readFields(answer, `${transport.address}${route}`, Config)
  const { maxRequestBytes = Infinity } = extensions?.limits ?? {}
  return {
    ...profile,
    maxDatums: Math.min(profile.maxDatums, limits.fwdbwd_max_chunk_len ?? Infinity),
    maxBytes: Math.min(
      profile.maxBytes,
      limits.fwdbwd_max_chunk_bytes_count ?? Infinity,
      maxRequestBytes - envelopeBytes,
    ),
    sampleMaxConcurrent: Math.min(
      profile.sampleMaxConcurrent,
      limits.sample_max_concurrent_requests ?? Infinity,
    ),
  }
}

const Offer = z.object({
  supported_models: z
    .array(z.object({ model_name: z.string().nullish(), max_context_length: z.number().nullish() }))
    .default([]),
})

/** Lists the base models that the server offers. @throws Fault */
export async function listOfferedModels(transport: Transport): Promise<readonly OfferedModel[]> {
  const route = '/api/v1/get_server_capabilities'
  const answer = (await requestJson(transport, route)) ?? {}
  const { supported_models } = readFields(answer, `${transport.address}${route}`, Offer)
  return supported_models.flatMap(({ model_name, max_context_length }) =>
    model_name
      ? [{ name: model_name, ...(max_context_length ? { contextLength: max_context_length } : {}) }]
      : [],
  )
}

/** Opens a session and returns its id. @throws Fault `bad-input` if the server does not speak the wire */
export async function openSession(transport: Transport, dialect: DialectName): Promise<string> {
  const route = '/api/v1/create_session'
  const answer = await requestJson(transport, route, {
    type: 'create_session',
    tags: ['bedside'],
    user_metadata: {},
    sdk_version: sdkVersions[dialect],
  })
  if (answer === undefined)
    throw new Fault('bad-input', `${transport.address} does not speak the Tinker wire: no ${route}`)
  const fields = z.object({ session_id: z.string() })
  return readFields(answer, `${transport.address}${route}`, fields).session_id
}
