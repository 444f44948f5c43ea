/** `bedside knowledge check`: validates a knowledge base and counts its contents. */
import type { Knowledge } from '../../knowledge/knowledge.js'
import { loadCheckedKnowledge } from '../../knowledge/load.js'
import { output, type PrintFlags, type Terminal, table } from '../print/output.js'

const count = <T>(items: readonly T[], matches: (item: T) => boolean): number =>
  items.filter(matches).length

function contents(knowledge: Knowledge) {
  const { diseases, findings, exams, actions, groups } = knowledge
  return {
    groups: [...groups].map(([id, name]) => ({
      id,
      name,
      diseases: diseases.filter(({ group }) => group === id).map((disease) => disease.id),
    })),
    diseases: diseases.length,
    novel: count(diseases, ({ novel }) => novel),
    findings: findings.length,
    patientKnown: count(findings, ({ knownBy }) => knownBy === 'patient'),
    exams: exams.length,
    panels: count(exams, ({ panelOf }) => panelOf.length > 0),
    actions: actions.size,
    reviewed: count(diseases, ({ reviewed }) => reviewed !== null),
  }
}

/** Checks a folder, or the packaged knowledge base, and prints its contents; throws on the first problem. */
export async function checkKnowledge(
  folder: string | undefined,
  flags: PrintFlags,
  terminal: Terminal,
): Promise<number> {
  const out = output(terminal, flags)
  const { groups, ...counts } = contents(loadCheckedKnowledge(folder))
  const { diseases, novel, findings, patientKnown, exams, panels, actions, reviewed } = counts
  const rows = groups.map(({ id, name, diseases: ids }) => [
    id,
    `${name.en} ${name.zh}`,
    ids.join(', '),
  ])
  return out.show(
    [
      table([['group', 'name', 'diseases'], ...rows], { words: 3 }),
      '',
      `${diseases} diseases (${novel} of them novel, drawn by the ood tier alone) in ${groups.length} groups`,
      `${findings} findings, ${patientKnown} of them known to the patient (${Math.round((100 * patientKnown) / findings)} %)`,
      `${exams} examinations, ${panels} of them panels; ${actions} actions; reviewed by a clinician: ${reviewed}`,
      'Nothing wrong was found.',
    ].join('\n'),
    { groups, ...counts },
  )
}
