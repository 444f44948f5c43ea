/** Text of the intake, which the doctor reads before the first turn: demographics and complaint. */
import { type DoctorView, textInLanguage } from '../case.js'
import type { Language } from '../turn.js'

type Age = NonNullable<DoctorView['demographics']['age']>

const words = {
  zh: {
    unit: { day: '天', month: '个月', year: '岁' },
    sex: { F: '女', M: '男', X: '性别其他' },
    pregnant: '孕妇',
    speaker: { self: '', caregiver: '由家属代述', interpreter: '通过翻译' },
  },
  en: {
    unit: { day: 'day', month: 'month', year: 'year' },
    sex: { F: 'female', M: 'male', X: 'other sex' },
    pregnant: 'pregnant',
    speaker: { self: '', caregiver: 'a caregiver speaks', interpreter: 'through an interpreter' },
  },
} as const

const ageText = ({ v, unit }: Age, language: Language): string =>
  language === 'zh'
    ? `${v}${words.zh.unit[unit]}`
    : `${v} ${words.en.unit[unit]}${v === 1 ? '' : 's'} old`

/** Demographics of the patient in one line; empty when nothing is known. */
export function demographicsText({ demographics }: DoctorView, language: Language): string {
  const { age, sex, pregnant, speaker, relation } = demographics
  const say = words[language]
  const voice = say.speaker[speaker]
  const kin = relation && voice ? textInLanguage(relation, language) : ''
  const parts = [
    sex && say.sex[sex],
    age && ageText(age, language),
    pregnant && say.pregnant,
    voice && kin ? (language === 'zh' ? `${voice}（${kin}）` : `${voice} (${kin})`) : voice,
  ]
  return parts.filter(Boolean).join(language === 'zh' ? '，' : ', ')
}

/** The whole intake: demographics, where known, and complaint. */
export function intakeText(intake: DoctorView, language: Language): string {
  const who = demographicsText(intake, language)
  const complaint = textInLanguage(intake.complaint, language)
  if (language === 'zh') return `${who && `患者：${who}。\n`}主诉：${complaint}`
  return `${who && `Patient: ${who}.\n`}Complaint: ${complaint}`
}
