/**
 * Append-only token stream of a conversation: the next prompt is the last prompt, the ids the policy drew, and the
 * template's rendering of the answer. Every prompt is compared with the template's rendering of the whole
 * conversation. Where that rewrites history, the stream forks and records it.
 */
import type { Message } from '../../chat.js'
import type { Sample } from '../../episode.js'
import type { ChatTokenizer } from './chat-tokenizer.js'
import { isMarked, textAfterReply } from './marked-text.js'

/** A place where a prompt does not extend the stream before it. */
export interface Fork {
  /** Index of the draw it follows, from 0. */
  readonly turn: number
  /**
   * `history`: the template later renders earlier text differently. `end-of-turn`: the policy ended its turn with
   * another token than the template puts there.
   */
  readonly reason: 'history' | 'end-of-turn'
  /** Index of the first id that differs; `expected` is the stream's id, `got` the rendering's, null past the end. */
  readonly position: number
  readonly expected: number | null
  readonly got: number | null
  /** Text of the rendering around that position. */
  readonly text: string
}

/** First index at which `longer` does not extend `prefix`; undefined if it extends it. */
export function firstDivergence(
  prefix: readonly number[],
  longer: readonly number[],
): number | undefined {
  const at = prefix.findIndex((id, i) => id !== longer[i])
  return at < 0 ? undefined : at
}

/** Describes the fork at the position where `prompt` leaves the stream `drawn`. */
function createFork(
  { tokenizer, turns }: TokenStream,
  reason: Fork['reason'],
  [position, drawn, prompt]: readonly [number, readonly number[], readonly number[]],
): Fork {
  return Object.freeze({
    ...{ turn: turns, reason, position },
    expected: drawn[position] ?? null,
    got: prompt[position] ?? null,
    text: tokenizer.decode(prompt.slice(Math.max(0, position - 12), position + 12)),
  })
}

/** A stream at the policy's turn. Frozen, so siblings may continue from the same one. */
export interface TokenStream {
  readonly tokenizer: ChatTokenizer
  /** Whether reasoning of earlier turns stays in the prompt. */
  readonly history: 'keep' | 'strip-reasoning'
  /** Ids the policy reads next. */
  readonly prompt: readonly number[]
  readonly messages: readonly Message[]
  /** Number of draws so far. */
  readonly turns: number
  /** Every unintended fork, in order. */
  readonly forks: readonly Fork[]
  /** Forks by design: turns whose reasoning `strip-reasoning` removed from the history. */
  readonly stripped: number
  /** The prompt as marked text. */
  readonly marked: string
  /** Drawn ids of the replies in `messages`, by message index. */
  readonly replies: ReadonlyMap<number, readonly number[]>
}

/** Ids the policy drew: a `Sample` without the prompt. */
export type DrawnTokens = Omit<Sample, 'prompt'>

/** A stream after a drawn reply, waiting for the answer. */
export interface DrawnReply {
  /** The stream before the reply. */
  readonly stream: TokenStream
  readonly sample: Sample
  /** The reply without its end of turn, reasoning included. */
  readonly text: string
  /** Ids of `text`. */
  readonly ids: readonly number[]
}

/** Options of {@link startStream}. */
export interface TokenStreamOptions {
  /** Whether reasoning of earlier turns stays in the prompt. @default 'keep' */
  readonly history?: 'keep' | 'strip-reasoning'
}

/** Starts a stream with the messages before the policy's first turn. */
export function startStream(
  tokenizer: ChatTokenizer,
  messages: readonly Message[],
  { history = 'keep' }: TokenStreamOptions = {},
): TokenStream {
  if (history !== 'keep' && history !== 'strip-reasoning')
    throw new RangeError(
      `Expected \`history\` to be 'keep' or 'strip-reasoning', got \`${history}\``,
    )
  const marked = tokenizer.renderMarked(messages, { addGenerationPrompt: true })
  return Object.freeze({
    tokenizer,
    history,
    prompt: tokenizer.encodeMarked(marked),
    messages: [...messages],
    turns: 0,
    forks: [],
    stripped: 0,
    marked,
    replies: new Map(),
  })
}

