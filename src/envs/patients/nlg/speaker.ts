/** Who speaks: sentences of the knowledge base in the third person for a caregiver, ages in words, and who somebody is. */
import { ageInYears } from '../../../inference/posterior.js'
import type { FindingDefinition } from '../../../knowledge/knowledge.js'
import type { PatientContext } from '../../../patient.js'
import { pronounForSex, toThirdPerson } from '../../../text/third-person.js'
import type { Language } from '../../../turn.js'
import { pickFresh } from './fresh.js'

type SpeakerContext = Pick<PatientContext, 'view' | 'language'>

/** Rewrites a sentence of the knowledge base for the speaker: in the third person for a caregiver. */
export const adaptToSpeaker = (sentence: string, { view, language }: SpeakerContext): string =>
  view.demographics.speaker === 'caregiver'
    ? toThirdPerson(sentence, language, pronounForSex(view.demographics.sex))
    : sentence

/** The patient's age in years, undefined where it is not known. */
export const yearsOf = ({ view }: Pick<PatientContext, 'view'>): number | undefined =>
  ageInYears(view.demographics.age)

/** The patient's age in words, in months below two years. */
export function ageInWords(context: Pick<PatientContext, 'view'>, language: Language): string {
  const age = yearsOf(context)
  if (age === undefined) return language === 'zh' ? '几十岁' : 'old enough'
  if (age >= 2) return language === 'zh' ? `${Math.floor(age)}岁` : `${Math.floor(age)}`
  const months = Math.round(age * 12)
  if (language === 'zh') return `${months}个月`
  return months === 1 ? 'a month old' : `${months} months old`
}

const pronouns = {
  he: { '{He}': 'He', '{he}': 'he', '{him}': 'him', '{his}': 'his', '{ta}': '他' },
  she: { '{He}': 'She', '{he}': 'she', '{him}': 'her', '{his}': 'her', '{ta}': '她' },
} as const

/** Fills a carer's sentence about the patient: `{he}`, `{him}`, `{his}`, `{ta}`, and `{age}` in words. */
export function speakOfPatient(text: string, context: SpeakerContext): string {
  if (!text.includes('{')) return text
  const forms = pronouns[pronounForSex(context.view.demographics.sex)]
  return text
    .replace(/\{(?:[Hh]e|him|his|ta)\}/g, (form) => forms[form as keyof typeof forms]) // the keys above
    .replaceAll('{age}', ageInWords(context, context.language))
}

const relatives: Readonly<Record<string, string>> = {
  母亲: '妈妈',
  父亲: '爸爸',
  奶奶: '奶奶',
  爷爷: '爷爷',
}

/** How a caregiver says who they are; undefined for everybody else. */
export function introduceCarer(context: SpeakerContext): string | undefined {
  const { speaker, relation } = context.view.demographics
  if (speaker !== 'caregiver' || !relation) return undefined
  const { en, zh } = relation
  if (context.language === 'en')
    return en === undefined ? undefined : speakOfPatient(`I'm {his} ${en}.`, context)
  if (zh === undefined) return undefined
  const ofChild = relatives[zh]
  return ofChild ? `我是孩子${ofChild}。` : speakOfPatient(`我是{ta}${zh}。`, context)
}

/** Why a finding cannot be the patient's: the sex, or an age below or above its own. */
type Moot = 'man' | 'woman' | 'young' | 'old'

type Banks = { readonly [language in Language]: readonly string[] }

const mootSentences: {
  readonly [why in Moot]: { readonly own: Banks; readonly carer: Banks }
} = {
  man: {
    own: {
      en: ["I'm a man, doctor.", 'Not something a man gets.', "Doctor, I'm a man."],
      zh: ['我是男的呀，大夫。', '我一个大男人，哪有这个。', '这是女同志的事吧。'],
    },
    carer: {
      en: ["{He}'s male, doctor.", 'Not something {he} could have.', 'Hardly, {he} is a boy.'],
      zh: ['{ta}是男的呀，大夫。', '男孩子哪有这个。', '这个{ta}可没有，{ta}是男的。'],
    },
  },
  woman: {
    own: {
      en: ["I'm a woman, doctor.", 'Not something a woman gets.', "Doctor, I'm a woman."],
      zh: ['我是女的呀，大夫。', '我一个女的，哪有这个。', '这是男同志的事吧。'],
    },
    carer: {
      en: ["{He}'s female, doctor.", 'Not something {he} could have.', 'Hardly, {he} is a girl.'],
      zh: ['{ta}是女的呀，大夫。', '女孩子哪有这个。', '这个{ta}可没有，{ta}是女的。'],
    },
  },
  young: {
    own: {
      en: ["I'm too young for that.", "That's for older people, isn't it?", 'Not at my age.'],
      zh: ['我还小呢，没有这个。', '这是大人的事吧。', '我这岁数哪有这个。'],
    },
    carer: {
      en: [
        "{He}'s far too young for that.",
        'At {his} age? No.',
        "That's nothing for a child, doctor.",
      ],
      zh: ['{ta}还小呢，没有这个。', '{ta}才{age}，还早着呢。', '孩子这么小，哪会有这个。'],
    },
  },
  old: {
    own: {
      en: [
        "I'm long past that age.",
        "That's more for little ones, isn't it?",
        'At my age? No, doctor.',
      ],
      zh: ['我都这岁数了，没有这个。', '那是小孩的事吧？', '早过了那个年纪了。'],
    },
    carer: {
      en: [
        "{He}'s past that age.",
        "That's more for younger ones, isn't it?",
        'Not any more, at {his} age.',
      ],
      zh: ['{ta}过了那个年纪了。', '那是更小的孩子的事吧？', '{ta}都{age}了，早没有这个了。'],
    },
  },
}

/** The answer to a question about what the patient's sex or age rules out. */
export function mootSentence(
  { sex, ages }: Pick<FindingDefinition, 'sex' | 'ages'>,
  context: PatientContext,
): string {
  const { demographics } = context.view
  const otherSex = sex !== undefined && demographics.sex !== sex
  const byAge = ages && (yearsOf(context) ?? 0) < ages[0] ? 'young' : 'old'
  const why = otherSex ? (sex === 'F' ? 'man' : 'woman') : byAge
  const said = mootSentences[why][demographics.speaker === 'caregiver' ? 'carer' : 'own']
  // "A boy" is said of a child.
  const grown = (yearsOf(context) ?? 0) >= 14
  const bank = said[context.language]
    .filter((text) => !(grown && /boy|girl|孩子/.test(text)))
    .map((text) => speakOfPatient(text, context))
  return pickFresh(bank, context, ['moot', why])
}
