/** Parts of the body and what comes out of it: what "Itchy?" or "Any blood in it?" goes on about. */
import type { Knowledge } from '../../../../knowledge/knowledge.js'
import type { Language } from '../../../../turn.js'

/** A region, with the word for it that makes an elliptical question whole. */
export interface Region {
  readonly word: { readonly [language in Language]: string }
  /** The English word for the region that hurts with it, where that is another one. */
  readonly aches?: string
  /** Fits the names of its findings, and a question that names it. */
  readonly named: RegExp
}

/** The first that fits counts: an ear's discharge is the ear's. */
const regions: readonly Region[] = [
  {
    word: { en: 'eye', zh: '眼睛' },
    named:
      /\b(?:eyes?|eyelids?|sight|vision|halos?|floaters|coloured rings|(?:the|bright|by) lights?|light sensitivity)\b|眼|视|看东西|畏光|怕光/,
  },
  { word: { en: 'ear', zh: '耳朵' }, named: /\bears?\b|\bhearing loss\b|耳|听力/ },
  { word: { en: 'nose', zh: '鼻子' }, named: /\b(?:nose|nasal)\b|鼻/ },
  { word: { en: 'throat', zh: '喉咙' }, named: /\bthroat|swallow|喉|咽|嗓/ },
  { word: { en: 'phlegm', zh: '痰' }, named: /\b(?:phlegm|sputum)\b|痰/ },
  { word: { en: 'vomit', zh: '呕吐物' }, named: /\bvomit|呕吐|(?<!吞)吐(?!痰|字)/ },
  { word: { en: 'urine', zh: '小便' }, named: /\b(?:urine|urination|pee|wee)\b|尿|小便/ },
  {
    word: { en: 'stools', zh: '大便' },
    aches: 'belly',
    named: /\b(?:stools?|diarrhoea|constipation|poo|bowels?)\b|(?<!小)便|腹泻/,
  },
  {
    word: { en: 'down below', zh: '私处' },
    named: /\b(?:down below|unusual discharge|vagina\w*|periods?)\b|白带|阴|私处|下身|月经|停经/,
  },
  { word: { en: 'skin', zh: '皮肤' }, named: /\b(?:skin|rash|spots)\b|皮肤|疹/ },
  { word: { en: 'head', zh: '头' }, named: /\b(?:head|headache)\b|头/ },
  { word: { en: 'chest', zh: '胸' }, named: /\b(?:chest|palpitations?)\b|胸/ },
  { word: { en: 'belly', zh: '肚子' }, named: /\b(?:belly|abdom\w+|stomach|tummy)\b|腹|肚/ },
  { word: { en: 'mouth', zh: '嘴' }, named: /\b(?:mouth|tongue|lips?)\b|嘴|舌|口[腔眼]/ },
  { word: { en: 'face', zh: '脸' }, named: /\bface\b|脸|面部/ },
  { word: { en: 'leg', zh: '腿' }, named: /\b(?:legs?|ankles?|foot|feet)\b|腿|脚/ },
  { word: { en: 'arms and legs', zh: '手脚' }, named: /\b(?:limbs?|arms?|hands?)\b|肢|手/ },
]

/** The region that a finding belongs to, by its name. */
export function regionOf({ finding }: Knowledge, id: string): Region | undefined {
  const name = finding.get(id)?.name
  if (!name) return undefined
  const names = `${name.en.toLowerCase()} ${name.zh}`
  return regions.find(({ named }) => named.test(names))
}

/** The regions that a text in normal form names. */
export const regionsIn = (text: string): readonly Region[] =>
  regions.filter(({ named }) => named.test(text))

/** Whether a text in normal form names a region. */
export const namesRegion = (text: string): boolean => regions.some(({ named }) => named.test(text))

/** Where nobody has a rash of the skin. */
const inside: ReadonlySet<string> = new Set(['throat', 'phlegm', 'vomit', 'urine', 'stools'])
/** What itches, is red or runs by itself. */
const apart: ReadonlySet<string> = new Set(['eye', 'ear', 'nose', 'mouth', 'down below'])

/**
 * Whether a text in normal form names parts of the body, and a finding is of another: "red eyes, any discharge?" of the ear.
 * @param bare whether the question for the finding names none: "eyes: red, itchy?"
 */
export function isElsewhere(knowledge: Knowledge, id: string, text: string, bare = false): boolean {
  const here = regionsIn(text)
  const own = here.length > 0 ? regionOf(knowledge, id) : undefined
  if (own === undefined) return false
  if (own.word.en === 'skin')
    return here.some(({ word: { en } }) => inside.has(en) || (bare && apart.has(en)))
  // 拉肚子 names the belly.
  return !here.includes(own) && !here.some(({ word }) => word.en === own.aches)
}
