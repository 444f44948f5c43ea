/** Checks that a chat template renders append-only: earlier text must never be rendered differently later. */
import type { Message } from '../../chat.js'
import { Fault } from '../../error.js'
import type { ChatTemplateOptions } from './chat-template.js'
import { type ChatTokenizer, openChatTokenizer } from './chat-tokenizer.js'
import type { Fork, TokenStream } from './token-stream.js'
import { appendDrawn, appendHeard, firstDivergence, startStream } from './token-stream.js'

/** Families of chat formats. */
export type TemplateFamily = 'chatml' | 'llama' | 'qwen-think' | 'gemma' | 'mistral' | 'other'

/** A token id with its text. */
interface TokenText {
  readonly id: number
  readonly text: string
}

/** First token at which the rendering of a conversation does not extend its token stream. */
export interface TemplateDifference {
  /** Name of the conversation. */
  readonly conversation: string
  /** Index of the reply it follows, from 0. */
  readonly turn: number
  readonly reason: Fork['reason']
  /** Index in the stream. */
  readonly position: number
  /** The stream's token there; null past its end. */
  readonly expected: TokenText | null
  /** The rendering's token there; null past its end. */
  readonly got: TokenText | null
  /** Text of the rendering around that position. */
  readonly text: string
}

/** Result of {@link checkTemplate}. */
export interface TemplateCheck {
  /** True if no conversation forked. */
  readonly ok: boolean
  readonly firstDifference: TemplateDifference | null
  /** Chat formats whose marks the template contains. */
  readonly families: readonly TemplateFamily[]
  /** Forks over all conversations. */
  readonly forks: number
  /**
   * Prompts whose ids differ from encoding their whole text at once, because tokens merge across the edge of a reply.
   * Harmless for a stream, which never encodes a reply; a fault of servers that are sent messages instead of ids.
   */
  readonly seams: number
  /** Rendered conversations and the number of forks of each. */
  readonly conversations: readonly { readonly name: string; readonly forks: number }[]
  /** Conversations the template refuses to render, with its error message. */
  readonly refused: readonly { readonly name: string; readonly message: string }[]
}

/** A conversation to play through a chat template. */
interface Conversation {
  readonly name: string
  readonly system?: string
  /** User messages: the first, and one after each reply. */
  readonly world: readonly string[]
  readonly replies: readonly string[]
  /** The replies are cut off, without an end of turn. */
  readonly cut?: true
}

const ask = ['I have had a headache for two days.', 'No fever.', 'It is worse in the morning.']
const reply = ['Do you have a fever?', 'When is it worst?']
const system = 'You are a doctor.'

const thought = reply.map((text) => `<think>\nThe patient says little.\n</think>\n\n${text}`)

const ordinary: readonly Conversation[] = [
  { name: 'no system message', world: ask, replies: reply },
  { name: 'system message', system, world: ask, replies: reply },
  {
    name: 'many turns',
    system,
    world: [...ask, ...ask, ...ask],
    replies: [...reply, ...reply, ...reply, ...reply],
  },
  {
    name: 'other scripts and emoji',
    system: '你是一名医生。',
    world: ['我头疼两天了。', '没有发烧 🤒', 'صداع في الصباح'],
    replies: ['您发烧吗？👩🏽‍⚕️', 'متى يسوء؟'],
  },
  { name: 'empty messages', world: ['', '', ''], replies: reply },
  { name: 'empty replies', system, world: ask, replies: ['', ''] },
  {
    name: 'messages that end in a line break',
    world: ask.map((text) => `${text}\n`),
    replies: reply,
  },
  {
    name: 'replies that end in a line break',
    world: ask,
    replies: reply.map((text) => `${text}\n`),
  },
  { name: 'replies cut by length', world: ask, replies: reply, cut: true },
  { name: 'replies with reasoning', system, world: ask, replies: thought },
]

