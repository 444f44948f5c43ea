/**
 * Findings of a written patient profile: its sections by topic, cut into passages and put into the patient's words. Nothing
 * is added: what the profile does not say, the patient will not know.
 */
import type { z } from 'zod'
import type { Case, RecordTopic } from '../../case.js'
import type { caseSchema } from '../../storage/case-schema.js'
import { toFirstPerson } from '../../text/first-person.js'
import type { Language } from '../../turn.js'

type FindingInput = z.input<typeof caseSchema>['findings'][number]

/** A profile: sections of free names, or one text. */
export type Profile = string | Readonly<Record<string, string | number | null>>

/** Topics of sections by their names; the first that fits counts. Sections without a topic here are `other`. */
const sections: readonly (readonly [RegExp, RecordTopic | 'left out'])[] = [
  [/department|科室|basic_info|basic info|diagnos|诊断|exam|查体|lab|辅助检查/i, 'left out'],
  [/complaint|主诉/i, 'complaint'],
  [/present|hpi|current|现病/i, 'course'],
  [/allerg|过敏/i, 'allergy'],
  [/family|家族/i, 'family'],
  [/transfus|输血/i, 'transfusion'],
  [/infect|vaccin|immuni|传染|接种/i, 'infection'],
  [/surg|injur|operat|trauma|手术|外伤/i, 'surgery'],
  [/medic(?:ation|ine)|drug|用药|药物/i, 'medicine'],
  [/menstr|月经/i, 'menstrual'],
  [/reproduct|obstet|pregnan|生育|婚育/i, 'births'],
  [/smok|tobacco|吸烟/i, 'smoking'],
  [/alcohol|drink|饮酒/i, 'alcohol'],
  [/marit|婚姻/i, 'marriage'],
  [/occupation|job|profession|职业/i, 'job'],
  [/address|residence|home|住址|籍贯/i, 'home'],
  [/\bage|^age|年龄/i, 'age'],
  [/gender|sex(?!ual)|性别/i, 'sex'],
  [/name|姓名/i, 'name'],
  [/system|\bros\b|系统/i, 'system'],
  [/past|medical_history|pmh|既往/i, 'past'],
  [/personal|social|habit|lifestyle|background|个人史|社会/i, 'habits'],
  [/idea|想法|认识/i, 'idea'],
  [/concern|worr|fear|担心|顾虑/i, 'concern'],
  [/expect|hope|wish|期望|期待/i, 'expectation'],
]

/** The topic of a section by its name. */
export const sectionTopic = (name: string): RecordTopic | 'left out' =>
  sections.find(([pattern]) => pattern.test(name))?.[1] ?? 'other'

const nothing =
  /^(?:无特殊|无|没有|否认|none|nil|no|negative|unremarkable|nothing(?: of note)?)[。.]?$/i
const unsaid =
  /^(?:不详|未知|未提供|未提及|[×xX*?-]+|n\/?a|unknown|not (?:mentioned|specified|known|given|recorded|applicable)|不适用|不便|-)?[。.]?$/i

const kinds: Readonly<Partial<Record<RecordTopic, FindingInput['kind']>>> = {
  ...{ course: 'symptom', system: 'symptom', allergy: 'allergy', family: 'family' },
  ...{ medicine: 'medication', past: 'antecedent', surgery: 'antecedent' },
  ...{ transfusion: 'antecedent', infection: 'antecedent', menstrual: 'antecedent' },
}
/** Topics that matter for the diagnosis, as history coverage counts it. */
const weighty: ReadonlySet<RecordTopic> = new Set<RecordTopic>([
  ...(['course', 'system', 'allergy', 'family', 'medicine', 'past', 'surgery'] as const),
  ...(['smoking', 'alcohol', 'menstrual'] as const),
])
/** Sections whose "none" is an answer. */
const deniable: ReadonlySet<RecordTopic> = new Set<RecordTopic>([
  ...(['allergy', 'family', 'transfusion', 'infection', 'surgery', 'medicine', 'past'] as const),
  ...(['smoking', 'alcohol'] as const),
])

const denial = {
  zh: /^(?:但|并|且|也)?(?:否认|无(?!明显诱因|法|意|力|奈)|未(?:见|出现|发现)|没有)/,
  en: /^(?:but |and |also )?(?:no\b|not\b|denies|denied|without|negative for|never)/i,
} as const

/** Most clauses of a Chinese sentence that stay together. */
const clausesTogether = 3

/** Cuts a Chinese sentence where it turns from what there is to what there is not, and where it is long. */
function hanPassages(sentence: string): string[] {
  const passages: string[][] = []
  let denying = false
  for (const clause of sentence
    .split(/[，,]/)
    .map((part) => part.trim())
    .filter(Boolean)) {
    const denies = denial.zh.test(clause)
    const last = passages.at(-1)
    if (last && denies === denying && !denies && last.length < clausesTogether) last.push(clause)
    else passages.push([clause])
    denying = denies
  }
  return passages.map((clauses) => clauses.join('，'))
}

