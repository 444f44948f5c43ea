/**
 * A conversation as token ids that only grow: the next prompt is the last one, the ids the policy drew as it
 * drew them, and what the template puts around the world's answer. Every turn is held against the template's
 * own rendering of the whole conversation; where that rewrites history, the stream forks and says so.
 */
import type { Message } from '../../chat.js'
import type { Sample } from '../../episode.js'
import type { ChatTokenizer } from './chat-tokenizer.js'
import type { Fork } from './fork.js'
import { breakAt, forkAt } from './fork.js'
import { afterReply, isMarked } from './marked-text.js'

/** A stream that waits for the policy to draw. Frozen: siblings may go on from the same one. */
export interface TokenStream {
  readonly tokenizer: ChatTokenizer
  readonly history: 'keep' | 'strip-reasoning'
  /** Ids the policy reads next. */
  readonly prompt: readonly number[]
  readonly messages: readonly Message[]
  /** Draws so far. */
  readonly turns: number
  /** Every fork that was not asked for, in order. */
  readonly forks: readonly Fork[]
  /** Forks by design: turns whose reasoning `strip-reasoning` took out of the history. */
  readonly stripped: number
  /** The prompt as marked text. */
  readonly marked: string
  /** Ids of the replies in `messages` that were drawn, by index. */
  readonly replies: ReadonlyMap<number, readonly number[]>
}

/** What the policy drew; its `Sample` but for the prompt. */
export type Draw = Omit<Sample, 'prompt'>

/** A stream that waits for the world to answer. */
export interface Drawn {
  readonly stream: TokenStream
  readonly sample: Sample
  /** The reply without its end of turn, reasoning included. */
  readonly text: string
  /** Ids of `text`. */
  readonly ids: readonly number[]
}

export interface TokenStreamOptions {
  /** Whether reasoning of earlier turns stays in what the policy reads. @default 'keep' */
  readonly history?: 'keep' | 'strip-reasoning'
}

/** Begins a stream with the messages before the policy's first turn. */
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

/** Takes what the policy drew, as it drew it: its ids are never made anew from the text. */
export function drawn(stream: TokenStream, draw: Draw): Drawn {
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

/** The reply without reasoning, as an answer alone would have been; one cut short inside it leaves nothing of it. */
function withoutReasoning(text: string): string {
  const end = text.lastIndexOf('</think>')
  if (end >= 0) return text.slice(end + '</think>'.length).trimStart()
  const start = text.indexOf('<think>')
  return start < 0 ? text : text.slice(0, start)
}

/** What the template puts between any reply and the next draw, seen on a conversation of two messages. */
function deltaOf(tokenizer: ChatTokenizer, world: readonly Message[]): string | undefined {
  const synthetic: readonly Message[] = [
    { role: 'user', content: 'Question' },
    { role: 'assistant', content: 'Reply' },
    ...world,
  ]
  return afterReply(tokenizer.renderMarked(synthetic, { addGenerationPrompt: true }), 1)
}

/**
 * Ids of the whole rendering of a stream's messages. Replies that are still whole in it keep the ids they were
 * drawn as; one of white space and reasoning tags alone is not told from its surroundings and is encoded anew.
 */
export function rerendered({
  tokenizer,
  messages,
  marked,
  replies,
}: Omit<TokenStream, 'prompt'>): readonly number[] {
  const out: number[] = []
  let rest = marked
  for (const [index, ids] of replies) {
    const reply = tokenizer.marks.reply(index, messages[index]?.content ?? '')
    const at = isMarked(reply) ? rest.indexOf(reply) : -1
    if (at < 0) continue
    for (const id of tokenizer.encodeMarked(rest.slice(0, at))) out.push(id)
    for (const id of ids) out.push(id)
    rest = rest.slice(at + reply.length)
  }
  for (const id of tokenizer.encodeMarked(rest)) out.push(id)
  return out
}

/** Reasoning that the generation prompt already opened, so that the reply's text begins inside it. */
export const openedIn = (marked: string): string => /<think>\s*$/.exec(marked)?.[0] ?? ''

/** What the stream would be if the template only appended, and what the template makes of it. */
function continued({ stream, text, ids }: Drawn, world: readonly Message[]) {
  const { tokenizer, history, messages: earlier, marked: read } = stream
  const opened = openedIn(read)
  const whole = opened + text
  const kept = history === 'keep' ? whole : withoutReasoning(whole)
  const messages: Message[] = [...earlier, { role: 'assistant', content: kept }, ...world]
  const marked = tokenizer.renderMarked(messages, { addGenerationPrompt: true })
  const before =
    read.slice(0, read.length - opened.length) + tokenizer.marks.reply(earlier.length, kept)
  const delta = deltaOf(tokenizer, world)
  const reply = [...tokenizer.encode(opened, { special: true }), ...ids]
  return {
    messages,
    marked,
    replies:
      kept === whole
        ? new Map([...stream.replies, [earlier.length, reply] as const])
        : stream.replies,
    /** The ids between the reply and the next draw; undefined where the rendering is not an extension. */
    delta:
      delta !== undefined && marked === before + delta ? tokenizer.encodeMarked(delta) : undefined,
    strips: kept !== whole,
  }
}

/**
 * Takes the world's messages and gives the stream with the next prompt, end-of-turn ids that a reply cut by
 * length lacks included.
 * @throws Fault `bad-input` where the template refuses the messages
 */
export function heard(turn: Drawn, world: readonly Message[]): TokenStream {
  if (world.length === 0 || world.some(({ role }) => role === 'assistant'))
    throw new RangeError(
      `Expected \`world\` to be messages that are not the policy's, got roles [${world.map(({ role }) => role)}]`,
    )
  const { stream, sample, ids } = turn
  const { messages, marked, replies, delta, strips } = continued(turn, world)
  const next = { ...stream, messages, marked, replies, turns: stream.turns + 1 }
  const appends = delta !== undefined && !strips
  const prompt = appends ? [...sample.prompt, ...ids, ...delta] : rerendered(next)
  const asDrawn = [...sample.prompt, ...sample.tokens]
  const at = breakAt(asDrawn, prompt)
  if (at === undefined) return Object.freeze({ ...next, prompt })
  if (strips && delta !== undefined)
    return Object.freeze({ ...next, prompt, stripped: stream.stripped + 1 })
  const reason = at < sample.prompt.length + ids.length ? 'history' : 'end-of-turn'
  const fork = forkAt(at, reason, asDrawn, prompt, stream)
  return Object.freeze({ ...next, prompt, forks: [...stream.forks, fork] })
}
