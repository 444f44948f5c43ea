/** From episodes to token segments: append-only, forked where the prefix property breaks. */
import type { TokenSegment } from '../../batch.js'
import type { Episode, Sample } from '../../episode.js'

/** Whether `longer` has `part` at a place. */
const holds = (longer: readonly number[], part: readonly number[], at: number): boolean => {
  if (longer.length < at + part.length) return false
  for (let i = 0; i < part.length; i++) if (part[i] !== longer[at + i]) return false
  return true
}

/** Whether what `next` read begins with all that `before` had read and drawn. */
const extendsStream = (before: Sample, next: Sample): boolean =>
  holds(next.prompt, before.prompt, 0) && holds(next.prompt, before.tokens, before.prompt.length)

/** Consecutive samples whose prompts extend one another: one segment each. */
function runs(samples: readonly Sample[]): Sample[][] {
  const out: Sample[][] = []
  for (const sample of samples) {
    const open = out.at(-1)
    const before = open?.at(-1)
    if (open && before && extendsStream(before, sample)) open.push(sample)
    else out.push([sample])
  }
  return out
}

function segment(
  run: readonly Sample[],
  advantage: number,
  rolloutId: string,
  groupId: string,
): TokenSegment {
  const first = run[0] as Sample // `runs` makes no empty run
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
  return {
    rolloutId,
    groupId,
    tokens,
    promptLength,
    mask,
    logprobs,
    advantages,
    policyVersions,
    temperature: first.temperature,
    logprobMode: first.logprobMode,
    stopReason: last.stopReason,
  }
}

/**
 * The segments of one episode, every drawn token carrying the episode's advantage.
 * More than one segment means that the token stream was not append-only; `forks` counts the breaks.
 */
export function episodeSegments(
  episode: Episode,
  advantage: number,
  groupId: string,
): { readonly segments: readonly TokenSegment[]; readonly forks: number } {
  const samples = episode.turns.flatMap((turn) => (turn.sample ? [turn.sample] : []))
  const parts = runs(samples)
  return {
    segments: parts.map((run) => segment(run, advantage, episode.id, groupId)),
    forks: Math.max(0, parts.length - 1),
  }
}

/** @throws RangeError for a segment that was drawn without chance, or a mask of another length than its tokens */
export function assertDrawn(segments: readonly TokenSegment[]): void {
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
