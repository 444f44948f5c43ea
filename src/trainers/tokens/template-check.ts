/** Holds a tokenizer folder to append-only rendering: what was read once must stay as it was read. */
import type { Message } from '../../chat.js'
import { Fault } from '../../error.js'
import type { ChatTemplateOptions } from './chat-template.js'
import type { ChatTokenizer } from './chat-tokenizer.js'
import { openChatTokenizer } from './chat-tokenizer.js'
import type { Conversation } from './check-conversations.js'
import { checkConversations } from './check-conversations.js'
import type { Fork } from './fork.js'
import { breakAt } from './fork.js'
import type { TokenStream } from './token-stream.js'
import { drawn, heard, startStream } from './token-stream.js'

/** A way of writing turns that models share. */
export type TemplateFamily = 'chatml' | 'llama' | 'qwen-think' | 'gemma' | 'mistral' | 'other'

interface Token {
  readonly id: number
  readonly text: string
}

/** The first id at which rendering a conversation again is not an extension of what was read and drawn. */
export interface TemplateDifference {
  /** The conversation it was found in. */
  readonly conversation: string
  /** The reply it follows, from 0. */
  readonly turn: number
  readonly reason: Fork['reason']
  /** Index in the stream's ids. */
  readonly position: number
  /** What the stream has there; null past its end. */
  readonly expected: Token | null
  /** What the rendering has there; null past its end. */
  readonly got: Token | null
  /** The rendering around that place. */
  readonly text: string
}

/** What {@link checkTemplate} found. */
export interface TemplateCheck {
  /** True if no conversation forked. */
  readonly ok: boolean
  readonly firstDifference: TemplateDifference | null
  readonly families: readonly TemplateFamily[]
  /** Forks over all conversations. */
  readonly forks: number
  /**
   * Prompts whose ids would be others if the whole text were encoded at once: tokens merge across the edge of a
   * reply. No fault of a stream, which never encodes a reply; of a server that is sent messages instead of ids.
   */
  readonly seams: number
  /** Every conversation that was rendered, with its forks. */
  readonly conversations: readonly { readonly name: string; readonly forks: number }[]
  /** Conversations the template refuses to render, with what it said. */
  readonly refused: readonly { readonly name: string; readonly message: string }[]
}

/** True where the ids of the prompt are those of its text. */
function seamless({ tokenizer, prompt, marked }: TokenStream): boolean {
  const whole = tokenizer.encodeMarked(marked)
  return whole.length === prompt.length && breakAt(whole, prompt) === undefined
}

function played(tokenizer: ChatTokenizer, conversation: Conversation) {
  const { system: instruction, world, replies, cut } = conversation
  const [first = '', ...later] = world
  const user = (content: string): Message => ({ role: 'user', content })
  const opening: Message[] = instruction ? [{ role: 'system', content: instruction }] : []
  let stream = startStream(tokenizer, [...opening, user(first)])
  let seams = 0
  replies.forEach((text, turn) => {
    const ids = tokenizer.encodeMarked(tokenizer.marks.reply(0, text))
    const tokens = [...ids, ...(cut ? [] : tokenizer.ends.slice(0, 1))]
    const sample = {
      tokens,
      logprobs: tokens.map(() => 0),
      policyVersion: 0,
      temperature: 1,
      logprobMode: 'scaled',
      stopReason: cut ? 'length' : 'stop',
    } as const
    stream = heard(drawn(stream, sample), [user(later[turn] ?? '')])
    if (!seamless(stream)) seams++
  })
  return { forks: stream.forks, seams }
}

const signs: Readonly<Record<Exclude<TemplateFamily, 'other' | 'qwen-think'>, string>> = {
  chatml: '<|im_start|>',
  llama: '<|start_header_id|>',
  gemma: '<start_of_turn>',
  mistral: '[INST]',
}

/** The families whose marks the template writes, `other` for none. */
function familiesOf({ template: { source } }: ChatTokenizer): readonly TemplateFamily[] {
  const found: TemplateFamily[] = []
  for (const family of ['chatml', 'llama', 'gemma', 'mistral'] as const)
    if (source.includes(signs[family])) found.push(family)
  if (found.includes('chatml') && source.includes('</think>')) found.push('qwen-think')
  return found.length > 0 ? found : ['other']
}

function differenceOf(
  tokenizer: ChatTokenizer,
  conversation: string,
  fork: Fork,
): TemplateDifference {
  const token = (id: number | null) => (id === null ? null : { id, text: tokenizer.decode([id]) })
  const { turn, reason, position, expected, got, text } = fork
  return { conversation, turn, reason, position, expected: token(expected), got: token(got), text }
}

/**
 * Plays conversations through a folder's tokenizer and template, turn by turn, and compares each prompt with the
 * rendering of the whole: a template that rewrites history is reported, not thrown.
 * @throws Fault `bad-input` for a folder that cannot be opened, or whose template renders none of them
 */
export async function checkTemplate(
  folder: string,
  options: ChatTemplateOptions = {},
): Promise<TemplateCheck> {
  const tokenizer = await openChatTokenizer(folder, options)
  const rendered: { name: string; forks: number }[] = []
  const refused: { name: string; message: string }[] = []
  let seams = 0
  let firstDifference: TemplateDifference | null = null
  for (const conversation of checkConversations([...tokenizer.controls.keys()])) {
    const { name } = conversation
    try {
      const { forks, seams: found } = played(tokenizer, conversation)
      seams += found
      rendered.push({ name, forks: forks.length })
      const [first] = forks
      if (first) firstDifference ??= differenceOf(tokenizer, name, first)
    } catch (error) {
      if (!Fault.is(error)) throw error
      refused.push({ name, message: error.message })
    }
  }
  if (rendered.length === 0) throw new Fault('bad-input', refused[0]?.message ?? folder)
  return {
    ok: firstDifference === null,
    firstDifference,
    families: familiesOf(tokenizer),
    forks: rendered.reduce((sum, { forks }) => sum + forks, 0),
    seams,
    conversations: rendered,
    refused,
  }
}
