/** Case files: streamed JSONL, one case per line, compressed where the name ends in .gz or .br. */
import { stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { z } from 'zod'
import type { Case } from '../case.js'
import { errorMessage, Fault, rethrowAsFault } from '../error.js'
import { type NewFile, newFile } from './atomic-write.js'
import type { caseSchema } from './case-schema.js'
import { createCompressor, readLines, refuseArray } from './compressed-lines.js'

/** A line that is not a case. */
export interface BrokenLine {
  /** Line number, from 1. */
  readonly line: number
  /** The problem, its path in the line, what was expected and what was found. */
  readonly message: string
}

/** A value as JSON, cut to 80 characters. */
const abbreviate = (value: unknown): string => {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}

function expected(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type') return issue.expected
  if (issue.code === 'invalid_value') return issue.values.map(abbreviate).join(' or ')
  if (issue.code === 'too_small') return `at least ${issue.minimum}`
  if (issue.code === 'too_big') return `at most ${issue.maximum}`
  return issue.message.replace(/^expected /i, '')
}

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined,
    value,
  )

/** Describes the first problem of a value that should be a case. */
function describeProblem(value: unknown, issue: z.core.$ZodIssue | undefined): string {
  if (!issue) return 'not a case'
  const place = issue.path.map(String).join('.') || 'the whole line'
  return `not a case at ${place}, expected ${expected(issue)}, got ${abbreviate(valueAt(value, issue.path))}`
}

function parseLine(
  text: string,
  schema: typeof caseSchema,
): { readonly truth: Case } | { readonly wrong: string } {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { wrong: `not JSON, expected a case, got ${abbreviate(text)} (${errorMessage(error)})` }
  }
  const parsed = schema.safeParse(value)
  return parsed.success
    ? { truth: parsed.data }
    : { wrong: describeProblem(value, parsed.error.issues[0]) }
}

/** Options of {@link streamCases}. */
export interface StreamCasesOptions {
  /** Called for each broken line, which is then skipped. @default throw at the first */
  readonly onBroken?: (broken: BrokenLine) => void
}

/**
 * Streams a case file; blank lines are ignored, and memory grows only with the ids.
 * @throws Fault `bad-input` as `path:line: …` for a broken line or a second case of one id, and for a file
 *   that is missing, holds no line at all, is one JSON array, or is not in UTF-8
 */
export async function* streamCases(
  path: string,
  { onBroken }: StreamCasesOptions = {},
): AsyncGenerator<Case, void, undefined> {
  const broken =
    onBroken ??
    (({ line, message }: BrokenLine) => {
      throw new Fault('bad-input', `${path}:${line}: ${message}`)
    })
  await rethrowAsFault('bad-input', path, async () => {
    if (!(await stat(path)).isFile()) throw new Error('expected a file, got a folder')
  })
  const { caseSchema: schema } = await import('./case-schema.js')
  const lines = new Map<string, number>()
  let line = 0
  let filled = 0
  for await (const text of readLines(path)) {
    line++
    const trimmed = text.trim()
    if (trimmed === '') continue
    if (filled++ === 0) refuseArray(trimmed, 'case', path)
    const read = parseLine(trimmed, schema)
    if ('wrong' in read) {
      broken({ line, message: read.wrong })
      continue
    }
    const { id } = read.truth
    const first = lines.get(id)
    if (first !== undefined) {
      const message = `a second case at id, expected an id of its own, got ${abbreviate(id)}, which line ${first} has`
      broken({ line, message })
      continue
    }
    lines.set(id, line)
    yield read.truth
  }
  if (filled === 0)
    throw new Fault('bad-input', `${path}: no cases: expected one a line, got an empty file`)
}

/** Reads a whole case file into memory; throws like {@link streamCases}. */
export async function readCases(path: string): Promise<Case[]> {
  const cases: Case[] = []
  for await (const truth of streamCases(path)) cases.push(truth)
  return cases
}

async function* toLines(cases: Iterable<Case> | AsyncIterable<Case>, count: () => void) {
  for await (const truth of cases) {
    count()
    yield `${JSON.stringify(truth)}\n`
  }
}

/**
 * Writes a case file atomically. Links are followed, and a FIFO or device is streamed to.
 * @returns how many cases were written
 * @throws Fault `bad-input` when the path cannot be written; errors of the case source pass unchanged
 */
export async function writeCases(
  path: string,
  cases: Iterable<Case> | AsyncIterable<Case>,
): Promise<number> {
  let file: NewFile | undefined
  let written = 0
  try {
    const to = await newFile(path)
    file = to
    const lines = Readable.from(
      toLines(cases, () => {
        written++
      }),
    )
    const packer = createCompressor(path)
    const append = async (chunks: AsyncIterable<string | Uint8Array>) => {
      for await (const chunk of chunks) await to.write(chunk)
    }
    await (packer ? pipeline(lines, packer, append) : pipeline(lines, append))
    await to.close()
  } catch (error) {
    await file?.discard()
    // An error of the case source is no fault of the path.
    if (!(error instanceof Error && 'syscall' in error)) throw error
    throw new Fault('bad-input', `${path}: cannot be written: ${errorMessage(error)}`, {
      cause: error,
    })
  }
  return written
}
