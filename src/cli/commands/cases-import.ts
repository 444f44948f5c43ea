/** `bedside cases import`: converts a published data set to a case file, or to episodes to imitate. */

import { importers } from '../../cases/importers/import.js'
import type { ImportReport, ImportResult } from '../../cases/importers/import-report.js'
import { Fault } from '../../error.js'
import { firstLines } from '../../platform/bounded-list.js'
import { writeCases } from '../../storage/case-files.js'
import { episodeWriter } from '../../storage/episode-files.js'
import type { CaseFlags } from '../flags/flags.js'
import { output, type Terminal, table } from '../print/output.js'

interface ImportFlags extends CaseFlags {
  readonly format: string
  readonly out: string
}

function importText(file: string, what: string, report: ImportReport): string {
  const { ok, rows, skipped, warnings, leaks: found, licence, redistributable } = report
  const listed = <T>(list: readonly T[], text: (item: T) => string): string[] =>
    firstLines(list.map(text), 'all of them with --json').map((line) => `  ${line}`)
  return [
    table([
      ['rows read', `${rows}`],
      [what, `${ok}`],
      ['rows skipped', `${skipped.length}`],
      ['warnings', `${warnings.length}`],
      ['leaks', `${found.length} in ${new Set(found.map((leak) => leak.case)).size} cases`],
      ['redistributable', redistributable ? 'yes' : 'no'],
    ]),
    ...(skipped.length > 0 ? ['', 'Skipped'] : []),
    ...listed(skipped, ({ row, line, path, reason }) =>
      line === undefined ? `row ${row}: ${path}: ${reason}` : `${file}:${line}: ${path}: ${reason}`,
    ),
    ...(warnings.length > 0 ? ['', 'Warnings'] : []),
    ...listed(warnings, ({ row, message }) =>
      row === undefined ? message : `row ${row}: ${message}`,
    ),
    ...(found.length > 0 ? ['', 'Leaks: texts the doctor hears that name the diagnosis'] : []),
    ...listed(found, ({ case: id, where, phrase }) => `${id}: ${where}: ${phrase}`),
    '',
    `Licence: ${licence}`,
  ].join('\n')
}

/** Writes imported cases or episodes atomically. */
async function writeImported(path: string, { cases, episodes }: ImportResult): Promise<void> {
  if (!episodes) {
    await writeCases(path, cases)
    return
  }
  const writer = episodeWriter(path)
  for (const saved of episodes) await writer.write(saved)
  await writer.close()
}

/** Imports a data set as a case file or a file of episodes, written atomically, and prints a report. */
export async function importCases(
  file: string,
  flags: ImportFlags,
  terminal: Terminal,
): Promise<number> {
  const out = output(terminal, flags)
  const importer = importers[flags.format]
  if (!importer)
    throw new Fault(
      'bad-input',
      `--format: expected ${Object.keys(importers).join(', ')}, got \`${flags.format}\``,
    )
  const imported = await importer(file)
  const { episodes, report } = imported
  terminal.signal.throwIfAborted()
  if (report.ok === 0)
    throw new Fault(
      'bad-input',
      `${file}: expected at least one row that makes ${episodes ? 'an episode' : 'a case'}, got none of ${report.rows}; nothing was written`,
    )
  await writeImported(flags.out, imported)
  const what = episodes ? 'episodes' : 'cases'
  await out.say(importText(file, what, report))
  await out.note(`\n${report.ok} ${what} in ${flags.out}`)
  if (flags.json) await out.document(report)
  return 0
}
