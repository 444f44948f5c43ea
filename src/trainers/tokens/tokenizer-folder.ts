/** Reads a tokenizer folder as downloaded with a model, and checks the files that decide the tokens of a chat. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Fault, rethrowAsFault } from '../../error.js'

/** A parsed JSON object. */
type JsonObject = Readonly<Record<string, unknown>>

/** An entry of `added_tokens` in tokenizer.json. */
export interface AddedToken {
  readonly id: number
  readonly content: string
  readonly special: boolean
}

/** The files of a tokenizer folder that decide how a conversation becomes tokens. */
export interface TokenizerFolder {
  readonly path: string
  /** tokenizer.json, unchanged. */
  readonly tokenizer: JsonObject
  /** tokenizer_config.json, or `{}`. */
  readonly config: JsonObject
  /** `added_tokens` of tokenizer.json. */
  readonly added: readonly AddedToken[]
  /** Special tokens that templates get by name: `bos_token`, `eos_token`, `pad_token`, `unk_token`. */
  readonly special: Readonly<Record<string, string>>
  /** Ids at which generation ends according to generation_config.json. */
  readonly ends: readonly number[]
  readonly template: {
    readonly source: string
    /** File it came from. */
    readonly file: string
  }
}

/** True for a JSON object. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Text of a file; undefined where it does not exist. */
async function readText(file: string): Promise<string | undefined> {
  return rethrowAsFault('bad-input', file, () =>
    readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      // Only a missing file is undefined; a folder or a forbidden file is an error.
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
      throw error
    }),
  )
}

/** JSON object of a file; undefined where the file does not exist. */
async function readObject(file: string): Promise<JsonObject | undefined> {
  const text = await readText(file)
  if (text === undefined) return undefined
  const value: unknown = await rethrowAsFault('bad-input', `${file}: expected valid JSON`, () =>
    JSON.parse(text),
  )
  if (isObject(value)) return value
  throw new Fault('bad-input', `${file}: expected a JSON object, got \`${text.slice(0, 40)}\``)
}

/** Text of a special token, given as text or as an object with `content`. */
const tokenText = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value
  return isObject(value) && typeof value.content === 'string' ? value.content : undefined
}

function addedTokens(tokenizer: JsonObject, file: string): AddedToken[] {
  const { added_tokens: list = [] } = tokenizer
  if (!Array.isArray(list))
    throw new Fault('bad-input', `${file}: added_tokens: expected an array, got \`${list}\``)
  return list.map((entry: unknown, i) => {
    if (
      isObject(entry) &&
      typeof entry.content === 'string' &&
      entry.content !== '' &&
      Number.isInteger(entry.id)
    )
      return { id: Number(entry.id), content: entry.content, special: entry.special === true }
    throw new Fault(
      'bad-input',
      `${file}: added_tokens[${i}]: expected {id: integer, content: text}, got \`${JSON.stringify(entry)}\``,
    )
  })
}

/** Template of a config; of several, the one named `default`. */
function configTemplate(config: JsonObject): string | undefined {
  const { chat_template: template } = config
  if (typeof template === 'string') return template
  if (!Array.isArray(template)) return undefined
  const named: unknown = template.find((one: unknown) => isObject(one) && one.name === 'default')
  return isObject(named) && typeof named.template === 'string' ? named.template : undefined
}

const specialNames = ['bos_token', 'eos_token', 'pad_token', 'unk_token']

function specialTokens(...sources: readonly (JsonObject | undefined)[]): Record<string, string> {
  const out: Record<string, string> = {}
  for (const name of specialNames) {
    const content = sources.map((source) => tokenText(source?.[name])).find(Boolean)
    if (content !== undefined) out[name] = content
  }
  return out
}

const integers = (value: unknown): number[] =>
  (Array.isArray(value) ? value : [value]).filter((one) => Number.isInteger(one))

/**
 * Reads `tokenizer.json`, `tokenizer_config.json`, `special_tokens_map.json`, `generation_config.json` and the
 * chat template (`chat_template.jinja`, else the config's `chat_template`).
 * @throws Fault `bad-input` naming the file and what was expected
 */
export async function readTokenizerFolder(path: string): Promise<TokenizerFolder> {
  const at = (name: string) => join(path, name)
  const [tokenizer, given, map, generation, jinja] = await Promise.all([
    readObject(at('tokenizer.json')),
    readObject(at('tokenizer_config.json')),
    readObject(at('special_tokens_map.json')),
    readObject(at('generation_config.json')),
    readText(at('chat_template.jinja')),
  ])
  if (!tokenizer)
    throw new Fault(
      'bad-input',
      `${path}: expected a tokenizer folder with tokenizer.json, found no such file`,
    )
  const config = given ?? {}
  const source = jinja ?? configTemplate(config)
  if (source === undefined)
    throw new Fault(
      'bad-input',
      `${path}: expected a chat template, in chat_template.jinja or as chat_template in tokenizer_config.json`,
    )
  return {
    path,
    tokenizer,
    config,
    added: addedTokens(tokenizer, at('tokenizer.json')),
    special: specialTokens(config, map),
    ends: integers(generation?.eos_token_id),
    template: {
      source,
      file: at(jinja === undefined ? 'tokenizer_config.json' : 'chat_template.jinja'),
    },
  }
}
