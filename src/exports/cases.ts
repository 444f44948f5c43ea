/** `bedside/cases`: read and write case files, generate cases, import published files, split them, scan them for leaks. */
export { caseSource, generateCase, twin } from '../cases/generator/generate.js'
export { importers } from '../cases/importers/import.js'
export type { ImportReport } from '../cases/importers/import-report.js'
export { mineActionSpace } from '../cases/importers/mine-action-space.js'
export { leaks } from '../cases/leaks/leak.js'
export { splitCases } from '../cases/split.js'
export { readCases, streamCases, writeCases } from '../storage/case-files.js'
export { caseJsonSchema } from '../storage/case-schema.js'
