/** `bedside knowledge`: what a knowledge base holds, and whether it holds together. */
import type { Knowledge } from '../../knowledge/knowledge.js'
import { loadCheckedKnowledge } from '../../knowledge/load.js'
import type { PrintFlags, Terminal } from '../print/output.js'
import { output, table } from '../print/output.js'

const count = <T>(things: readonly T[], is: (thing: T) => boolean): number =>
  things.filter(is).length

function report(knowledge: Knowledge) {
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

/** Checks a folder, or the knowledge base that comes with the package, and says what is in it. */
export async function checkKnowledge(
  folder: string | undefined,
  flags: PrintFlags,
  terminal: Terminal,
): Promise<number> {
  const out = output(terminal, flags)
  const { groups, ...counts } = report(loadCheckedKnowledge(folder))
  const { diseases, novel, findings, patientKnown, exams, panels, actions, reviewed } = counts
  await out.say(
    [
      table(
        [
          ['group', 'name', 'diseases'],
          ...groups.map(({ id, name, diseases: ids }) => [
            id,
            `${name.en} ${name.zh}`,
            ids.join(', '),
          ]),
        ],
        { words: 3 },
      ),
      '',
      `${diseases} diseases (${novel} of them novel, drawn by the ood tier alone) in ${groups.length} groups`,
      `${findings} findings, ${patientKnown} of them known to the patient (${Math.round((100 * patientKnown) / findings)} %)`,
      `${exams} examinations, ${panels} of them panels; ${actions} actions; reviewed by a clinician: ${reviewed}`,
      'Nothing wrong was found.',
    ].join('\n'),
  )
  if (flags.json) await out.document({ groups, ...counts })
  return 0
}
