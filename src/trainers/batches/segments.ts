/** Token segments of an episode: one for each stream of a role's draws. */
import type { TokenSegment } from '../../batch.js'
import type { Draw, Episode, Role } from '../../episode.js'

/** The draws of one role's policies in an episode, stream by stream. */
function groupByStream(episode: Episode, role: Role, policy: string | undefined): Draw[][] {
  const streams = new Map<string, Draw[]>()
  for (const draw of episode.turns.flatMap(({ draws }) => draws ?? [])) {
    if (draw.role !== role || (policy !== undefined && draw.policy !== policy)) continue
    const key = JSON.stringify([draw.policy, draw.stream])
    const stream = streams.get(key)
    if (stream) stream.push(draw)
    else streams.set(key, [draw])
  }
  return [...streams.values()]
}

/** The tokens of a stream, and along those after its first prompt what is known of each that was drawn. */
function streamArrays(stream: readonly Draw[], promptLength: number, advantage: number) {
  const total = stream.reduce((sum, { heard, tokens }) => sum + heard.length + tokens.length, 0)
  const tokens = new Int32Array(total)
  const length = total - promptLength
  const mask = new Uint8Array(length)
  const logprobs = new Float32Array(length)
  const advantages = new Float32Array(length)
  const policyVersions = new Int32Array(length).fill(-1)
  let at = 0
  for (const draw of stream) {
    tokens.set(draw.heard, at)
    at += draw.heard.length
    tokens.set(draw.tokens, at)
    const from = at - promptLength
    at += draw.tokens.length
    const to = at - promptLength
    mask.fill(1, from, to)
    advantages.fill(advantage, from, to)
    const { policyVersion } = draw
    if (typeof policyVersion === 'number') policyVersions.fill(policyVersion, from, to)
    else policyVersions.set(policyVersion, from)
    for (let t = from; t < to; t++) logprobs[t] = draw.logprobs[t - from] ?? Number.NaN
  }
  return { tokens, promptLength, mask, logprobs, advantages, policyVersions }
}

function buildSegment(
  stream: readonly Draw[],
  advantage: number,
  rolloutId: string,
  groupId: string,
): TokenSegment {
  const { role, policy, heard, temperature, logprobMode } = stream[0] as Draw // no stream is empty
  const { stopReason } = stream.at(-1) as Draw
  const arrays = streamArrays(stream, heard.length, advantage)
  return { rolloutId, groupId, role, policy, ...arrays, temperature, logprobMode, stopReason }
}

/** Whose draws to train on. */
export interface SegmentOptions {
  /** @default 'doctor' */
  readonly role?: Role
  /** Only this policy's. @default every policy of the role */
  readonly policy?: string | undefined
}

/**
 * Segments of one role in an episode, with the episode's advantage at every drawn token.
 * More than one segment means that the token stream was not append-only; `forks` counts the breaks.
 */
export function episodeSegments(
  episode: Episode,
  advantage: number,
  groupId: string,
  { role = 'doctor', policy }: SegmentOptions = {},
): { readonly segments: readonly TokenSegment[]; readonly forks: number } {
  const streams = groupByStream(episode, role, policy)
  return {
    segments: streams.map((stream) => buildSegment(stream, advantage, episode.id, groupId)),
    forks: streams.length - new Set(streams.map(([draw]) => draw?.policy)).size,
  }
}

/** Checks that segments can be trained on. @throws RangeError for a temperature of 0 or a mask of the wrong length */
export function assertTrainable(segments: readonly TokenSegment[]): void {
  segments.forEach(({ rolloutId, tokens, promptLength, mask, temperature }, s) => {
    const name = `segments[${s}] of rollout ${rolloutId}`
    if (!(temperature > 0))
      throw new RangeError(`${name}: expected a temperature above 0, got ${temperature}`)
    if (mask.length !== tokens.length - promptLength)
      throw new RangeError(
        `${name}: expected mask of length ${tokens.length - promptLength}, got ${mask.length}`,
      )
  })
}
