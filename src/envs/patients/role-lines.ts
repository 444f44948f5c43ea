/** Who speaks, and in which manner, as lines of a prompt for a model that plays a patient. */
import type { PatientView } from '../../case.js'
import { type Dial, dialLevel, type Persona } from '../../persona.js'
import type { Language } from '../../turn.js'

type Unit = 'day' | 'month' | 'year'

const words = {
  en: {
    who: 'The patient: ',
    sex: { F: 'female', M: 'male', X: 'other sex' },
    age: (v: number, unit: Unit) => `${v} ${unit}${v === 1 ? '' : 's'} old`,
    speaker: {
      self: '',
      caregiver: 'You are a caregiver and speak for the patient.',
      interpreter: 'You interpret for the patient.',
    },
    manner: 'Manner: ',
  },
  zh: {
    who: '患者：',
    sex: { F: '女', M: '男', X: '性别其他' },
    age: (v: number, unit: Unit) => `${v}${{ day: '天', month: '个月', year: '岁' }[unit]}`,
    speaker: {
      self: '',
      caregiver: '你是陪同的家属，替患者说话。',
      interpreter: '你是翻译，替患者说话。',
    },
    manner: '说话方式：',
  },
} as const

/** Manners, from a little to very. What a dial does to facts is decided before a model speaks. */
const manners: { readonly [dial in Dial]?: { readonly [language in Language]: string } } = {
  lowLiteracy: { en: 'uses plain words only and no technical term', zh: '只用大白话，不用医学词' },
  forgetful: { en: 'is unsure of their memory', zh: '记性不太好' },
  confused: { en: 'easily loses the thread', zh: '容易走神' },
  distrustful: { en: 'is guarded towards doctors', zh: '对医生有戒心' },
  ashamed: { en: 'is shy and embarrassed', zh: '害羞，难为情' },
  anxious: { en: 'is worried', zh: '很担心、紧张' },
  verbose: { en: 'is talkative', zh: '话多' },
  terse: { en: 'answers in as few words as possible', zh: '话很少，能短则短' },
  impatient: { en: 'is blunt and in a hurry', zh: '没耐心，说话直' },
  pleasing: { en: 'is polite and plays things down', zh: '客气，怕麻烦人' },
}

const degrees = {
  en: ['', ' (a little)', '', ' (very)'],
  zh: ['', '（有一点）', '', '（非常）'],
} as const

/** The patient's age and sex, and who speaks for them. */
export function speakerLines(
  { demographics: { age, sex, speaker } }: PatientView,
  language: Language,
): readonly string[] {
  const say = words[language]
  const who = [sex && say.sex[sex], age && say.age(age.v, age.unit)].filter(Boolean).join(', ')
  return [say.speaker[speaker], who && `${say.who}${who}`]
}

/** The persona's manner in one line; none for a plain one. */
export function personaLines(persona: Persona, language: Language): readonly string[] {
  const lines = Object.entries(manners).flatMap(([dial, manner]) => {
    const level = dialLevel(persona, dial as Dial) // the keys of the table above
    return level === 0 || !manner ? [] : `${manner[language]}${degrees[language][level] ?? ''}`
  })
  return lines.length === 0
    ? []
    : [`${words[language].manner}${lines.join(language === 'zh' ? '；' : '; ')}`]
}
