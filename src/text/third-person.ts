/** Rewrites first person into third person, for a relative who speaks for the patient. */
import type { Language } from '../turn.js'

/** Pronoun for the patient. */
export type Pronoun = 'he' | 'she'

const forms = {
  he: { I: 'he', me: 'him', my: 'his', mine: 'his', myself: 'himself', zh: '他' },
  she: { I: 'she', me: 'her', my: 'her', mine: 'hers', myself: 'herself', zh: '她' },
} as const

const splitWords = (text: string): readonly string[] => text.trim().split(/\s+/)

/** Verbs with the same third person: modals and past tenses that do not end in -ed. */
const unchanged = new Set(
  splitWords(`can can't cannot could couldn't will won't would wouldn't should shouldn't may might must mustn't was
  wasn't had hadn't did didn't took felt went threw got saw ate woke came began lost gave found said kept slept
  fell thought knew left made told heard grew drank drove ran stood sat broke bent caught bit blew rose shook
  spoke swam wore wrote sank spent held brought bought meant led fed bled met paid sent understood became
  taught forgot chose flew froze hid rode rang sang stuck struck tore swore used`),
)
const irregular = new Map([
  ['am', 'is'],
  ["'m", "'s"],
  ["'ve", "'s"],
  ['have', 'has'],
  ["haven't", "hasn't"],
  ['do', 'does'],
  ["don't", "doesn't"],
])
const adverbs = new Set(
  splitWords(`always never often sometimes usually just still also even hardly only really barely rarely mostly
  already almost then now both ever first once soon quite simply again`),
)
/** Present-tense verbs that look like a past tense. */
const present = new Set(splitWords('need feed bleed speed heed succeed'))

/** Conjugates a verb that follows "I" in the third person. */
function conjugate(verb: string): string {
  const known = irregular.get(verb)
  if (known !== undefined) return known
  if (unchanged.has(verb) || (verb.endsWith('ed') && !present.has(verb))) return verb
  if (/(?:s|x|z|ch|sh|o)$/.test(verb)) return `${verb}es`
  return /[^aeiou]y$/.test(verb) ? `${verb.slice(0, -1)}ies` : `${verb}s`
}

const isAdverb = (word: string): boolean =>
  adverbs.has(word) ||
  (word.endsWith('ly') && word.length > 4 && word !== 'apply' && word !== 'rely')

/** "I" of the patient; what is known or thought stays the speaker's own: "as far as I know". */
const subject =
  /(?<!\bas far as )\b(?!I think[.,])I(?:('m|'ve|'d|'ll)\b|(?![\w'])((?: [a-z']+){1,4})?)/g

function englishThirdPerson(text: string, pronoun: Pronoun): string {
  const { I, me, my, mine, myself } = forms[pronoun]
  return text
    .replaceAll('’', "'")
    .replace(subject, (_, short: string | undefined, after = '') => {
      if (short !== undefined) return I + (irregular.get(short) ?? short)
      const words = after.split(' ')
      const verb = words.findIndex((word: string) => word !== '' && !isAdverb(word))
      if (verb >= 0) words[verb] = conjugate(words[verb])
      return I + words.join(' ')
    })
    .replace(/\b(me|my|mine|myself)\b/gi, (word) => {
      const put = { me, my, mine, myself }[word.toLowerCase()] ?? word
      return /^[A-Z]/.test(word) ? put[0]?.toUpperCase() + put.slice(1) : put
    })
    .replace(/^(\W*)([a-z])/, (_, before: string, first: string) => before + first.toUpperCase())
    .replace(/([.!?] )([a-z])/g, (_, before: string, first: string) => before + first.toUpperCase())
}

/**
 * Rewrites a patient's sentence in the third person: "I keep coughing." becomes "She keeps coughing."
 * The rules fit plain sentences with one verb to each "I", as the knowledge base has them.
 */
export function toThirdPerson(text: string, language: Language, pronoun: Pronoun): string {
  if (language === 'en') return englishThirdPerson(text, pronoun)
  // "他妈" is an oath; "他妈妈" is the mother.
  return text.replace(/我([妈爸])(?!\1)/g, '我$1$1').replace(/我(?!们)/g, forms[pronoun].zh)
}

/** "Yes, …", "没有，…", "疼，…": openings that fit only after a question. */
const replyOpening = /^(?:yes|yeah|no|well)\b|^\p{Script=Han}{1,2}[，。]/iu

/** "Yes, it burns" and "有，小便像针刺一样" without their yes. */
const withoutYes = (text: string): string =>
  text.replace(/^(?:有|是|对)，/u, '').replace(/^yes, (.)/i, (_, first) => first.toUpperCase())

/** Selects, from sentences of one meaning, those that need no question before them, or else all, without their yes. */
export function standaloneSentences(texts: readonly string[]): readonly string[] {
  const standalone = texts.filter((text) => !replyOpening.test(text))
  return standalone.length > 0 ? standalone : texts.map(withoutYes)
}

/** The pronoun for a patient of a sex; `he` unless female. */
export const pronounForSex = (sex: string | undefined): Pronoun => (sex === 'F' ? 'she' : 'he')
