/** Tokenizer with chat template: conversations become token ids, and only the template can make control tokens. */
import { join } from 'node:path'
import type { Message } from '../../chat.js'
import { Fault, rethrowAsFault } from '../../error.js'
import { type ChatTemplateOptions, chatTemplate } from './chat-template.js'
import { loadCodec } from './codec.js'
import type { ControlMarks } from './marked-text.js'
import { controlMarks, controlName, replaceLoneSurrogates } from './marked-text.js'
import { type AddedToken, readTokenizerFolder, type TokenizerFolder } from './tokenizer-folder.js'

/** A language model's tokenizer and chat template, as opened by {@link openChatTokenizer}. */
export interface ChatTokenizer {
  /** Folder it was read from. */
  readonly path: string
  /** Source of the template and the file it came from. */
  readonly template: TokenizerFolder['template']
  /** Ids of control tokens by their text: every special token, and every added one that looks like markup. */
  readonly controls: ReadonlyMap<string, number>
  /** Ids that end a turn: the template's end of turn first, then eos and what generation_config.json names. */
  readonly ends: readonly number[]
  /** Token ids of a text; without `special`, a spelt control token becomes ordinary tokens. Adds no bos or eos. */
  readonly encode: (text: string, options: { readonly special: boolean }) => readonly number[]
  /** Text of token ids, control tokens spelt out. Invalid UTF-8 becomes U+FFFD, unknown ids nothing. */
  readonly decode: (ids: readonly number[]) => string
  /** Renders messages with the template. @throws Fault `bad-input` where it refuses them */
  readonly render: (
    messages: readonly Message[],
    options: { readonly addGenerationPrompt: boolean },
  ) => string
  /** Token ids of rendered messages. Control tokens spelt in contents stay text. */
  readonly encodeChat: (
    messages: readonly Message[],
    options: { readonly addGenerationPrompt: boolean },
  ) => readonly number[]
  /** Marks that separate contents from template text. */
  readonly marks: ControlMarks
  /** Renders messages with marked contents. @throws Fault `bad-input` where the template refuses them */
  readonly renderMarked: ChatTokenizer['render']
  /** Token ids of marked text; the marks themselves have none. */
  readonly encodeMarked: (rendered: string) => readonly number[]
}

/** Special tokens and markup: `<think>` is an ordinary added token of Qwen3, and no patient may write it. */
const isControl = ({ special, content }: AddedToken): boolean =>
  special || /[<>[\]{}|｜]/u.test(content)

const probeReply = 'Reply'

/** Control token with which the template ends a reply that another message follows. */
function endOfTurn(tokenizer: Pick<ChatTokenizer, 'render' | 'encode' | 'controls'>) {
  const question: Message = { role: 'user', content: 'Question' }
  const messages: Message[] = [question, { role: 'assistant', content: probeReply }, question]
  let rendered = ''
  try {
    rendered = tokenizer.render(messages, { addGenerationPrompt: false })
  } catch (error) {
    // A template that refuses this reports it when a real conversation is rendered.
    if (!Fault.is(error)) throw error
  }
  const after = rendered.slice(rendered.lastIndexOf(probeReply) + probeReply.length)
  const controls = new Set(tokenizer.controls.values())
  const [first] = tokenizer.encode(after, { special: true })
  return rendered.includes(probeReply) && first !== undefined && controls.has(first) ? [first] : []
}

/** Id of the configured `eos_token`. @throws Fault `bad-input` where it is not in the vocabulary */
function eosIds({ path, special }: TokenizerFolder, idOf: (token: string) => number | undefined) {
  const { eos_token: eos } = special
  if (eos === undefined) return []
  const id = idOf(eos)
  if (id !== undefined) return [id]
  throw new Fault(
    'bad-input',
    `${join(path, 'tokenizer_config.json')}: eos_token: expected a token of the vocabulary, got \`${eos}\``,
  )
}

/** Marks a message. Replies keep their reasoning tags, which templates look for; other messages keep none. */
const markMessage =
  (marks: ControlMarks) =>
  ({ role, content }: Message, i: number): Message => ({
    role,
    content: role === 'assistant' ? marks.markReply(i, content) : marks.guard(content),
  })

/**
 * Opens a tokenizer folder: tokenizer.json, tokenizer_config.json and a chat template.
 * @throws Fault `bad-input` naming the file and what was expected of it
 */
export async function openChatTokenizer(
  path: string,
  options: ChatTemplateOptions = {},
): Promise<ChatTokenizer> {
  const folder = await readTokenizerFolder(path)
  const added = folder.added.filter(isControl)
  const texts = added.map(({ content }) => content)
  const marks = controlMarks(texts)
  const controls = new Map(added.map(({ content, id }) => [content, id]))
  const codec = await rethrowAsFault('bad-input', join(path, 'tokenizer.json'), () =>
    loadCodec(folder, texts),
  )
  const render = await chatTemplate(folder, options)
  const encodeMarked = (rendered: string) => codec.encode(marks.nameControls(rendered))
  const encode: ChatTokenizer['encode'] = (text, { special }) =>
    special ? encodeMarked(replaceLoneSurrogates(text)) : codec.encode(replaceLoneSurrogates(text))
  const eos = eosIds(folder, (token) => {
    const n = texts.indexOf(token)
    return codec.idOf(n < 0 ? token : controlName(n))
  })
  const renderMarked: ChatTokenizer['render'] = (messages, chosen) =>
    render(messages.map(markMessage(marks)), chosen)
  return {
    path,
    template: folder.template,
    controls,
    ends: [...new Set([...endOfTurn({ render, encode, controls }), ...eos, ...folder.ends])],
    encode,
    decode: (ids) => marks.restoreControls(codec.decode(ids)),
    render,
    encodeChat: (messages, chosen) => encodeMarked(renderMarked(messages, chosen)),
    marks,
    renderMarked,
    encodeMarked,
  }
}
