/**
 * The prompt of DiagGym, the examination simulator of MAGIC-AI4Med/DiagGym (commit bc49719): a text that a completion
 * model goes on with. `test/golden/diaggym.json` holds those of the published client.
 */
import { type ExaminerView, textInLanguage } from '../../case.js'
import type { Knowledge } from '../../knowledge/knowledge.js'
import { historyNotes } from '../history-notes.js'

/** Ends one examination in the prompt and in the model's reply. */
const separator = '<SEP>'

/** Strings that end the reply; the second is the published one, beside the end token of the model itself. */
export const diagGymStops = [separator, '<endoftext>'] as const

/** An examination with its result, as DiagGym reads it. */
export interface ExamRecord {
  readonly name: string
  readonly result: string
}

/** What the model is told before the examinations: the profile, and the final diagnosis where it is to know it. */
export const diagGymContext = (profile: string, diagnosis?: string): string =>
  diagnosis === undefined ? profile : `${profile}\n\nFinal Diagnosis:\n${diagnosis}`

/** The prompt for one examination after those in `past`, oldest first. */
export function diagGymPrompt(context: string, past: readonly ExamRecord[], exam: string): string {
  const records = past.map(({ name, result }) => `Exam name:\n${name}\nExam results:\n${result}`)
  const asked = `Exam name:\n${exam}\nExam results:\n`
  return `${context}\nThe following summarizes the results from the patient's medical examination:\n${[...records, asked].join(separator)}`
}

/** Marks of the prompt and of chat templates, which a name must not carry in. */
const marks = /<SEP>|<\|?end_?of_?text\|?>|<\|[^<>|]{0,40}\|>/gi

/** The name of an examination as it may stand in a prompt: one line without marks. */
export const examNameOf = (order: string): string =>
  order.replace(marks, ' ').replace(/\s+/g, ' ').trim()

const sexes = { F: 'F', M: 'M', X: 'other' } as const

/**
 * What DiagGym is told of a patient: age, sex, complaint and history under the headings of a discharge note, which its
 * training cases have up to the physical examination.
 */
export function diagGymProfile(
  {
    demographics,
    complaint,
    history,
  }: Pick<ExaminerView, 'demographics' | 'complaint' | 'history'>,
  knowledge: Knowledge,
): string {
  const { age, sex } = demographics
  const sections = [
    { title: 'Chief Complaint', text: textInLanguage(complaint, 'en') },
    ...historyNotes(history.values(), 'en', knowledge),
  ]
  return [
    ...(sex === undefined ? [] : [`Sex: ${sexes[sex]}`]),
    ...(age === undefined ? [] : [`Age: ${age.v} ${age.unit}${age.v === 1 ? '' : 's'}`]),
    ...sections.map(({ title, text }) => `${title}:\n${text}`),
  ].join('\n\n')
}
