/** A patient's history under the headings of a note, for whoever reads it before anything is asked or examined. */
import { type Case, type DoctorView, doctorView, type Finding, textInLanguage } from '../case.js'
import type { Knowledge } from '../knowledge/knowledge.js'
import type { Language } from '../turn.js'

/** The headings of a note, each with the kinds of finding under it. */
const headings: readonly {
  readonly title: Readonly<Record<Language, string>>
  readonly kinds: readonly Finding['kind'][]
}[] = [
  {
    title: { en: 'History of Present Illness', zh: '现病史' },
    kinds: ['symptom', 'sign', 'vital', 'lab', 'imaging', 'pathology'],
  },
  {
    title: { en: 'Past Medical History', zh: '既往史' },
    kinds: ['antecedent', 'medication'],
  },
  { title: { en: 'Social History', zh: '个人史' }, kinds: ['social'] },
  { title: { en: 'Family History', zh: '家族史' }, kinds: ['family'] },
  { title: { en: 'Allergies', zh: '过敏史' }, kinds: ['allergy'] },
]

/** A finding as a note has it: `fever`, `cough: It's dry.`, or a recorded question with its answer; nothing of what is absent. */
function noteOf(
  { id, state, value, question, utterance }: Finding,
  language: Language,
  knowledge: Knowledge,
): string {
  if (question && utterance)
    return `${textInLanguage(question, language)} ${textInLanguage(utterance, language)}`
  if (state === 'absent' || state === 'unknown') return ''
  const known = knowledge.finding.get(id)
  const name = known?.name[language].toLowerCase() ?? id.replaceAll('-', ' ')
  const measured = value === undefined ? '' : ` (${value})`
  const colon = language === 'zh' ? '：' : ': '
  if (state === 'present') return `${name}${measured}`
  return `${name}${colon}${known?.say[state]?.[language][0] ?? state}${measured}`
}

/** A heading with what stands under it. */
interface NoteSection {
  readonly title: string
  readonly text: string
}

/** The sections of a history, those without a word left out. */
export const historyNotes = (
  history: Iterable<Finding>,
  language: Language,
  knowledge: Knowledge,
): readonly NoteSection[] =>
  headings
    .map(({ title, kinds }) => ({
      title: title[language],
      text: [...history]
        .filter(({ kind }) => kinds.includes(kind))
        .map((finding) => noteOf(finding, language, knowledge))
        .filter(Boolean)
        .join(language === 'zh' ? '；' : '; '),
    }))
    .filter(({ text }) => text !== '')

/**
 * Makes the intake of a doctor who talks with nobody, as DiagAgent: the complaint, and under it as bullets all that the
 * patient would tell.
 */
export const intakeWithHistory =
  (knowledge: Knowledge) =>
  (truth: Case): DoctorView => {
    const view = doctorView(truth)
    const history = truth.findings.filter(({ knownBy }) => knownBy === 'patient')
    const whole = (language: Language): string => {
      const colon = language === 'zh' ? '：' : ': '
      const notes = historyNotes(history, language, knowledge)
      const bullets = notes.map(({ title, text }) => `- ${title}${colon}${text}`)
      return [textInLanguage(view.complaint, language), ...bullets].join('\n')
    }
    return { ...view, complaint: { zh: whole('zh'), en: whole('en') } }
  }
