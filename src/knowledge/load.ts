/** Knowledge bases on disk: a folder of `*.json` files, held to the schema and checked by file and line. */
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type * as Yaml from 'yaml'
import type * as Zod from 'zod'
import { Fault, messageOf } from '../error.js'
import { firstLines } from '../platform/bounded-list.js'
import { packageFolder } from '../platform/package-root.js'
import { problemsOf } from './check.js'
import type { Knowledge } from './knowledge.js'
import { indexKnowledge } from './knowledge.js'
import type { KnowledgeFile } from './schema.js'
import { knowledgeFileSchema } from './schema.js'

const require = createRequire(import.meta.url)

/** Where in the JSON text a path stands, as `line N`; parsed again only when there is an error to report. */
function lineOf(text: string, path: readonly PropertyKey[]): string {
  // Loaded only for a message; it would double the time to the first step.
  const { LineCounter, parseDocument }: typeof Yaml = require('yaml')
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true)
    const range = (node as { range?: readonly number[] } | undefined)?.range
    if (range) return `${lines.linePos(range[0] ?? 0).line}`
  }
  return '1'
}

/** A file as it was read, for messages that name a line of it. */
interface Source {
  readonly path: string
  readonly text: string
  readonly file: KnowledgeFile
}

function readFile(path: string, trusted: boolean): Source {
  const text = readFileSync(path, 'utf8')
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw new Fault('bad-input', `${path}: ${messageOf(error)}`)
  }
  if (trusted) return { path, text, file: json as KnowledgeFile } // a test holds it to the schema
  const { z }: typeof Zod = require('zod')
  const parsed = knowledgeFileSchema(z).safeParse(json)
  if (parsed.success) return { path, text, file: parsed.data }
  const issue = parsed.error.issues[0]
  const where = issue?.path ?? []
  throw new Fault(
    'bad-input',
    `${path}:${lineOf(text, where)}: ${issue?.message ?? 'not a knowledge file'} at ${where.join('.')}`,
  )
}

/** `file:line` of the last definition of an id, or the folder where there is none. */
function placeOf(id: string, sources: readonly Source[], folder: string): string {
  const definition = new RegExp(`"id"\\s*:\\s*"${id}"`, 'g')
  const places = sources.flatMap(({ path, text }) =>
    [...text.matchAll(definition)].map(
      ({ index }) => `${path}:${text.slice(0, index).split('\n').length}`,
    ),
  )
  return places.at(-1) ?? folder
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .sort()
  } catch (error) {
    throw new Fault('bad-input', `${folder}: ${messageOf(error)}`, { cause: error })
  }
}

const cache = new Map<string, Knowledge>()

/**
 * Reads every `*.json` file of a folder. A folder of the user's own is checked; the one that comes with the
 * package is checked by its tests, which saves the time.
 * @param folder @default the knowledge base that comes with the package
 * @throws Fault `bad-input` with file, line, path and what was expected
 */
export const loadKnowledge = (folder?: string): Knowledge =>
  load(folder ?? shipped(), folder === undefined)

/** Reads and checks a folder, be it the one that comes with the package; see `loadKnowledge`. */
export const checkedKnowledge = (folder?: string): Knowledge => load(folder ?? shipped(), false)

const shipped = (): string => join(packageFolder(), 'data/knowledge')

function load(folder: string, trusted: boolean): Knowledge {
  const key = `${folder}${trusted ? '' : ' checked'}`
  const known = cache.get(key)
  if (known) return known
  const names = namesIn(folder)
  if (names.length === 0) throw new Fault('bad-input', `${folder}: no *.json files`)
  const sources = names.map((name) => readFile(join(folder, name), trusted))
  const knowledge = indexKnowledge(sources.map(({ file }) => file))
  const place = (id: string): string => placeOf(id, sources, folder)
  // The shipped base is checked by a test.
  const wrong = (trusted ? [] : [...problemsOf(knowledge)]).map(
    ({ id, why, other }) => `${place(id)}: ${why}${other ? `, at ${place(other)}` : ''}`,
  )
  if (wrong.length > 0) throw new Fault('bad-input', firstLines(wrong).join('\n'))
  cache.set(key, knowledge)
  return knowledge
}
