/** Renders a case as text: one reader's view, in one language. */
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

/** The reader whose view of a case is shown. */
export type ViewName = keyof typeof views

/** A reader's view of a case as a JSON value; maps become objects. */
export const viewJson = (truth: Case, view: ViewName): unknown =>
  JSON.parse(
    JSON.stringify(views[view](truth), (_, value) =>
      value instanceof Map ? Object.fromEntries(value) : value,
    ),
  )

/** Findings the reader knows, one per line, each with its utterance or name. */
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

/** A reader's view of a case as text: intake, then what that reader knows in addition. */
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
