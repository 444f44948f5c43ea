/**
 * Corrections: where a sibling named what the patient has, a consultation that concluded with something else learns the
 * sibling's last reply in place of its own. The wrong reply loses as much advantage as the right one gains, so that what
 * both replies share, above all that the consultation ends here, keeps its probability. Over replies that the policy
 * draws, the expected gradient is that of log p(right reply | concludes): the wrong reply's part is 0 on average among
 * conclusions (a control variate), and a policy that is always right gets no row.
 * Nothing is read but the members' own replies and whether they were right.
 */
import type { Learner } from '../../backend.js'
import type { TokenSegment } from '../../batch.js'
import { type Draw, type Episode, findDraw } from '../../episode.js'
import type { Group } from '../../group.js'
import type { GroupMember } from '../rollouts/group-rollouts.js'
import type { Credits } from './group-batch.js'
import { episodeSegments } from './segments.js'

/** What a step's corrections add to its batch. */
export interface Corrections {
  /** What the wrong conclusions lose, by rollout and segment, along the mask. */
  readonly credits: Credits
  /** One row for each of them: what it had read, and the right reply as drawn, with the same advantage. */
  readonly rows: readonly TokenSegment[]
}

/** The reply that a consultation concluded with, as drawn; undefined for one that reached no diagnosis. */
function conclusionOf(episode: Episode, { role }: Group): Draw | undefined {
  const last = episode.turns.at(-1)
  return last?.action.kind === 'diagnose' ? findDraw(last, role) : undefined
}

/** The index at which a segment's last reply begins, from its first token after the prompt; undefined if it ends with another. */
function replyStart({ tokens, mask }: TokenSegment, { tokens: reply }: Draw): number | undefined {
  const from = tokens.length - reply.length
  const ends = reply.every((id, i) => tokens[from + i] === id)
  return ends ? mask.length - reply.length : undefined
}

/** A segment whose last reply, from token `start` on, is another one; nothing else of it counts as drawn. */
function withReply(
  segment: TokenSegment,
  start: number,
  { reply: { tokens: reply, stopReason }, weight }: { reply: Draw; weight: number },
): TokenSegment {
  const before = segment.tokens.length - segment.mask.length + start
  const tokens = new Int32Array(before + reply.length)
  tokens.set(segment.tokens.subarray(0, before))
  tokens.set(reply, before)
  const length = start + reply.length
  const mask = new Uint8Array(length).fill(1, start)
  const version = segment.policyVersions.at(-1) ?? -1
  return {
    ...{ ...segment, tokens, mask, stopReason },
    logprobs: new Float32Array(length),
    advantages: Float32Array.from(mask, (one) => weight * one),
    policyVersions: Int32Array.from(mask, (one) => (one === 1 ? version : -1)),
  }
}

/** Corrects one consultation; undefined where its last reply is not the end of a stream of its own. */
function correct(
  episode: Episode,
  group: Group,
  right: { readonly reply: Draw; readonly weight: number },
): { readonly credit: readonly Float32Array[]; readonly row: TokenSegment } | undefined {
  const wrong = conclusionOf(episode, group)
  const { segments } = episodeSegments(episode, 0, group.id, group)
  const last = segments.at(-1)
  const start = wrong && last && replyStart(last, wrong)
  if (!last || start === undefined) return undefined
  const credit = segments.map((segment) => {
    const own = new Float32Array(segment.mask.length)
    return segment === last ? own.fill(-right.weight, start) : own
  })
  return { credit, row: withReply(last, start, right) }
}

/**
 * Corrects the consultations that concluded wrongly in groups of which one diagnosis was right (accuracy 1). The rows
 * carry the current policy's log-probs, so that a loss with a ratio begins at 1: call it before that policy learns.
 * @throws TypeError for a backend without `logprobs`
 */
export async function correctSiblings(
  backend: Learner,
  {
    members,
    groups,
  }: { readonly members: readonly GroupMember[]; readonly groups: readonly Group[] },
  weight: number,
): Promise<Corrections> {
  if (!backend.logprobs)
    throw new TypeError(
      `Expected a backend with \`logprobs\`, which corrections need, got ${backend.name}`,
    )
  const rightById = new Map(members.map(({ episode, right }) => [episode.id, right]))
  const credits = new Map<string, readonly Float32Array[]>()
  const rows: TokenSegment[] = []
  for (const group of groups) {
    const learning = group.episodes.filter((_, i) => group.standings[i] === 'learns')
    const shown = group.episodes.find(({ id }) => rightById.get(id) === 1)
    const reply = shown && conclusionOf(shown, group)
    if (!reply) continue
    for (const episode of learning) {
      if (rightById.get(episode.id) !== 0) continue
      const made = correct(episode, group, { reply, weight })
      if (!made) continue
      credits.set(episode.id, made.credit)
      rows.push(made.row)
    }
  }
  const logprobs = rows.length > 0 ? await backend.logprobs(rows) : []
  return { credits, rows: rows.map((row, r) => ({ ...row, logprobs: logprobs[r]! })) }
}
