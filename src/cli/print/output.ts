/** What goes where: one JSON document, or tables for people, on stdout; everything else on stderr. */
import { once } from 'node:events'
import pc from 'picocolors'
import { Fault } from '../../error.js'
import { isStandardOutput } from '../../storage/atomic-write.js'

type Stream = NodeJS.WritableStream & { readonly isTTY?: boolean }

/** The world of one command: its streams, its environment, and the signal that Ctrl-C aborts. */
export interface Terminal {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly stdout: Stream
  readonly stderr: Stream
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
}

/** How every command prints. */
export interface PrintFlags {
  readonly json?: boolean
  readonly quiet?: boolean
}

export interface Output {
  /** The one document of `--json`. */
  readonly document: (value: unknown) => Promise<void>
  /** Lines of the result for people; on stderr where stdout is the document of `--json`, or the file that is written. */
  readonly say: (text: string) => Promise<void>
  /** Lines beside the result, on stderr; none with `--quiet`. */
  readonly note: (text: string) => Promise<void>
  /** Where `say` writes. */
  readonly people: Stream
  readonly paint: ReturnType<typeof pc.createColors>
}

/** Writes and, where the reader is slower, waits: a long stream does not pile up in memory. */
export async function write(stream: Stream, text: string): Promise<void> {
  if (!stream.write(text)) await once(stream, 'drain')
}

/** `FORCE_COLOR` as tools read it: `0` and `false` are no, anything else is yes. */
const forced = (value: string | undefined): boolean | undefined =>
  value === undefined ? undefined : value !== '0' && value !== 'false'

/** Colours for a stream: none with `NO_COLOR`, else as `FORCE_COLOR` says, else on a terminal that shows them. */
export const paintFor = (
  stream: Stream,
  { NO_COLOR, FORCE_COLOR, TERM }: Terminal['env'],
): Output['paint'] =>
  pc.createColors(!NO_COLOR && (forced(FORCE_COLOR) ?? (Boolean(stream.isTTY) && TERM !== 'dumb')))

/**
 * How one command prints.
 * @param flags with the file that the command writes, where it writes one
 * @throws Fault `bad-input` where that file and the document of `--json` would both be stdout
 */
export function output(
  { stdout, stderr, env }: Terminal,
  { json = false, quiet = false, out }: PrintFlags & { readonly out?: string | undefined } = {},
): Output {
  const taken = out !== undefined && isStandardOutput(out)
  if (json && taken)
    throw new Fault(
      'bad-input',
      `--json: stdout holds its document and nothing else, expected another place to write to, got \`${out}\``,
    )
  const people = json || taken ? stderr : stdout
  return {
    document: (value) => write(stdout, `${JSON.stringify(value)}\n`),
    say: (text) => write(people, `${text}\n`),
    note: async (text) => {
      if (!quiet) await write(stderr, `${text}\n`)
    },
    people,
    paint: paintFor(people, env),
  }
}

const wide = /[\u1100-\u115f\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60]/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
const colours = /\u001b\[\d+m/g

/** Columns a text takes in a terminal: two for a Han character, none for a colour. */
function columns(text: string): number {
  const plain = text.replace(colours, '')
  return [...plain].length + (plain.match(wide)?.length ?? 0)
}

const padded = (text: string, width: number, right: boolean): string => {
  const gap = ' '.repeat(Math.max(0, width - columns(text)))
  return right ? gap + text : text + gap
}

export interface TableOptions {
  /** Columns from the left that hold words; the rest hold numbers and end flush. @default 1 */
  readonly words?: number
}

/** A table without lines: columns two spaces apart. */
export function table(
  rows: readonly (readonly string[])[],
  { words = 1 }: TableOptions = {},
): string {
  const widths: number[] = []
  for (const row of rows)
    row.forEach((cell, c) => {
      widths[c] = Math.max(widths[c] ?? 0, columns(cell))
    })
  return rows
    .map((row) =>
      row
        .map((cell, c) => padded(cell, widths[c] ?? 0, c >= words))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** A mean as people read it. */
export const number = (value: number | null | undefined, digits = 3): string =>
  value === null || value === undefined ? '–' : value.toFixed(digits)

/** A word as a shell would take it. */
export const quoted = (word: string): string =>
  /^[\w./:=@,+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

/** A command to copy. */
export const commandLine = (...words: readonly string[]): string =>
  ['npx', 'bedside', ...words].map(quoted).join(' ')
