/** Who a recorded consultation is about: age, sex and who speaks, from the words of the description and the answers. */
import type { Case } from '../../case.js'

type WhoItIs = Pick<Case['demographics'], 'age' | 'sex' | 'speaker'>

const tag =
  /\s*[（(]\s*(male|female|男性?|女性?)\s*[,，]\s*(\d{1,3})\s*-?(years?|months?|weeks?|days?|岁|个?月|周|天)?(?:\s*old)?\s*[)）]/gi

function toAge(value: string, unit = ''): NonNullable<WhoItIs['age']> {
  const weeks = /^(?:week|周)/i.test(unit)
  if (weeks || /^(?:day|天|日)/i.test(unit))
    return { v: Number(value) * (weeks ? 7 : 1), unit: 'day' }
  return { v: Number(value), unit: /^(?:month|个?月)/i.test(unit) ? 'month' : 'year' }
}

/** Parses "(male, 34 years old)" and removes it from the text. Of several tags the last counts: the record's own. */
export function parseDemographics(description: string): {
  readonly demographics: Pick<WhoItIs, 'age' | 'sex'>
  readonly text: string
  readonly tags: number
} {
  const tags = [...description.matchAll(tag)]
  const [, sex = '', age = '', unit = ''] = tags.at(-1) ?? []
  const text = description
    .replace(tag, '')
    .replace(/\s+([.,。，])/g, '$1')
    .trim()
  if (!sex) return { demographics: {}, text: description, tags: 0 }
  return {
    demographics: { sex: /^(?:male|男)/i.test(sex) ? 'M' : 'F', age: toAge(age, unit) },
    text: /[\p{L}\p{N}]/u.test(text) ? text : description,
    tags: tags.length,
  }
}

const proseAge =
  /(\d{1,3})[\s-]?(years?|months?|weeks?|days?)[\s-]old\b|(\d{1,3})\s*(岁|个月大)|\b(?:aged?|i am|i'm)\s+(\d{1,3})(?=\s*(?:[,.]|$|and\b|years?\b))/i

/** An age in a sentence: "I am 38 years old", "my 3-month-old son", 我今年30岁. */
function ageIn(text: string): WhoItIs['age'] {
  const [, en, unit, zh, hanUnit, bare] = proseAge.exec(text) ?? []
  const value = en ?? zh ?? bare
  if (value === undefined || Number(value) > 120) return undefined
  return toAge(value, unit ?? hanUnit?.replace('大', ''))
}

const asksAge = /\bhow (?:old|many (?:months|years|days) old)\b|\bage\b|多大|几岁|年龄/i
const bareAge = /^\W*(\d{1,3})\s*(years?|months?|weeks?|days?|岁|个?月|天)?/i

/** Somebody else, whom the speaker came for, and the sex that the word gives away. */
const others: readonly (readonly [RegExp, WhoItIs['sex']])[] = [
  [
    /\bmy (?:\w+[ -]){0,3}(?:son|boy|father|dad|husband|boyfriend|grandfather|grandson|brother)\b|我(?:的|家)?(?:儿子|爸爸?|父亲|老公|丈夫|男朋友|爷爷|外公|哥哥|弟弟)/i,
    'M',
  ],
  [
    /\bmy (?:\w+[ -]){0,3}(?:daughter|girl|mother|mom|mum|wife|girlfriend|grandmother|granddaughter|sister)\b|我(?:的|家)?(?:女儿|妈妈?|母亲|老婆|妻子|女朋友|奶奶|外婆|姐姐|妹妹)/i,
    'F',
  ],
  [
    /\b(?:(?:my|the|our) (?:\w+[ -]){0,3}(?:baby|child|infant|kid|toddler|newborn))\b|宝宝|孩子|小孩|婴儿/i,
    undefined,
  ],
]
/** "It began after my son was born", "my mother had it too": the speaker is still the patient. */
const ownStory =
  /\bI (?:have|had|feel|felt|am|was|often|always|get|got|keep)\b|\bI(?:'m|'ve)\b|\bmy (?:stomach|belly|abdomen|head|chest|throat|stool|bowel|period)|我(?:最近|这|的?(?:肚子|胃|头)|感觉|觉得)/i

/** Under this age somebody else speaks. */
const speaksAt = 14

const isYoung = (age: WhoItIs['age']): boolean =>
  age !== undefined && (age.unit !== 'year' || age.v < speaksAt)

/**
 * Mends the demographics of a recorded consultation: an age that is written in the text or given as an answer, the sex
 * that a word like "my son" gives away, and a relative who speaks for the patient.
 * @param description the patient's words at the intake
 * @param exchanges what was asked and answered, in order
 */
export function recordedDemographics(
  description: string,
  exchanges: readonly { readonly question: string; readonly answer: string }[],
): {
  readonly demographics: Partial<WhoItIs>
  readonly text: string
  readonly tags: number
} {
  const { demographics: tagged, text, tags } = parseDemographics(description)
  const answered = exchanges.find(
    ({ question, answer }) => asksAge.test(question) && bareAge.test(answer),
  )
  const [, value, unit] = bareAge.exec(answered?.answer ?? '') ?? []
  const age = tagged.age ?? ageIn(text) ?? (value === undefined ? undefined : toAge(value, unit))
  const other = ownStory.test(text) ? undefined : others.find(([pattern]) => pattern.test(text))
  const sex = tagged.sex ?? other?.[1]
  const caregiver = isYoung(age) || other !== undefined
  return {
    demographics: {
      ...(age === undefined || age.v > 120 ? {} : { age }),
      ...(sex === undefined ? {} : { sex }),
      ...(caregiver ? { speaker: 'caregiver' as const } : {}),
    },
    ...{ text, tags },
  }
}
