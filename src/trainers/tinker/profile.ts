/**
 * What is known of each server that speaks the Tinker wire, where they differ.
 *
 * `bedside` is our own and is tested against. All others are written from their source (`read`): nobody ran this
 * client against them yet. Nothing here is guessed at run time: a server that is not named must be asked for.
 */

/** How requests of `forward_backward` and results are encoded; everything else is JSON. */
export type DialectName = 'json' | 'protobuf'

export interface WireProfile {
  readonly name: string
  /** Whether this client was run against it, or only written from its source. */
  readonly checked: 'run' | 'read'
  /** What it speaks, the preferred first. */
  readonly dialects: readonly DialectName[]
  /** Losses of the wire that it knows. */
  readonly losses: readonly string[]
  /** `sum` over tokens, or per sequence divided by the sum of its weights, then by the sequences. */
  readonly lossScale: 'sum' | 'seq-mean-weights'
  /** Importance ratios above are cut off by `importance_sampling`, which should have no bound. */
  readonly ratioCap?: number
  /** Whether `optim_step` clips gradients. */
  readonly gradClip: boolean
  /** Whether a second reading of a result fails. */
  readonly retrieveOnce: boolean
  /** What an HTTP error of `retrieve_future` with one of these says is final. */
  readonly failureStatuses: readonly number[]
  /** A pass without gradients: its own JSON route, or a flag of the protobuf request. */
  readonly forward: { readonly json: 'forward'; readonly protobuf: 'forward' | 'forward-only' }
  /** Whether `load_weights` is any operation, or only a new model's first. */
  readonly load: 'any' | 'first'
  /** Of one request; a larger batch is split. */
  readonly maxDatums: number
  readonly maxBytes: number
  readonly sampleMaxConcurrent: number
  /** How long one question for a result may stay open. */
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
  maxDatums: 1024,
  maxBytes: 5_000_000,
  sampleMaxConcurrent: 512,
  pollTimeoutMs: 45_000,
}

// It waits 300 s before it says try again.
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

/** Every server known by name. */
export const profileNames: readonly string[] = profiles.map(({ name }) => name)

/** What is known of a server. @throws RangeError listing the names */
export function profileOf(name: string): WireProfile {
  const found = profiles.find((profile) => profile.name === name)
  if (found) return found
  throw new RangeError(`Expected a server of ${profileNames.join(', ')}, got \`${name}\``)
}

/** The dialect to speak with a server. @throws RangeError for one that it does not know */
export function dialectOf(profile: WireProfile, wanted?: DialectName): DialectName {
  const dialect = wanted ?? profile.dialects[0]
  if (dialect !== undefined && profile.dialects.includes(dialect)) return dialect
  throw new RangeError(
    `Expected a dialect of ${profile.name}: ${profile.dialects.join(' or ')}, got \`${dialect}\``,
  )
}
