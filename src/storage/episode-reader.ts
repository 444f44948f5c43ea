/**
 * Fast parser of saved episode rows, as strict as the zod schema.
 *
 * Most of a row is its case, which siblings share, so parsed truths are cached. A row that the quick check is unsure
 * of is parsed again by zod.
 */
import type { GraderView } from '../case.js'
import { parseSavedEpisode, quickRest, quickTruth, type SavedEpisode } from './episode-schema.js'
import { unsure } from './quick-schema.js'

/** Cached truths. Siblings are consecutive, so a small cache suffices; a large one slows garbage collection. */
const cacheSize = 16

/** Parses JSON; undefined for invalid JSON. */
function tryParse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Parses the JSON of a truth through a cache; undefined where zod has to decide. */
function truthReader(): (text: string) => GraderView | undefined {
  const seen = new Map<string, GraderView>()
  return (text) => {
    const known = seen.get(text)
    if (known) return known
    const read = quickTruth(tryParse(text))
    if (read === unsure) return undefined
    const truth = read as GraderView // the output type of its schema
    const [oldest] = seen.keys()
    if (seen.size >= cacheSize && oldest !== undefined) seen.delete(oldest)
    seen.set(text, truth)
    return truth
  }
}

/** A row split in two pieces, and whole. */
export interface RowPieces {
  /** Everything but the truth, parsed. */
  readonly rest: unknown
  /** The JSON of the truth; undefined for a row that was not split. */
  readonly truth: string | undefined
  /** Parses the whole row again, for zod. */
  readonly whole: () => unknown
}

/** Makes a parser of rows with a cache. @throws Fault `bad-input` naming location, path and what was expected */
export function rowReader(): (row: RowPieces, where: string) => SavedEpisode {
  const readTruth = truthReader()
  return ({ rest, truth: text, whole }, where) => {
    const truth = text === undefined ? undefined : readTruth(text)
    const read = truth === undefined ? unsure : quickRest(rest)
    if (truth === undefined || read === unsure) return parseSavedEpisode(whole(), where)
    return { ...(read as Omit<SavedEpisode, 'truth'>), truth } // the output type of its schema
  }
}

const mark = ',"truth":'
const beginning = `${mark}{"view":"grader"`

/**
 * Splits a line where its truth begins, which our writer puts last; undefined for a line written otherwise. If both
 * pieces are JSON, the line is the object of both.
 */
export function splitLine(
  line: string,
): { readonly rest: unknown; readonly truth: string } | undefined {
  const cut = line.indexOf(beginning)
  if (cut < 0 || !line.endsWith('}')) return undefined
  const rest = tryParse(`${line.slice(0, cut)}}`)
  return rest === undefined ? undefined : { rest, truth: line.slice(cut + mark.length, -1) }
}
