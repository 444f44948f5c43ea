/** Everyday questions that the record patient answers from who the patient is and came for. */
import { type PatientView, textInLanguage } from '../../../case.js'
import { pronounForSex } from '../../../text/third-person.js'
import type { Language } from '../../../turn.js'
import type { Concepts } from './concepts.js'

const units = {
  en: { day: 'day', month: 'month', year: 'year' },
  zh: { day: '天', month: '个月', year: '岁' },
} as const

function ageAnswer({ demographics }: PatientView, language: Language): string | undefined {
  const { age, speaker, sex } = demographics
  if (!age) return undefined
  const n = Math.floor(age.v)
  const other = speaker === 'caregiver'
  if (language === 'zh') {
    const who = other ? (sex === 'F' ? '她' : '他') : '我'
    return `${who}${age.unit === 'year' ? '今年' : '现在'}${n}${units.zh[age.unit]}。`
  }
  const he = pronounForSex(sex)
  const who = other ? `${he.charAt(0).toUpperCase()}${he.slice(1)} is` : "I'm"
  const unit =
    age.unit === 'year' && !other ? '' : ` ${units.en[age.unit]}${n === 1 ? '' : 's'} old`
  return `${who} ${n}${unit}.`
}

function sexAnswer({ demographics }: PatientView, language: Language): string | undefined {
  const { sex } = demographics
  if (sex !== 'F' && sex !== 'M') return undefined
  if (language === 'zh') return sex === 'F' ? '女的。' : '男的。'
  return sex === 'F' ? 'Female.' : 'Male.'
}

/** The patient's own account of why they came, as written at the intake. */
const complaintAnswer = ({ complaint }: PatientView, language: Language): string | undefined =>
  textInLanguage(complaint.text, language).trim() || undefined

const firstOf = (concepts: Concepts, frame: string): boolean => concepts.frames.includes(frame)

/** The answer to an everyday question; `undefined` for any other, and for what the case does not say. */
export function everydayAnswer(
  concepts: Concepts,
  view: PatientView,
  language: Language,
): string | undefined {
  if (firstOf(concepts, '@age')) return ageAnswer(view, language)
  if (firstOf(concepts, '@sex')) return sexAnswer(view, language)
  if (firstOf(concepts, '@complaint') && concepts.symptoms.length === 0 && !concepts.more)
    return complaintAnswer(view, language)
  return undefined
}
