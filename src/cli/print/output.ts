/** Output of commands: one JSON document or readable tables on stdout, everything else on stderr. */
import { once } from 'node:events'
import pc from 'picocolors'
import { Fault } from '../../error.js'
import { isStandardOutput } from '../../storage/atomic-write.js'

type Stream = NodeJS.WritableStream & { readonly isTTY?: boolean }

/** What a thread that runs a command line is given. */
export interface ThreadOptions {
  /** Megabytes of the collector's young generation. */
  readonly youngMb: number
  /** Whether the thread reads the standard input. */
  readonly withInput: boolean
}

/** A command's streams, its environment variables, and the signal that Ctrl-C aborts. */
export interface Terminal {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly stdout: Stream
  readonly stderr: Stream
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
  /** Runs the command line again in a thread; absent in that thread, and where a program runs the command. */
  readonly inThread?: (options: ThreadOptions) => Promise<number>
}

/** Flags of every command: `--json` and `--quiet`. */
export interface PrintFlags {
  readonly json?: boolean
  readonly quiet?: boolean
}

/** Writers for a command's result and its notes, by `--json` and `--quiet`. */
export interface Output {
  /** Writes the one document of `--json`. */
  readonly document: (value: unknown) => Promise<void>
  /** Writes readable lines of the result; to stderr when stdout is taken by `--json` or the output file. */
  readonly say: (text: string) => Promise<void>
  /** Says the result, and writes it as the document with `--json`; returns the exit code, @default 0. */
  readonly show: (text: string, document: unknown, code?: number) => Promise<number>
  /** Writes notes to stderr; none with `--quiet`. */
  readonly note: (text: string) => Promise<void>
  /** The stream that `say` writes to. */
  readonly resultStream: Stream
  /** Colours for that stream. */
  readonly paint: ReturnType<typeof pc.createColors>
}

/** Writes text and waits for a slow reader, so that a long stream is not buffered in memory. */
export async function write(stream: Stream, text: string): Promise<void> {
  if (!stream.write(text)) await once(stream, 'drain')
}

/** Parses `FORCE_COLOR`: `0` and `false` are no, anything else is yes. */
const parseForceColor = (value: string | undefined): boolean | undefined =>
  value === undefined ? undefined : value !== '0' && value !== 'false'

/** Colours for a stream: none with `NO_COLOR`, else by `FORCE_COLOR`, else on a terminal other than `dumb`. */
export const createPaint = (
  stream: Stream,
  { NO_COLOR, FORCE_COLOR, TERM }: Terminal['env'],
): Output['paint'] =>
  pc.createColors(
    !NO_COLOR && (parseForceColor(FORCE_COLOR) ?? (Boolean(stream.isTTY) && TERM !== 'dumb')),
  )

/**
 * Creates the writers of one command.
 * @param flags print flags, and the file that the command writes, if any
 * @throws Fault `bad-input` when that file and the document of `--json` would both be stdout
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
  const document = (value: unknown) => write(stdout, `${JSON.stringify(value)}\n`)
  const say = (text: string) => write(people, `${text}\n`)
  return {
    document,
    say,
    show: async (text, value, code = 0) => {
      await say(text)
      if (json) await document(value)
      return code
    },
    note: async (text) => {
      if (!quiet) await write(stderr, `${text}\n`)
    },
    resultStream: people,
    paint: createPaint(people, env),
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

const pad = (text: string, width: number, right: boolean): string => {
  const gap = ' '.repeat(Math.max(0, width - columns(text)))
  return right ? gap + text : text + gap
}

/** Options of {@link table}. */
export interface TableOptions {
  /** Left-aligned columns, from the left; the rest hold numbers, aligned right. @default 1 */
  readonly words?: number
}

/** Formats rows as a table without rules, columns two spaces apart; wide characters count as two. */
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
        .map((cell, c) => pad(cell, widths[c] ?? 0, c >= words))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Formats a number with fixed digits; null and undefined give a dash. */
export const numberText = (value: number | null | undefined, digits = 3): string =>
  value === null || value === undefined ? '–' : value.toFixed(digits)

/** Quotes a word for a POSIX shell where it needs quotes. */
const quote = (word: string): string =>
  /^[\w./:=@,+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

/** An `npx bedside …` command line to copy, quoted for a shell. */
export const commandLine = (...words: readonly string[]): string =>
  ['npx', 'bedside', ...words].map(quote).join(' ')
