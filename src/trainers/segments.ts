/** From episodes to token segments: append-only, forked where the prefix property breaks. */
import type { TokenSegment } from '../batch.js'
import type { Episode, Sample } from '../episode.js'

const extendsPrefix = (prefix: readonly number[], longer: readonly number[]): boolean => {
  if (longer.length < prefix.length) return false
  for (let i = 0; i < prefix.length; i++) if (prefix[i] !== longer[i]) return false
  return true
}

/** Consecutive samples whose prompts extend one another: one segment each. */
function runs(samples: readonly Sample[]): Sample[][] {
  const out: Sample[][] = []
  let stream: readonly number[] = []
  for (const sample of samples) {
    const open = out.at(-1)
    if (open && extendsPrefix(stream, sample.prompt)) open.push(sample)
    else out.push([sample])
    stream = [...sample.prompt, ...sample.tokens]
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
  const tokens = Int32Array.from([...last.prompt, ...last.tokens])
  const promptLength = first.prompt.length
  const length = tokens.length - promptLength
  const mask = new Uint8Array(length)
  const logprobs = new Float32Array(length)
  const advantages = new Float32Array(length)
  const policyVersions = new Int32Array(length).fill(-1)
  for (const sample of run) {
    sample.tokens.forEach((_, i) => {
      const t = sample.prompt.length - promptLength + i
      mask[t] = 1
      logprobs[t] = sample.logprobs[i] ?? Number.NaN
      advantages[t] = advantage
      policyVersions[t] = sample.policyVersion
    })
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
