/** The tokenizer library behind a small typed interface, with control tokens under names that no text can spell. */
import { controlName } from './marked-text.js'
import type { JsonObject, TokenizerFolder } from './tokenizer-folder.js'

/** The library's tokenizer as far as it is used; its own types are lost under some module resolutions. */
export interface Codec {
  readonly encode: (text: string) => readonly number[]
  readonly decode: (ids: readonly number[]) => string
  /** The id of an ordinary token. */
  readonly idOf: (token: string) => number | undefined
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The vocabulary with control tokens under their private names, so that no text can be taken for one. */
function renamedModel(model: unknown, nameOf: (token: unknown) => unknown): unknown {
  if (!isObject(model)) return model
  const { vocab, unk_token: unknown } = model
  let renamed: unknown = vocab
  if (Array.isArray(vocab))
    renamed = vocab.map((entry: unknown) =>
      Array.isArray(entry) ? [nameOf(entry[0]), ...entry.slice(1)] : entry,
    )
  else if (isObject(vocab))
    renamed = Object.fromEntries(
      Object.entries(vocab).map(([token, id]) => [String(nameOf(token)), id]),
    )
  return { ...model, vocab: renamed, ...(unknown ? { unk_token: nameOf(unknown) } : {}) }
}

/** The folder's tokenizer.json with private names in place of its control tokens. */
function renamedTokenizer({ tokenizer, added }: TokenizerFolder, controls: readonly string[]) {
  const names = new Map(controls.map((control, n) => [control, controlName(n)]))
  const nameOf = (token: unknown) =>
    typeof token === 'string' ? (names.get(token) ?? token) : token
  const list: unknown = tokenizer.added_tokens
  const entries: readonly unknown[] = Array.isArray(list) ? list : []
  return {
    ...tokenizer,
    model: renamedModel(tokenizer.model, nameOf),
    added_tokens: entries.map((entry, i) => {
      const content = added[i]?.content
      return isObject(entry) && names.has(content ?? '')
        ? { ...entry, content: nameOf(content), normalized: false }
        : entry
    }),
  }
}

/** Loads a folder's tokenizer; `controls` are the texts of its control tokens, named by {@link controlName} of their index. */
export async function codecOf(
  folder: TokenizerFolder,
  controls: readonly string[],
): Promise<Codec> {
  const { Tokenizer } = await import('@huggingface/tokenizers')
  const tokenizer = new Tokenizer(renamedTokenizer(folder, controls), folder.config)
  return {
    encode: remembered((text) =>
      text === '' ? [] : tokenizer.encode(text, { add_special_tokens: false }).ids,
    ),
    decode: (ids) => {
      // A model's output layer may have more rows than its tokenizer has tokens.
      const known = ids.filter((id) => tokenizer.id_to_token(id) !== undefined)
      if (known.length === 0) return ''
      // Left to its default, the library would take spaces before punctuation away.
      return tokenizer.decode(known, { clean_up_tokenization_spaces: false })
    },
    idOf: (token) => tokenizer.token_to_id(token),
  }
}

/** The same chunks of a conversation are encoded at every turn and by every sibling; keeps so many characters. */
function remembered(encode: Codec['encode'], most = 2_000_000): Codec['encode'] {
  const known = new Map<string, readonly number[]>()
  let characters = 0
  return (text) => {
    const before = known.get(text)
    if (before) return before
    const ids = Object.freeze([...encode(text)])
    characters += text.length
    if (characters > most) {
      known.clear()
      characters = text.length
    }
    known.set(text, ids)
    return ids
  }
}
