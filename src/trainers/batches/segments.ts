/** Token segments of an episode: append-only, with a new segment where a prompt does not extend the last one. */
import type { TokenSegment } from '../../batch.js'
import type { Episode, Sample } from '../../episode.js'

/** Whether `longer` has `part` at index `at`. */
export const hasAt = (longer: readonly number[], part: readonly number[], at: number): boolean => {
  if (longer.length < at + part.length) return false
  for (let i = 0; i < part.length; i++) if (part[i] !== longer[at + i]) return false
  return true
}

/** Whether the prompt of `next` begins with the prompt and drawn tokens of `before`. */
const extendsStream = (before: Sample, next: Sample): boolean =>
  hasAt(next.prompt, before.prompt, 0) && hasAt(next.prompt, before.tokens, before.prompt.length)

/** Splits samples into runs whose prompts extend one another. Each run is one segment. */
function splitRuns(samples: readonly Sample[]): Sample[][] {
  const out: Sample[][] = []
  for (const sample of samples) {
    const open = out.at(-1)
    const before = open?.at(-1)
    if (open && before && extendsStream(before, sample)) open.push(sample)
    else out.push([sample])
  }
  return out
}

function buildSegment(
  run: readonly Sample[],
  advantage: number,
  rolloutId: string,
  groupId: string,
): TokenSegment {
  const first = run[0] as Sample // `splitRuns` makes no empty run
  const last = run.at(-1) as Sample
  const tokens = new Int32Array(last.prompt.length + last.tokens.length)
  tokens.set(last.prompt)
  tokens.set(last.tokens, last.prompt.length)
  const promptLength = first.prompt.length
  const length = tokens.length - promptLength
  const mask = new Uint8Array(length)
  const logprobs = new Float32Array(length)
  const advantages = new Float32Array(length)
  const policyVersions = new Int32Array(length).fill(-1)
  for (const sample of run) {
    const from = sample.prompt.length - promptLength
    const to = from + sample.tokens.length
    mask.fill(1, from, to)
    advantages.fill(advantage, from, to)
    policyVersions.fill(sample.policyVersion, from, to)
    for (let t = from; t < to; t++) logprobs[t] = sample.logprobs[t - from] ?? Number.NaN
  }
  const { temperature, logprobMode } = first
  const perToken = { tokens, promptLength, mask, logprobs, advantages, policyVersions }
  const { stopReason } = last
  return { rolloutId, groupId, ...perToken, temperature, logprobMode, stopReason }
}

/**
 * Segments of one episode, with the episode's advantage at every drawn token.
 * More than one segment means that the token stream was not append-only; `forks` counts the breaks.
 */
export function episodeSegments(
  episode: Episode,
  advantage: number,
  groupId: string,
): { readonly segments: readonly TokenSegment[]; readonly forks: number } {
  const samples = episode.turns.flatMap((turn) => (turn.sample ? [turn.sample] : []))
  const parts = splitRuns(samples)
  return {
    segments: parts.map((run) => buildSegment(run, advantage, episode.id, groupId)),
    forks: Math.max(0, parts.length - 1),
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
