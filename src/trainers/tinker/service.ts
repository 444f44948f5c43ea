/** Client of a Tinker server: connection, session heartbeat, and creation of models and samplers. */
import { setMaxListeners } from 'node:events'
import pLimit from 'p-limit'
import { Fault } from '../../error.js'
import { dialects } from './dialect.js'
import {
  applyServerLimits,
  identifyServer,
  listOfferedModels,
  type OfferedModel,
  openSession,
  requestJson,
  type SidecarCapabilities,
} from './handshake.js'
import { createTrainingModel } from './model.js'
import { chooseDialect, type DialectName, type WireProfile } from './profile.js'
import { openSampler, samplingSession } from './sampling.js'
import { createCounter, type Session } from './session.js'
import { serverAddress, type Transport } from './transport.js'
import type { SamplingSession, TrainingModel, WireModelSpec } from './wire.js'

/** Connection to a server of the Tinker wire. */
export interface TinkerService extends AsyncDisposable {
  readonly profile: WireProfile
  readonly dialect: DialectName
  readonly models: readonly OfferedModel[]
  /** Capabilities of our own sidecar; undefined for other servers. */
  readonly extensions: SidecarCapabilities | undefined
  /** Creates a model to train. @throws Fault `bad-input` for a spec that the server cannot make */
  createModel(spec?: WireModelSpec): Promise<TrainingModel>
  /** Opens a sampling session on an untrained base model. */
  baseSampler(baseModel?: string): Promise<SamplingSession>
}

/** Options of {@link connectTinker}. */
export interface ConnectOptions {
  readonly baseUrl: string
  /** @default the environment variable named by `apiKeyEnv` */
  readonly token?: string
  /** @default 'TINKER_API_KEY' */
  readonly apiKeyEnv?: string
  /** One of `profileNames`, or a whole profile. @default 'bedside' */
  readonly profile?: string | WireProfile
  /** @default the server's preferred dialect */
  readonly dialect?: DialectName
  /** Deadline of one request, in ms; polls for results have `pollTimeoutMs`. @default 60_000 */
  readonly timeoutMs?: number
  /** Consecutive attempts after the first before a request fails. @default 8 */
  readonly maxRetries?: number
  /** Wait before the first retry, in ms; doubles each time up to 30 s. @default 500 */
  readonly backoffMs?: number
  /** Interval of the session's heartbeat, in ms. @default 10_000 */
  readonly heartbeatMs?: number
  /** Closes the connection. If its reason is a Fault (the server's process died), pending calls throw it. */
  readonly signal?: AbortSignal | undefined
}

function readToken({ token, apiKeyEnv = 'TINKER_API_KEY' }: ConnectOptions): string {
  const found = token ?? process.env[apiKeyEnv]
  if (found) return found
  throw new Fault('bad-input', `Expected the server's token in $${apiKeyEnv}, which is not set`)
}

/** Picks the wanted base model, or the server's only one. @throws Fault `bad-input` */
const baseModelPicker =
  (models: readonly OfferedModel[], address: string) =>
  (wanted: string | undefined): string => {
    const names = models.map(({ name }) => name)
    const [only, ...others] = names
    if (wanted === undefined && only !== undefined && others.length === 0) return only
    if (wanted !== undefined && (names.length === 0 || names.includes(wanted))) return wanted
    throw new Fault(
      'bad-input',
      `Expected a base model of ${address} (${names.join(', ') || 'it names none'}), got \`${wanted}\``,
    )
  }

/** Checks that the server can create a model of this spec. @throws Fault `bad-input` listing what it supports */
function assertModelSpec(
  spec: WireModelSpec,
  server: string,
  extensions: SidecarCapabilities | undefined,
): void {
  const { mode = 'lora', head = 'language', alpha } = spec
  if (!extensions) {
    if (mode === 'lora' && head === 'language' && alpha === undefined) return
    throw new Fault(
      'bad-input',
      `${server}: expected a LoRA model with a language head and the server's alpha, which is all the wire can say, got ${JSON.stringify(spec)}`,
    )
  }
  for (const [field, known, value] of [
    ['mode', extensions.modes, mode],
    ['head', extensions.heads, head],
  ] as const)
    if (!known.includes(value))
      throw new Fault(
        'bad-input',
        `${server}: expected a ${field} of ${known.join(', ')}, got \`${value}\``,
      )
}

/** Sends session heartbeats until the returned function is called; a lost one is ignored. */
function startHeartbeat(transport: Transport, session: string, ms: number): () => void {
  const beat = () => {
    const body = { type: 'session_heartbeat', session_id: session }
    requestJson({ ...transport, maxRetries: 0 }, '/api/v1/session_heartbeat', body).catch(() => {})
  }
  const timer = setInterval(beat, ms)
  timer.unref()
  return () => clearInterval(timer)
}

/** Signal that aborts with the caller's signal or on `close`, which also removes the listener. */
function closingSignal(outer: AbortSignal | undefined): {
  readonly signal: AbortSignal
  readonly close: () => void
} {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal) // one listener per request in flight
  const follow = () => controller.abort(outer?.reason)
  if (outer?.aborted) follow()
  outer?.addEventListener('abort', follow, { once: true })
  const close = () => {
    outer?.removeEventListener('abort', follow)
    controller.abort(new Fault('aborted', 'the connection to the server was closed'))
  }
  return { signal: controller.signal, close }
}

async function openService(transport: Transport, options: ConnectOptions): Promise<Session> {
  const known = await identifyServer(transport, options.profile)
  const name = chooseDialect(known.profile, options.dialect)
  const profile = await applyServerLimits(transport, known, name)
  const models = await listOfferedModels(transport)
  return {
    id: await openSession(transport, name),
    transport,
    profile,
    dialectName: name,
    dialect: dialects[name],
    models,
    extensions: known.extensions,
    baseModel: baseModelPicker(models, transport.address),
    nextModel: createCounter(),
    nextSampler: createCounter(),
    sampling: pLimit(profile.sampleMaxConcurrent),
  }
}

/**
 * Connects to a server of the Tinker wire. Closing stops the heartbeat and pending requests; models stay on the
 * server until they are unloaded.
 * @throws RangeError for an unknown profile or dialect; Fault `bad-input` for a wrong address or token,
 *   `model-unavailable` for a server that does not answer
 */
export async function connectTinker(options: ConnectOptions): Promise<TinkerService> {
  const { timeoutMs = 60_000, maxRetries = 8, backoffMs = 500, heartbeatMs = 10_000 } = options
  const address = serverAddress(options.baseUrl)
  const token = readToken(options)
  const { signal: closing, close } = closingSignal(options.signal)
  const nextKey = createCounter()
  const transport = { address, token, timeoutMs, maxRetries, backoffMs, closing, nextKey }
  try {
    const session = await openService(transport, options)
    const stop = startHeartbeat(transport, session.id, heartbeatMs)
    const { profile, dialectName, models, extensions } = session
    return {
      profile,
      dialect: dialectName,
      models,
      extensions,
      createModel: async (spec = {}) => {
        assertModelSpec(spec, address, extensions)
        return createTrainingModel(session, spec)
      },
      baseSampler: async (baseModel) => {
        const id = openSampler(session, { base_model: session.baseModel(baseModel) })
        return samplingSession(session, Promise.resolve(await id))
      },
      [Symbol.asyncDispose]: async () => {
        stop()
        close()
      },
    }
  } catch (error) {
    close()
    throw error
  }
}
