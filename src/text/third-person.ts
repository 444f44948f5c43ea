/** Whose mouth a sentence comes from: the patient's own words, put into the words of somebody who speaks for them. */
import type { Language } from '../turn.js'

/** The person spoken about. */
export type Pronoun = 'he' | 'she'

const forms = {
  he: { I: 'he', me: 'him', my: 'his', mine: 'his', myself: 'himself', zh: '他' },
  she: { I: 'she', me: 'her', my: 'her', mine: 'hers', myself: 'herself', zh: '她' },
} as const

const listOf = (text: string): readonly string[] => text.trim().split(/\s+/)

/** Verbs that are alike in the third person: modals and past tenses that do not end in -ed. */
const unchanged = new Set(
  listOf(`can can't cannot could couldn't will won't would wouldn't should shouldn't may might must mustn't was
  wasn't had hadn't did didn't took felt went threw got saw ate woke came began lost gave found said kept slept
  fell thought knew left made told heard grew drank drove ran stood sat broke bent caught bit blew rose shook
  spoke swam wore wrote sank spent held brought bought meant led fed bled met paid sent understood became
  forgot chose flew froze hid rode rang sang stuck struck tore swore used`),
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
  listOf(`always never often sometimes usually just still also even hardly only really barely rarely mostly
  already almost then now both ever first once soon quite simply again`),
)
/** Verbs in the present that look like a past. */
const present = new Set(listOf('need feed bleed speed heed succeed'))

/** The third person of a verb that stands with "I". */
function conjugated(verb: string): string {
  const known = irregular.get(verb)
  if (known !== undefined) return known
  if (unchanged.has(verb) || (verb.endsWith('ed') && !present.has(verb))) return verb
  if (/(?:s|x|z|ch|sh|o)$/.test(verb)) return `${verb}es`
  return /[^aeiou]y$/.test(verb) ? `${verb.slice(0, -1)}ies` : `${verb}s`
}

const isAdverb = (word: string): boolean =>
  adverbs.has(word) ||
  (word.endsWith('ly') && word.length > 4 && word !== 'apply' && word !== 'rely')

const subject = /\bI(?:('m|'ve|'d|'ll)\b|(?![\w'])((?: [a-z']+){1,4})?)/g

function english(text: string, pronoun: Pronoun): string {
  const { I, me, my, mine, myself } = forms[pronoun]
  return text
    .replaceAll('’', "'")
    .replace(subject, (_, short: string | undefined, after = '') => {
      if (short !== undefined) return I + (irregular.get(short) ?? short)
      const words = after.split(' ')
      const verb = words.findIndex((word: string) => word !== '' && !isAdverb(word))
      if (verb >= 0) words[verb] = conjugated(words[verb])
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
 * A patient's sentence as somebody else says it of them: "I keep coughing." becomes "She keeps coughing."
 * Rules for plain sentences, one verb to each "I"; the knowledge base is written to suit them.
 */
export function thirdPerson(text: string, language: Language, pronoun: Pronoun): string {
  if (language === 'en') return english(text, pronoun)
  // "他妈" is no mother but an oath.
  return text.replace(/我([妈爸])(?!\1)/g, '我$1$1').replace(/我(?!们)/g, forms[pronoun].zh)
}

/** "Yes, …", "没有，…", "疼，…": fit only right after a question. */
const reply = /^(?:yes|yeah|no|well)\b|^\p{Script=Han}{1,2}[，。]/iu

/** Of sentences that say the same, those that need no question before them; all where every one does. */
export function statements(texts: readonly string[]): readonly string[] {
  const own = texts.filter((text) => !reply.test(text))
  return own.length > 0 ? own : texts
}

/** How somebody of a sex is spoken about. */
export const pronounOf = (sex: string | undefined): Pronoun => (sex === 'F' ? 'she' : 'he')
