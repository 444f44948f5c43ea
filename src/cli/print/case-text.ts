/** A case as people read it: what one of its readers sees, in one language. */
import type { Case, GraderView } from '../../case.js'
import {
  doctorView,
  examinerView,
  graderView,
  patientView,
  primaryDiagnosis,
  textInLanguage,
} from '../../case.js'
import type { Knowledge } from '../../knowledge/knowledge.js'
import type { Language } from '../../turn.js'
import { openingText } from './consultation-text.js'
import { table } from './output.js'

const views = {
  doctor: doctorView,
  patient: patientView,
  examiner: examinerView,
  grader: graderView,
} as const
export type ViewName = keyof typeof views

/** A view as JSON holds it: maps become objects. */
export const viewJson = (truth: Case, view: ViewName): unknown =>
  JSON.parse(
    JSON.stringify(views[view](truth), (_, value) =>
      value instanceof Map ? Object.fromEntries(value) : value,
    ),
  )

/** Findings and reports a line each, with the words they would be told in. */
function findingLines(
  truth: Case,
  view: ViewName,
  language: Language,
  knowledge: Knowledge,
): string[] {
  if (view === 'doctor') return []
  const known = truth.findings.filter(
    ({ knownBy }) => view === 'grader' || knownBy === (view === 'patient' ? 'patient' : 'exam'),
  )
  const rows = known.map(({ id, state, value, question, utterance }) => {
    const definition = knowledge.finding.get(id)
    const said = utterance ?? definition?.name
    return [
      `  ${question ? textInLanguage(question, language) : id}`,
      value === undefined ? state : `${state} (${value})`,
      said ? textInLanguage(said, language) : '',
    ]
  })
  return rows.length > 0 ? ['', table(rows, { words: 3 })] : []
}

function goldLines({ gold }: GraderView, language: Language): string[] {
  const { name, codes, aliases } = primaryDiagnosis(gold)
  const { exams, acceptable, recommendation, actions } = gold
  const list = (title: string, items: readonly string[] | undefined): string[] =>
    items && items.length > 0 ? [`${title}: ${items.join(', ')}`] : []
  return [
    '',
    `diagnosis: ${textInLanguage(name, language)} (${codes.map(({ code }) => code).join(', ') || 'no code'})`,
    ...list('aliases', aliases),
    ...list(
      'acceptable',
      acceptable.map((other) => `${textInLanguage(other.name, language)} ${other.credit}`),
    ),
    ...list('examinations required', exams?.required),
    ...list('examinations neutral', exams?.neutral),
    ...list('examinations harmful', exams?.harmful),
    ...list(
      'to do',
      actions.flatMap(({ text, polarity }) =>
        polarity === 'recommend' ? textInLanguage(text, language) : [],
      ),
    ),
    ...(recommendation ? [`recorded advice: ${textInLanguage(recommendation, language)}`] : []),
  ]
}

/** The case as `view` sees it: who, what they came with, and what that reader knows beside. */
export function viewText(
  truth: Case,
  view: ViewName,
  language: Language,
  knowledge: Knowledge,
): string {
  const reports = truth.exams.map(({ exam, report, abnormal }) => [
    `  ${exam}`,
    abnormal ? 'abnormal' : 'normal',
    textInLanguage(report, language),
  ])
  return [
    `${truth.id}, as the ${view} sees it`,
    openingText(doctorView(truth), language),
    ...findingLines(truth, view, language, knowledge),
    ...(view === 'examiner' && reports.length > 0 ? ['', table(reports, { words: 3 })] : []),
    ...(view === 'grader' ? goldLines(graderView(truth), language) : []),
  ].join('\n')
}
