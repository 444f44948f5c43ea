/** A tokenizer folder as it is downloaded with a model: what its files say, checked and typed. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Fault, messageOf } from '../../error.js'

export type JsonObject = Readonly<Record<string, unknown>>

/** An entry of `added_tokens` in tokenizer.json. */
export interface AddedToken {
  readonly id: number
  readonly content: string
  readonly special: boolean
}

/** The files of a tokenizer folder that decide how a conversation becomes tokens. */
export interface TokenizerFolder {
  readonly path: string
  /** tokenizer.json as it is. */
  readonly tokenizer: JsonObject
  /** tokenizer_config.json, or `{}`. */
  readonly config: JsonObject
  readonly added: readonly AddedToken[]
  /** What templates are given by name: `bos_token`, `eos_token`, `pad_token`, `unk_token`. */
  readonly special: Readonly<Record<string, string>>
  /** Ids at which generation ends according to generation_config.json. */
  readonly ends: readonly number[]
  readonly template: {
    readonly source: string
    /** The file it came from. */
    readonly file: string
  }
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    // A path that is a folder, or forbidden, is not the same as a file that is not there.
    if (
      error instanceof Error &&
      'code' in error &&
      ['ENOENT', 'ENOTDIR'].includes(`${error.code}`)
    )
      return undefined
    throw new Fault('bad-input', `${file}: ${messageOf(error)}`, { cause: error })
  }
}

async function objectOf(file: string): Promise<JsonObject | undefined> {
  const text = await textOf(file)
  if (text === undefined) return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Fault('bad-input', `${file}: expected valid JSON: ${messageOf(error)}`, {
      cause: error,
    })
  }
  if (isObject(value)) return value
  throw new Fault('bad-input', `${file}: expected a JSON object, got \`${text.slice(0, 40)}\``)
}

/** A special token is written as its text, or as an object that has it. */
const contentOf = (value: unknown): string | undefined => {
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

/** Where a config holds several templates, the one called `default`. */
function templateOf(config: JsonObject): string | undefined {
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
    const content = sources.map((source) => contentOf(source?.[name])).find(Boolean)
    if (content !== undefined) out[name] = content
  }
  return out
}

const integers = (value: unknown): number[] =>
  (Array.isArray(value) ? value : [value]).filter((one) => Number.isInteger(one))

/**
 * Reads `tokenizer.json`, `tokenizer_config.json`, `special_tokens_map.json`, `generation_config.json` and the
 * chat template (`chat_template.jinja`, else the config's `chat_template`).
 * @throws Fault `bad-input` with the file and what was expected
 */
export async function readTokenizerFolder(path: string): Promise<TokenizerFolder> {
  const at = (name: string) => join(path, name)
  const [tokenizer, given, map, generation, jinja] = await Promise.all([
    objectOf(at('tokenizer.json')),
    objectOf(at('tokenizer_config.json')),
    objectOf(at('special_tokens_map.json')),
    objectOf(at('generation_config.json')),
    textOf(at('chat_template.jinja')),
  ])
  if (!tokenizer)
    throw new Fault(
      'bad-input',
      `${path}: expected a tokenizer folder with tokenizer.json, found no such file`,
    )
  const config = given ?? {}
  const source = jinja ?? templateOf(config)
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
