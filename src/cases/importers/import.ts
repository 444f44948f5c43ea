/** Importers: from a file somebody else made to cases or episodes, with a report of what was left out and why. */
import type { Case } from '../../case.js'
import type { SavedEpisode } from '../../storage/episode-schema.js'
import type { Leak } from '../leaks/leak.js'

export interface ImportReport {
  readonly format: string
  /** Cases made, or episodes. */
  readonly ok: number
  /** Rows read; several may make one case. */
  readonly rows: number
  /** Rows that gave nothing, counted from 0, with the place in the row and the reason. */
  readonly skipped: readonly {
    readonly row: number
    readonly path: string
    readonly reason: string
  }[]
  /** What was repaired or left out of a case that was made; `row` is the first of its rows. */
  readonly warnings: readonly { readonly row?: number; readonly message: string }[]
  /** Where the doctor reads or hears a gold diagnosis; the cases are kept. */
  readonly leaks: readonly (Leak & { readonly case: string })[]
  readonly licence: string
  readonly redistributable: boolean
}

export interface Imported {
  readonly cases: readonly Case[]
  /** What a file of demonstrations gives, in place of cases. */
  readonly episodes?: readonly SavedEpisode[]
  readonly report: ImportReport
}

/**
 * Reads one file.
 * @throws Fault `bad-input` when the file is missing, of another format, or lacks a column
 */
export type Importer = (path: string) => Promise<Imported>

/** Every importer by the name of its format. */
export const importers: Readonly<Record<string, Importer>> = {
  mtmeddialog: async (path) => (await import('./mtmeddialog.js')).importMtmeddialog(path),
  'huatuo-rl': async (path) => (await import('./huatuo-rl.js')).importHuatuoRl(path),
  'huatuo-sft': async (path) => (await import('./huatuo-sft.js')).importHuatuoSft(path),
}
