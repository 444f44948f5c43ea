/** Loads a knowledge base from a folder of `*.json` files; problems are reported by file and line. */
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type * as Yaml from 'yaml'
import type * as Zod from 'zod'
import { errorMessage, Fault } from '../error.js'
import { firstLines } from '../platform/bounded-list.js'
import { packageRoot } from '../platform/package-root.js'
import { findKnowledgeProblems } from './check.js'
import { indexKnowledge } from './index-knowledge.js'
import type { Knowledge } from './knowledge.js'
import { type KnowledgeFile, knowledgeFileSchema } from './schema.js'

const require = createRequire(import.meta.url)

/** Line number of a path in the JSON text; parses the text again, only for an error message. */
function lineNumber(text: string, path: readonly PropertyKey[]): string {
  // Loaded only for a message: loading it at start would double the time to the first step.
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

/** A file as read, with its text for messages that name a line. */
interface SourceFile {
  readonly path: string
  readonly text: string
  readonly file: KnowledgeFile
}

function readFile(path: string, trusted: boolean): SourceFile {
  const text = readFileSync(path, 'utf8')
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw new Fault('bad-input', `${path}: ${errorMessage(error)}`)
  }
  if (trusted) return { path, text, file: json as KnowledgeFile } // a test parses the shipped files with the schema
  const { z }: typeof Zod = require('zod')
  const parsed = knowledgeFileSchema(z).safeParse(json)
  if (parsed.success) return { path, text, file: parsed.data }
  const issue = parsed.error.issues[0]
  const where = issue?.path ?? []
  throw new Fault(
    'bad-input',
    `${path}:${lineNumber(text, where)}: ${issue?.message ?? 'not a knowledge file'} at ${where.join('.')}`,
  )
}

/** `file:line` of the last definition of an id, or the folder where there is none. */
function locate(id: string, sources: readonly SourceFile[], folder: string): string {
  const definition = new RegExp(`"id"\\s*:\\s*"${id}"`, 'g')
  const places = sources.flatMap(({ path, text }) =>
    [...text.matchAll(definition)].map(
      ({ index }) => `${path}:${text.slice(0, index).split('\n').length}`,
    ),
  )
  return places.at(-1) ?? folder
}

function listFiles(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .sort()
  } catch (error) {
    throw new Fault('bad-input', `${folder}: ${errorMessage(error)}`, { cause: error })
  }
}

const cache = new Map<string, Knowledge>()

/**
 * Loads every `*.json` file of a folder. A user's folder is checked; the one shipped with the package is checked by
 * tests instead, which saves time.
 * @param folder @default the knowledge base shipped with the package
 * @throws Fault `bad-input` with file, line, path and what was expected
 */
export const loadKnowledge = (folder?: string): Knowledge =>
  load(folder ?? shippedFolder(), folder === undefined)

/** Loads a folder like {@link loadKnowledge}, and checks the shipped one too. */
export const loadCheckedKnowledge = (folder?: string): Knowledge =>
  load(folder ?? shippedFolder(), false)

const shippedFolder = (): string => join(packageRoot(), 'data/knowledge')

function load(folder: string, trusted: boolean): Knowledge {
  const key = `${folder}${trusted ? '' : ' checked'}`
  const known = cache.get(key)
  if (known) return known
  const names = listFiles(folder)
  if (names.length === 0) throw new Fault('bad-input', `${folder}: no *.json files`)
  const sources = names.map((name) => readFile(join(folder, name), trusted))
  const knowledge = indexKnowledge(sources.map(({ file }) => file))
  const place = (id: string): string => locate(id, sources, folder)
  // A test checks the shipped base.
  const problems = (trusted ? [] : [...findKnowledgeProblems(knowledge)]).map(
    ({ id, why, other }) => `${place(id)}: ${why}${other ? `, at ${place(other)}` : ''}`,
  )
  if (problems.length > 0) throw new Fault('bad-input', firstLines(problems).join('\n'))
  cache.set(key, knowledge)
  return knowledge
}
