/** Reads rows of an external JSON file: one array or JSONL, decompressed where the name ends in .gz or .br. */
import { stat } from 'node:fs/promises'
import { errorMessage, rethrowAsFault } from '../../error.js'
import { readLines } from '../../storage/compressed-lines.js'

type JsonRow = { readonly value: unknown } | { readonly broken: string }

function parseRow(line: string): JsonRow {
  try {
    return { value: JSON.parse(line) }
  } catch (error) {
    return { broken: `not JSON: ${errorMessage(error)}` }
  }
}

/**
 * Reads every row. Blank lines are skipped; a line that is not JSON becomes a broken row.
 * @throws Fault `bad-input` for a file that is missing, not in UTF-8, not compressed as its name says, or a truncated array
 */
export const readJsonRows = (path: string): Promise<readonly JsonRow[]> =>
  rethrowAsFault('bad-input', path, async () => {
    if (!(await stat(path)).isFile()) throw new Error('expected a file, got a folder')
    const lines: string[] = []
    for await (const line of readLines(path)) if (line.trim() !== '') lines.push(line)
    if (!lines[0]?.trimStart().startsWith('[')) return lines.map(parseRow)
    const rows: unknown[] = JSON.parse(lines.join('\n'))
    return rows.map((value) => ({ value }))
  })

const excerpt = (value: unknown): string => {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

/** Key names of each field in order of preference; the first one present is read. */
export type FieldNames<Field extends string> = Readonly<
  Record<Field, readonly [string, ...string[]]>
>

/** Reads the text fields of a row, none missing or blank; else the path and reason of what is missing. */
export function readTexts<Field extends string>(
  row: JsonRow,
  names: FieldNames<Field>,
):
  | { readonly texts: Readonly<Record<Field, string>> }
  | { readonly path: string; readonly reason: string } {
  if ('broken' in row) return { path: '', reason: row.broken }
  const { value } = row
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { path: '', reason: `expected an object, got ${excerpt(value)}` }
  const missing: (readonly [name: string, got: unknown])[] = []
  const texts: Record<string, string> = {}
  for (const [field, known] of Object.entries<readonly [string, ...string[]]>(names)) {
    const name = known.find((one) => Object.hasOwn(value, one)) ?? known[0]
    const text: unknown = Reflect.get(value, name)
    if (typeof text === 'string' && text.trim() !== '') texts[field] = text
    else missing.push([name, text])
  }
  if (missing.length === 0) return { texts: texts as Record<Field, string> } // one of each, by the loop
  return {
    path: missing.map(([name]) => name).join(', '),
    reason: `expected text, got ${missing.map(([, got]) => excerpt(got)).join(', ')}`,
  }
}