/** Appends a drawn reply by its ids, which are never re-encoded from the text. */
export function appendDrawn(stream: TokenStream, draw: DrawnTokens): DrawnReply {
  const { tokenizer, prompt } = stream
  if (draw.logprobs.length !== draw.tokens.length)
    throw new RangeError(
      `Expected \`logprobs\` to be one for each of ${draw.tokens.length} tokens, got ${draw.logprobs.length}`,
    )
  const last = draw.tokens.at(-1)
  const ended = last !== undefined && tokenizer.ends.includes(last)
  const ids = ended ? draw.tokens.slice(0, -1) : [...draw.tokens]
  return Object.freeze({
    stream,
    sample: Object.freeze({ ...draw, prompt }),
    text: tokenizer.decode(ids),
    ids,
  })
}

/** A drawn reply without its tokenizer: plain data. */
export type StoredReply = Omit<DrawnReply, 'stream'> & {
  readonly stream: Omit<TokenStream, 'tokenizer' | 'replies'> & {
    readonly replies: readonly (readonly [index: number, ids: readonly number[]])[]
  }
}

/** Makes plain data of a drawn reply. */
export function storeReply({ stream, ...reply }: DrawnReply): StoredReply {
  const { tokenizer: _, replies, ...rest } = stream
  return { ...reply, stream: { ...rest, replies: [...replies] } }
}

/** The drawn reply of {@link storeReply}, with the tokenizer that it was drawn with. */
export const restoreReply = (
  tokenizer: ChatTokenizer,
  { stream, ...reply }: StoredReply,
): DrawnReply => ({
  ...reply,
  stream: Object.freeze({ ...stream, tokenizer, replies: new Map(stream.replies) }),
})

/** Removes reasoning from a reply, to the end where it is cut off inside the reasoning. */
function stripReasoning(text: string): string {
  const end = text.lastIndexOf('</think>')
  if (end >= 0) return text.slice(end + '</think>'.length).trimStart()
  const start = text.indexOf('<think>')
  return start < 0 ? text : text.slice(0, start)
}

/** Text the template puts between any reply and the next draw, taken from a conversation of two messages. */
function renderDelta(tokenizer: ChatTokenizer, world: readonly Message[]): string | undefined {
  const synthetic: readonly Message[] = [
    { role: 'user', content: 'Question' },
    { role: 'assistant', content: 'Reply' },
    ...world,
  ]
  return textAfterReply(tokenizer.renderMarked(synthetic, { addGenerationPrompt: true }), 1)
}

/**
 * Ids of the whole rendering of a stream's messages. Replies that are intact in it keep their drawn ids; a reply of
 * white space and reasoning tags alone cannot be located and is re-encoded.
 */
export function encodeRendering({
  tokenizer,
  messages,
  marked,
  replies,
}: Omit<TokenStream, 'prompt'>): readonly number[] {
  const out: number[] = []
  let rest = marked
  for (const [index, ids] of replies) {
    const reply = tokenizer.marks.markReply(index, messages[index]?.content ?? '')
    const at = isMarked(reply) ? rest.indexOf(reply) : -1
    if (at < 0) continue
    for (const id of tokenizer.encodeMarked(rest.slice(0, at))) out.push(id)
    for (const id of ids) out.push(id)
    rest = rest.slice(at + reply.length)
  }
  for (const id of tokenizer.encodeMarked(rest)) out.push(id)
  return out
}

/** The think tag that the generation prompt ends with, if any: the reply's text then starts inside the reasoning. */
export const openedThinkTag = (marked: string): string => /<think>\s*$/.exec(marked)?.[0] ?? ''

