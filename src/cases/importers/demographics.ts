/** Parses the sex and age that a recorded complaint carries in brackets. */
import type { Case } from '../../case.js'

const tag =
  /\s*[（(]\s*(male|female|男性?|女性?)\s*[,，]\s*(\d{1,3})\s*-?(years?|months?|weeks?|days?|岁|个?月|周|天)?(?:\s*old)?\s*[)）]/gi

/** Parses "(male, 34 years old)" and removes it from the text. Of several tags the last counts: the record's own. */
export function parseDemographics(description: string): {
  readonly demographics: Pick<Case['demographics'], 'age' | 'sex'>
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
  const days = /^(?:week|周)/i.test(unit) ? 7 : 1
  const inDays = days === 7 || /^(?:day|天)/i.test(unit)
  return {
    demographics: {
      sex: /^(?:male|男)/i.test(sex) ? 'M' : 'F',
      age: {
        v: Number(age) * days,
        unit: inDays ? 'day' : /^(?:month|个?月)/i.test(unit) ? 'month' : 'year',
      },
    },
    text: /[\p{L}\p{N}]/u.test(text) ? text : description,
    tags: tags.length,
  }
}