/** The passages of a section: sentences, cut further where they are lists of notes. */
function cutSection(text: string, language: Language): string[] {
  const lines = text.split(/[；;\n]+\s*|(?<=[。！？])\s*|(?<=[.!?])\s+(?=[A-Z"'])/)
  return lines
    .map((line) => line.replace(/^[^：:，。]{2,8}(?:系统|情况)[：:]\s*/, '').trim())
    .filter((line) => !unsaid.test(line))
    .flatMap((line) => (language === 'zh' ? hanPassages(line.replace(/[。.]$/, '')) : [line]))
}

/** Topics that passages of a mixed section are about, by their words. */
const mixed: readonly (readonly [RegExp, RecordTopic])[] = [
  [/smok|cigar|烟/i, 'smoking'],
  [/alcohol|drink(?!ing water)|酒/i, 'alcohol'],
  [/allerg|过敏/i, 'allergy'],
  [/\bborn|\blives?\b|出生|生于|久居|长居|居住/i, 'home'],
  [/\bworks?\b|occupation|retired|工作|职业/i, 'job'],
]

function passageTopic(topic: RecordTopic, passage: string): RecordTopic {
  if (topic !== 'habits' && topic !== 'other') return topic
  return mixed.find(([pattern]) => pattern.test(passage))?.[1] ?? topic
}

/** Wordings of a short section: an entry such as "teacher" is no sentence. */
const entries: Readonly<
  Partial<Record<RecordTopic, Readonly<Record<Language, (value: string) => string>>>>
> = {
  job: {
    zh: (value) => `我是${value}。`,
    en: (value) => `I work as ${/^[aeiou]/i.test(value) ? 'an' : 'a'} ${value}.`,
  },
  marriage: { zh: (value) => `${value}。`, en: (value) => `I'm ${value.toLowerCase()}.` },
  home: { zh: (value) => `我住在${value}。`, en: (value) => `I live in ${value}.` },
  name: {
    zh: (value) => `我姓${value.replace(/(?:先生|女士|小姐|同学|某+)$/, '')}。`,
    en: (value) => `I'm ${value}.`,
  },
}
const isEntry = (text: string): boolean => text.length <= 24 && !/[。.，,；;]./.test(text)

function sectionFindings(topic: RecordTopic, text: string, language: Language): FindingInput[] {
  const finding = (about: RecordTopic, state: string, said: string): FindingInput => ({
    ...{ id: '', kind: kinds[about] ?? 'social', state, knownBy: 'patient', topic: about },
    weight: weighty.has(about) ? 1 : 0,
    utterance: { [language]: said },
  })
  if (nothing.test(text)) {
    const said = language === 'zh' ? '没有。' : 'No, none.'
    return deniable.has(topic) ? [finding(topic, 'absent', said)] : []
  }
  const entry = entries[topic]
  if (entry && isEntry(text))
    return [finding(topic, 'present', entry[language](text.replace(/[。.]$/, '')))]
  return cutSection(text, language).map((passage) =>
    finding(
      passageTopic(topic, passage),
      denial[language].test(passage) ? 'absent' : 'present',
      toFirstPerson(passage, language),
    ),
  )
}

/** Reads age and sex of a profile: its own sections, or the first words of a text ("a 45-year-old woman"). */
export function profileDemographics(profile: Profile): Pick<Case['demographics'], 'age' | 'sex'> {
  const section = (pattern: RegExp): string =>
    typeof profile === 'string'
      ? profile.slice(0, 200)
      : Object.entries(profile)
          .filter(([name]) => pattern.test(name))
          .map(([, value]) => `${value ?? ''}`)
          .join(' ')
  const age = /(\d{1,3})\s*-?\s*(years?|months?|weeks?|days?|岁|个?月|周|天|日)?/i.exec(
    section(/(?:^|_)age|年龄/i),
  )
  const sex = section(/gender|sex(?!ual)|性别/i)
  const isFemale = /\b(?:female|woman|girl|lady|mrs|ms|f)\b|女/i.test(sex)
  const isMale = /\b(?:male|man|boy|gentleman|mr|m)\b|男/i.test(sex)
  const [, v = '', unit = 'year'] = age ?? []
  const days = /^(?:week|周)/i.test(unit) ? 7 : 1
  const kind = /^(?:day|天|日|week|周)/i.test(unit)
    ? 'day'
    : /^(?:month|个?月)/i.test(unit)
      ? 'month'
      : 'year'
  const isAge =
    typeof profile !== 'string' ||
    /^\d+\s*(?:岁|个月|-?\s*\w+[\s-]old)/.test(profile.slice(age?.index))
  const stated = age && isAge && Number(v) <= 130
  return {
    ...(stated ? { age: { v: Number(v) * days, unit: kind } } : {}),
    ...(isFemale ? { sex: 'F' } : isMale ? { sex: 'M' } : {}),
  } as Pick<Case['demographics'], 'age' | 'sex'>
}

/** The complaint as the profile writes it, in the patient's words; `undefined` where it has none. */
export function profileComplaint(profile: Profile, language: Language): string | undefined {
  if (typeof profile === 'string') return undefined
  const text = Object.entries(profile).find(([name]) => sectionTopic(name) === 'complaint')?.[1]
  return typeof text === 'string' && text.trim() ? toFirstPerson(text, language) : undefined
}

/** The findings of a profile, numbered within their topic: `family-2`. */
export function profileFindings(profile: Profile, language: Language): FindingInput[] {
  const parts: readonly (readonly [RecordTopic | 'left out', string])[] =
    typeof profile === 'string'
      ? [['other', profile]]
      : Object.entries(profile).map(([name, value]) => [
          sectionTopic(name),
          `${value ?? ''}`.trim(),
        ])
  const counts = new Map<RecordTopic, number>()
  return (
    parts
      .filter(
        ([topic, text]) =>
          !['left out', 'complaint', 'age', 'sex'].includes(topic) && !unsaid.test(text),
      )
      // `left out` was filtered above.
      .flatMap(([topic, text]) => sectionFindings(topic as RecordTopic, text, language))
      .map((finding) => {
        const topic = finding.topic ?? 'other'
        const n = (counts.get(topic) ?? 0) + 1
        counts.set(topic, n)
        return { ...finding, id: `${topic}-${n}` }
      })
  )
}
