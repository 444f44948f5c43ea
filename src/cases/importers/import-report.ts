/** What an importer returns: cases or episodes, and a report of what was skipped and why. */
import type { Case } from '../../case.js'
import type { SavedEpisode } from '../../storage/episode-schema.js'
import type { Leak } from '../leaks/leak.js'

/** Counts, skipped rows, warnings and licence of one import. */
export interface ImportReport {
  /** Key of the importer in `importers`. */
  readonly format: string
  /** Number of cases or episodes imported. */
  readonly ok: number
  /** Rows read; several may become one case. */
  readonly rows: number
  /** Skipped rows, counted from 0, with the path inside the row and the reason. */
  readonly skipped: readonly {
    readonly row: number
    /** Line in the file, from 1, in formats of one row a line. */
    readonly line?: number
    readonly path: string
    readonly reason: string
  }[]
  /** Parts repaired or left out of imported cases; `row` is the first row of the case. */
  readonly warnings: readonly { readonly row?: number; readonly message: string }[]
  /** Texts that give a gold diagnosis away; their cases are kept. */
  readonly leaks: readonly (Leak & { readonly case: string })[]
  readonly licence: string
  readonly redistributable: boolean
}

/** Cases or episodes of one file, and the report. */
export interface ImportResult {
  readonly cases: readonly Case[]
  /** Demonstrations, from formats that hold those in place of cases. */
  readonly episodes?: readonly SavedEpisode[]
  readonly report: ImportReport
}

/**
 * Imports one file.
 * @throws Fault `bad-input` when the file is missing, of another format, or lacks a column
 */
export type Importer = (path: string) => Promise<ImportResult>
