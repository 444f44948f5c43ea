/** Openings of a reply ("Yes, …", "没有，…"): what may stand before a finding's sentence, and how to take it off again. */
import type { Language } from '../turn.js'

/** What an opening says by itself: yes, no, neither, or that there is more. */
export type Polarity = 'yes' | 'no' | 'neutral' | 'more'

/** Openings by what they say, each with its comma; none takes the answer for good or bad news. Blunt people keep to the first two of a list. */
export const replyOpenings: {
  readonly [polarity in Polarity]: { readonly [language in Language]: readonly string[] }
} = {
  yes: {
    en: ['Yes, ', 'Yeah, ', 'Yes, doctor, ', 'Well, yes, ', "That's right, ", 'Oh yes, '],
    zh: ['嗯，', '对，', '是啊，', '嗯，对，', '对的，', '可不是，'],
  },
  no: {
    en: ['No, ', 'Nope, ', 'No, doctor, ', 'Not at all, ', 'Well, no, ', 'Oh no, '],
    zh: ['没有，', '没，', '没有没有，', '没有啊，', '倒没有，', '没有的，'],
  },
  neutral: {
    en: ['Well, ', 'Actually, ', 'To be honest, ', 'Let me think, ', 'You see, ', 'Honestly, '],
    zh: ['嗯，', '呃，', '这个嘛，', '那个，', '哦，', '其实，'],
  },
  more: {
    en: ['Also, ', 'And ', 'Oh, and ', 'Besides, '],
    zh: ['还有，', '对了，', '再就是，', '另外，'],
  },
}

/** Openings that authors write. An echo of the question's verb ("疼，…") is none: the rest would not stand alone. */
const authored: { readonly [language in Language]: RegExp } = {
  en: /^(?:(Yes)|No), /,
  zh: /^(?:(有|会|对|是的|是)|没有|不会|不是)，/,
}

/** The polarity of an author's opening; undefined for a sentence without one. */
export function openingPolarity(sentence: string, language: Language): 'yes' | 'no' | undefined {
  const found = authored[language].exec(sentence)
  if (!found) return undefined
  return found[1] === undefined ? 'no' : 'yes'
}

const either = (language: Language): RegExp => {
  const all = Object.values(replyOpenings).flatMap((of) => of[language])
  // "Yes, doctor, " before "Yes, ".
  return new RegExp(`^(?:${all.sort((a, b) => b.length - a.length).join('|')})`)
}
const known: { readonly [language in Language]: RegExp } = { en: either('en'), zh: either('zh') }

/** A text with its first letter in upper case. */
export const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** A sentence without its opening, capitalised; undefined where it has none. */
export function withoutOpening(sentence: string, language: Language): string | undefined {
  const opening = known[language].exec(sentence) ?? authored[language].exec(sentence)
  return opening ? capitalised(sentence.slice(opening[0].length)) : undefined
}

/** Puts an opening before a sentence that has none. */
export const withOpening = (opening: string, sentence: string, language: Language): string =>
  language === 'zh' || /^I\b/.test(sentence)
    ? opening + sentence
    : opening + sentence.charAt(0).toLowerCase() + sentence.slice(1)