/** Next messages and their rendering, and the delta to append if that rendering extends the stream. */
function renderNext({ stream, text, ids }: DrawnReply, world: readonly Message[]) {
  const { tokenizer, history, messages: earlier, marked: read } = stream
  const opened = openedThinkTag(read)
  const whole = opened + text
  const kept = history === 'keep' ? whole : stripReasoning(whole)
  const messages: Message[] = [...earlier, { role: 'assistant', content: kept }, ...world]
  const marked = tokenizer.renderMarked(messages, { addGenerationPrompt: true })
  const before =
    read.slice(0, read.length - opened.length) + tokenizer.marks.markReply(earlier.length, kept)
  const delta = renderDelta(tokenizer, world)
  const reply = [...tokenizer.encode(opened, { special: true }), ...ids]
  return {
    messages,
    marked,
    replies:
      kept === whole
        ? new Map([...stream.replies, [earlier.length, reply] as const])
        : stream.replies,
    /** Ids between the reply and the next draw; undefined where the rendering does not extend the stream. */
    delta:
      delta !== undefined && marked === before + delta ? tokenizer.encodeMarked(delta) : undefined,
    strips: kept !== whole,
  }
}

/**
 * Appends the messages that answer a reply. Returns the stream with the next prompt, which includes the end-of-turn
 * ids that a reply cut by length lacks.
 * @throws Fault `bad-input` where the template refuses the messages
 */
export function appendHeard(turn: DrawnReply, world: readonly Message[]): TokenStream {
  if (world.length === 0 || world.some(({ role }) => role === 'assistant'))
    throw new RangeError(
      `Expected \`world\` to be messages that are not the policy's, got roles [${world.map(({ role }) => role)}]`,
    )
  const { stream, sample, ids } = turn
  const { messages, marked, replies, delta, strips } = renderNext(turn, world)
  const next = { ...stream, messages, marked, replies, turns: stream.turns + 1 }
  const appends = delta !== undefined && !strips
  const prompt = appends ? [...sample.prompt, ...ids, ...delta] : encodeRendering(next)
  const asDrawn = [...sample.prompt, ...sample.tokens]
  const at = firstDivergence(asDrawn, prompt)
  if (at === undefined) return Object.freeze({ ...next, prompt })
  if (strips && delta !== undefined)
    return Object.freeze({ ...next, prompt, stripped: stream.stripped + 1 })
  const reason = at < sample.prompt.length + ids.length ? 'history' : 'end-of-turn'
  const fork = createFork(stream, reason, [at, asDrawn, prompt])
  return Object.freeze({ ...next, prompt, forks: [...stream.forks, fork] })
}

/** The policy's previous reply, and the messages of the prompt it answered. */
export interface PreviousReply {
  readonly turn: DrawnReply
  readonly messages: readonly Message[]
}

/** Messages that follow a reply; undefined where the new rendering does not extend the reply's messages. */
function newMessages(
  { messages }: PreviousReply,
  now: readonly Message[],
): readonly Message[] | undefined {
  const grown = messages.every(
    ({ role, content }, i) => now[i]?.role === role && now[i].content === content,
  )
  const [reply, ...world] = now.slice(messages.length)
  const answered = world.length > 0 && world.every(({ role }) => role !== 'assistant')
  return grown && reply?.role === 'assistant' && answered ? world : undefined
}

/**
 * The stream from which the next reply is drawn: the previous reply's stream with the messages after it, or a new
 * stream where there is no previous reply or the rendering does not extend it.
 * @throws Fault `bad-input` where the template refuses the messages
 */
export function nextStream(
  tokenizer: ChatTokenizer,
  messages: readonly Message[],
  before: PreviousReply | undefined,
  options: TokenStreamOptions,
): TokenStream {
  const world = before && newMessages(before, messages)
  return world ? appendHeard(before.turn, world) : startStream(tokenizer, messages, options)
}
