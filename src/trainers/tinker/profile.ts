/**
 * Profiles of the servers that speak the Tinker wire: where their behaviour differs.
 *
 * `bedside` is our own sidecar, and this client is tested against it. The other profiles were written from the
 * servers' source (`read`); this client has not run against them yet. No server is detected by guessing: one that is
 * not our sidecar must be named.
 */

/** Encoding of `forward_backward` requests and of results; everything else is JSON. */
export type DialectName = 'json' | 'protobuf'

/** Behaviour of one server on the Tinker wire: dialects, losses, quirks and limits. */
export interface WireProfile {
  readonly name: string
  /** `run`: this client was run against the server. `read`: the profile was written from its source. */
  readonly checked: 'run' | 'read'
  /** Supported dialects, the preferred first. */
  readonly dialects: readonly DialectName[]
  /** Losses of the wire that it supports. */
  readonly losses: readonly string[]
  /** `sum` over tokens; or per sequence divided by the sum of its weights, then by the number of sequences. */
  readonly lossScale: 'sum' | 'seq-mean-weights'
  /** Cap that `importance_sampling` puts on importance ratios; the wire specifies none. */
  readonly ratioCap?: number
  /** Whether `optim_step` clips gradients. */
  readonly gradClip: boolean
  /** Whether a result can be retrieved only once. */
  readonly retrieveOnce: boolean
  /** HTTP statuses of `retrieve_future` that mean the operation failed for good. */
  readonly failureStatuses: readonly number[]
  /** A pass without gradients: its own JSON route, or a flag of the protobuf request. */
  readonly forward: { readonly json: 'forward'; readonly protobuf: 'forward' | 'forward-only' }
  /** Whether `load_weights` may be any operation, or only a new model's first. */
  readonly load: 'any' | 'first'
  /** Whether a refused request uses up its number, so that later ones do not wait for it. */
  readonly refusalUsesNumber: boolean
  /** Most data of one request; a larger batch is split. */
  readonly maxDatums: number
  readonly maxBytes: number
  readonly sampleMaxConcurrent: number
  /** Deadline of one poll for a result. */
  readonly pollTimeoutMs: number
}

const wireLosses = ['cross_entropy', 'importance_sampling', 'ppo', 'cispo'] as const

const reference: WireProfile = {
  name: 'tinker',
  checked: 'read',
  dialects: ['protobuf', 'json'],
  losses: [...wireLosses, 'dro'],
  lossScale: 'sum',
  gradClip: true,
  retrieveOnce: false,
  failureStatuses: [],
  forward: { json: 'forward', protobuf: 'forward-only' },
  load: 'first',
  refusalUsesNumber: false,
  maxDatums: 1024,
  maxBytes: 5_000_000,
  sampleMaxConcurrent: 512,
  pollTimeoutMs: 45_000,
}

// Its polls wait 300 s before they answer try again.
const skyrl: WireProfile = {
  ...reference,
  name: 'skyrl-fsdp',
  dialects: ['json', 'protobuf'],
  losses: [...wireLosses, 'gspo'],
  gradClip: false,
  failureStatuses: [400, 500],
  pollTimeoutMs: 290_000,
}

const profiles: readonly WireProfile[] = [
  {
    ...reference,
    name: 'bedside',
    checked: 'run',
    load: 'any',
    refusalUsesNumber: true,
    sampleMaxConcurrent: 256,
  },
  reference,
  skyrl,
  { ...skyrl, name: 'skyrl-jax', lossScale: 'seq-mean-weights' },
  {
    ...reference,
    name: 'verl-tinker',
    dialects: ['json'],
    ratioCap: 2,
    gradClip: false,
    retrieveOnce: true,
    load: 'any',
  },
  { ...reference, name: 'tuft', dialects: ['protobuf'], failureStatuses: [422] },
]

/** Names of the known servers. */
export const profileNames: readonly string[] = profiles.map(({ name }) => name)

/** Returns the profile of a server by its name. @throws RangeError listing the names */
export function getProfile(name: string): WireProfile {
  const found = profiles.find((profile) => profile.name === name)
  if (found) return found
  throw new RangeError(`Expected a server of ${profileNames.join(', ')}, got \`${name}\``)
}

/** Chooses the dialect for a server: the wanted one, or its preferred. @throws RangeError if unsupported */
export function chooseDialect(profile: WireProfile, wanted?: DialectName): DialectName {
  const dialect = wanted ?? profile.dialects[0]
  if (dialect !== undefined && profile.dialects.includes(dialect)) return dialect
  throw new RangeError(
    `Expected a dialect of ${profile.name}: ${profile.dialects.join(' or ')}, got \`${dialect}\``,
  )
}
