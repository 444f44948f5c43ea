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
  /** What does not fit the schema. The definitions with such a problem are left out of `file`. */
  readonly problems: readonly string[]
  /** Ids of the definitions left out. */
  readonly leftOut: readonly string[]
}

/** A file without the definitions that do not fit, so that the rest can be checked in the same run. */
function withoutBroken(json: unknown, issues: readonly Zod.core.$ZodIssue[]) {
  const broken = new Set(
    issues.map(({ path: [list, index] }) => `${String(list)}/${String(index)}`),
  )
  const leftOut: string[] = []
  const rest = Object.entries(json ?? {}).map(([list, items]) => {
    if (!Array.isArray(items)) return [list, items] as const
    const fits = items.filter((item, index) => {
      const isBroken = broken.has(`${list}/${index}`)
      if (isBroken) leftOut.push(String(item?.id ?? item?.slot))
      return !isBroken
    })
    return [list, fits] as const
  })
  return { rest: Object.fromEntries(rest), leftOut }
}

function readFile(path: string, trusted: boolean): SourceFile {
  const text = readFileSync(path, 'utf8')
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw new Fault('bad-input', `${path}: ${errorMessage(error)}`)
  }
  const whole = { path, text, problems: [], leftOut: [] }
  if (trusted) return { ...whole, file: json as KnowledgeFile } // a test parses the shipped files with the schema
  const { z }: typeof Zod = require('zod')
  const schema = knowledgeFileSchema(z)
  const parsed = schema.safeParse(json)
  if (parsed.success) return { ...whole, file: parsed.data }
  const { issues } = parsed.error
  const problems = issues.map(
    ({ path: where, message }) =>
      `${path}:${lineNumber(text, where)}: ${message} at ${where.join('.')}`,
  )
  const { rest, leftOut } = withoutBroken(json, issues)
  const again = schema.safeParse(rest)
  if (!again.success) throw new Fault('bad-input', problems.join('\n'))
  return { path, text, file: again.data, problems, leftOut }
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
 * @throws Fault `bad-input` with file, line, path and what was expected, for the first ten problems
 */
export const loadKnowledge = (folder?: string): Knowledge =>
  load(folder ?? shippedFolder(), folder === undefined, (problems) =>
    firstLines(problems, `all of them with \`bedside knowledge check ${folder}\``),
  )

/** Loads a folder like {@link loadKnowledge}, and checks the shipped one too; names all its problems. */
export const loadCheckedKnowledge = (folder?: string): Knowledge =>
  load(folder ?? shippedFolder(), false, (problems) => problems)

const shippedFolder = (): string => join(packageRoot(), 'data/knowledge')

/** The problems of a knowledge base, each with its place. Those about a definition that was left out are its own. */
function* placedProblems(knowledge: Knowledge, sources: readonly SourceFile[], folder: string) {
  const place = (id: string): string => locate(id, sources, folder)
  const leftOut = sources.flatMap((source) => source.leftOut)
  for (const source of sources) yield* source.problems
  for (const { id, why, other } of findKnowledgeProblems(knowledge))
    if (!leftOut.some((lost) => why.split(/[^\w-]+/).includes(lost)))
      yield `${place(id)}: ${why}${other ? `, at ${place(other)}` : ''}`
}

function load(
  folder: string,
  trusted: boolean,
  shorten: (problems: readonly string[]) => readonly string[],
): Knowledge {
  const key = `${folder}${trusted ? '' : ' checked'}`
  const known = cache.get(key)
  if (known) return known
  const names = listFiles(folder)
  if (names.length === 0) throw new Fault('bad-input', `${folder}: no *.json files`)
  const sources = names.map((name) => readFile(join(folder, name), trusted))
  const knowledge = indexKnowledge(sources.map(({ file }) => file))
  // A test checks the shipped base.
  const problems = trusted ? [] : [...placedProblems(knowledge, sources, folder)]
  if (problems.length > 0) throw new Fault('bad-input', shorten(problems).join('\n'))
  cache.set(key, knowledge)
  return knowledge
}
