/** Test conversations that a chat template must render append-only. */

/** A conversation to play through a chat template. */
export interface Conversation {
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
export function templateConversations(controls: readonly string[]): readonly Conversation[] {
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
