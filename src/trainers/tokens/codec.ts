/** The tokenizer library behind a small interface, with control tokens renamed so that no text can spell them. */
import { controlName } from './marked-text.js'
import { isObject, type TokenizerFolder } from './tokenizer-folder.js'

/** The model with control tokens under private names in its vocabulary, so that no text encodes to one. */
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

/** The folder's tokenizer.json with its control tokens under private names. */
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

/** Loads a folder's tokenizer. `controls` are its control tokens, renamed to {@link controlName} of their index. */
export async function loadCodec(folder: TokenizerFolder, controls: readonly string[]) {
  const { Tokenizer } = await import('@huggingface/tokenizers')
  const tokenizer = new Tokenizer(renamedTokenizer(folder, controls), folder.config)
  return {
    /** Adds no special tokens. */
    encode: memoizeEncode((text) =>
      text === '' ? [] : tokenizer.encode(text, { add_special_tokens: false }).ids,
    ),
    /** Ids without a token are left out. */
    decode: (ids: readonly number[]): string => {
      // A model's output layer may have more rows than its tokenizer has tokens.
      const known = ids.filter((id) => tokenizer.id_to_token(id) !== undefined)
      if (known.length === 0) return ''
      // The library's default removes spaces before punctuation.
      return tokenizer.decode(known, { clean_up_tokenization_spaces: false })
    },
    /** Id of an ordinary token. */
    idOf: (token: string): number | undefined => tokenizer.token_to_id(token),
  }
}

type Encode = (text: string) => readonly number[]

/** Caches up to `maxCharacters` of texts: the same chunks are encoded at every turn and by every sibling. */
function memoizeEncode(encode: Encode, maxCharacters = 2_000_000): Encode {
  const known = new Map<string, readonly number[]>()
  let characters = 0
  return (text) => {
    const before = known.get(text)
    if (before) return before
    const ids = Object.freeze([...encode(text)])
    characters += text.length
    if (characters > maxCharacters) {
      known.clear()
      characters = text.length
    }
    known.set(text, ids)
    return ids
  }
}
