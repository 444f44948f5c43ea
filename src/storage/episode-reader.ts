/**
 * The rows of saved episodes, read quickly and as strictly as ever.
 *
 * The case makes up most of a row, and siblings share it: what was read of it once is used again. What a quick reading
 * is not sure of goes to zod, as it stands in the file.
 */
import type { GraderView } from '../case.js'
import { Fault, messageOf } from '../error.js'
import type { SavedEpisode } from './episode-schema.js'
import { checkSaved, quickRest, quickTruth } from './episode-schema.js'
import { unsure } from './quick-schema.js'

/** Cases that are remembered: siblings stand together, and what lives longer is a burden on the collector. */
const most = 16

/** The value of a JSON text. @throws Fault `bad-input` with the place */
export function fromJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Fault('bad-input', `${where}: ${messageOf(error)}`)
  }
}

/** The value of a JSON text; undefined for what is none. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Reads the text of a truth, or remembers what it read; undefined where zod has to be asked. */
function truthReader(): (text: string) => GraderView | undefined {
  const seen = new Map<string, GraderView>()
  return (text) => {
    const known = seen.get(text)
    if (known) return known
    const read = quickTruth(parsed(text))
    if (read === unsure) return undefined
    const truth = read as GraderView // what its schema makes
    const [oldest] = seen.keys()
    if (seen.size >= most && oldest !== undefined) seen.delete(oldest)
    seen.set(text, truth)
    return truth
  }
}

/** A row in two pieces, where it was taken apart, and whole. */
export interface RowPieces {
  /** Everything but the truth, parsed. */
  readonly rest: unknown
  /** The JSON of the truth. */
  readonly truth: string | undefined
  /** The row parsed anew, for zod. */
  readonly whole: () => unknown
}

/** Reads one row after another. @throws Fault `bad-input` naming the place, the path and what was expected */
export function rowReader(): (row: RowPieces, where: string) => SavedEpisode {
  const truthOf = truthReader()
  return ({ rest, truth: text, whole }, where) => {
    const truth = text === undefined ? undefined : truthOf(text)
    const read = truth === undefined ? unsure : quickRest(rest)
    if (truth === undefined || read === unsure) return checkSaved(whole(), where)
    return { ...(read as Omit<SavedEpisode, 'truth'>), truth } // what its schema makes
  }
}

const mark = ',"truth":'
const beginning = `${mark}{"view":"grader"`

/**
 * A line taken apart where its truth begins, which the writer puts last; undefined for one that was written otherwise.
 * Both pieces being JSON, the line is the object of both.
 */
export function piecesOf(
  line: string,
): { readonly rest: unknown; readonly truth: string } | undefined {
  const cut = line.indexOf(beginning)
  if (cut < 0 || !line.endsWith('}')) return undefined
  const rest = parsed(`${line.slice(0, cut)}}`)
  return rest === undefined ? undefined : { rest, truth: line.slice(cut + mark.length, -1) }
}
