/** Reads the rows of a JSON array or of a JSONL file, compressed or not. */
import { stat } from 'node:fs/promises'
import { errorMessage, rethrowAsFault } from '../../error.js'
import { readLines } from '../../storage/compressed-lines.js'

/** A row, or what is wrong with its line. */
export type JsonRow = { readonly value: unknown } | { readonly broken: string }

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
