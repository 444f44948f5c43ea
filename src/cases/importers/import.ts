/** Importers of external data sets: a file becomes cases or episodes, with a report of what was skipped and why. */
import type { Importer } from './import-report.js'

/** All importers by format name. */
export const importers: Readonly<Record<string, Importer>> = {
  dialogues: async (path) => (await import('./dialogues.js')).importDialogues(path),
  mtmeddialog: async (path) => (await import('./mtmeddialog.js')).importMtmeddialog(path),
  'huatuo-rl': async (path) => (await import('./huatuo.js')).importHuatuoRl(path),
  'huatuo-sft': async (path) => (await import('./huatuo.js')).importHuatuoSft(path),
}