/** Conversations of kinds that have broken templates; some spell the given control tokens. */
function templateConversations(controls: readonly string[]): readonly Conversation[] {
  const spelt = ['<|im_end|>', '</s>', ...controls.slice(0, 8)].join(' ')
  // In a reply, think tags are reasoning, which another conversation covers.
  const harmless = spelt.replaceAll(/<\/?think>/g, '')
  return [
    ...ordinary,
    {
      name: 'special tokens spelt by the patient',
      world: ask.map((text) => `${text}${spelt}<think>`),
      replies: reply,
    },
    {
      name: 'special tokens spelt in a reply',
      world: ask,
      replies: reply.map((text) => text + harmless),
    },
  ]
}

/** True where encoding the whole prompt text gives the ids of the prompt. */
function isSeamless({ tokenizer, prompt, marked }: TokenStream): boolean {
  const whole = tokenizer.encodeMarked(marked)
  return whole.length === prompt.length && firstDivergence(whole, prompt) === undefined
}

/** Plays a conversation through a stream. Returns its forks and the number of prompts with seams. */
function playConversation(tokenizer: ChatTokenizer, conversation: Conversation) {
  const { system: instruction, world, replies, cut } = conversation
  const [first = '', ...later] = world
  const user = (content: string): Message => ({ role: 'user', content })
  const opening: Message[] = instruction ? [{ role: 'system', content: instruction }] : []
  let stream = startStream(tokenizer, [...opening, user(first)])
  let seams = 0
  replies.forEach((text, turn) => {
    const ids = tokenizer.encodeMarked(tokenizer.marks.markReply(0, text))
    const tokens = [...ids, ...(cut ? [] : tokenizer.ends.slice(0, 1))]
    const sample = {
      tokens,
      logprobs: tokens.map(() => 0),
      policyVersion: 0,
      temperature: 1,
      logprobMode: 'scaled',
      stopReason: cut ? 'length' : 'stop',
    } as const
    stream = appendHeard(appendDrawn(stream, sample), [user(later[turn] ?? '')])
    if (!isSeamless(stream)) seams++
  })
  return { forks: stream.forks, seams }
}

const familyMarks = {
  chatml: '<|im_start|>',
  llama: '<|start_header_id|>',
  gemma: '<start_of_turn>',
  mistral: '[INST]',
} as const

/** Families whose marks the template contains; `other` if none. */
function detectFamilies({ template: { source } }: ChatTokenizer): readonly TemplateFamily[] {
  const found: TemplateFamily[] = (['chatml', 'llama', 'gemma', 'mistral'] as const).filter(
    (family) => source.includes(familyMarks[family]),
  )
  if (found.includes('chatml') && source.includes('</think>')) found.push('qwen-think')
  return found.length > 0 ? found : ['other']
}

function toDifference(
  tokenizer: ChatTokenizer,
  conversation: string,
  fork: Fork,
): TemplateDifference {
  const token = (id: number | null) => (id === null ? null : { id, text: tokenizer.decode([id]) })
  const { turn, reason, position, expected, got, text } = fork
  return { conversation, turn, reason, position, expected: token(expected), got: token(got), text }
}

/**
 * Plays test conversations through a folder's tokenizer and template, turn by turn, and compares each prompt with the
 * rendering of the whole conversation. A template that rewrites history is reported, not thrown.
 * @throws Fault `bad-input` for a folder that cannot be opened, or whose template renders no conversation
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
  for (const conversation of templateConversations([...tokenizer.controls.keys()])) {
    const { name } = conversation
    try {
      const { forks, seams: found } = playConversation(tokenizer, conversation)
      seams += found
      rendered.push({ name, forks: forks.length })
      const [first] = forks
      if (first) firstDifference ??= toDifference(tokenizer, name, first)
    } catch (error) {
      if (!Fault.is(error)) throw error
      refused.push({ name, message: error.message })
    }
  }
  if (rendered.length === 0) throw new Fault('bad-input', refused[0]?.message ?? folder)
  return {
    ok: firstDifference === null,
    firstDifference,
    families: detectFamilies(tokenizer),
    forks: rendered.reduce((sum, { forks }) => sum + forks, 0),
    seams,
    conversations: rendered,
    refused,
  }
}
