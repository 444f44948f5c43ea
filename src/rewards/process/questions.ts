/** Counts the questions in a text, Chinese or English, with question marks or without. */

/** Maximum number of questions of a turn; more are a laundry list, and the findings it elicits earn nothing. */
export const maxQuestions = 2

/** A question by its mark or final particle. 吗 also occurs in names of medicines (吗啡), and A吗，还是B is one question. */
const ended =
  /(?:吗(?!啡|丁|替|氯)|[呢嘛](?=[\s\p{P}]|$))?[?？](?:\s*[?？!！])*|吗(?!啡|丁|替|氯|[,，]\s*还是)|呢(?=[\s\p{P}]|$)/gu

/** 有没有, 疼不疼: a question without a mark; 红不红、肿不肿 is one question, and the words excluded first are none. */
const choice =
  /(?!时不时|动不动|差不差)(\p{Script=Han})[不没]\1(?:、[^、,，。?？]{0,6}(\p{Script=Han})[不没]\2)*/gu

const auxiliary = '(?:do|does|did|are|is|was|were|have|has|had|can|could|will|would)'
const who = '(?:you|he|she|it|they|there|this|that|the|your|his|her|any)'

/** A second question behind the first: "… and do you …", "… and how long …". A choice with "or" is one question. */
const joined = new RegExp(
  String.raw`\b(?:and|also|plus)\s+(?:also\s+|then\s+)?(?:${auxiliary}(?:n't)?\s+${who}|what|when|where|why|how|which|who)\b`,
  'gi',
)

/** "Do you cough, do you smoke": only in a sentence that is a question already, and not a tag like ", do you?". */
const chained = new RegExp(String.raw`[,;]\s+${auxiliary}\s+${who}\b(?!\s*(?:[?.,!]|$))`, 'gi')
const asking = new RegExp(
  String.raw`^\W*(?:(?:and|so|now|well|please)\W+)*${auxiliary}\s+${who}\b`,
  'i',
)

/** Asks without a mark: "do you cough", "tell me about the pain". */
const opened = new RegExp(
  String.raw`^\W*(?:(?:and|so|now|ok|okay|well|please)\W+)*(?:${auxiliary}\s+${who}|what|when|where|why|how|which|who|any|tell me|describe|show me|(?:i'm|i am|i was|just|i) wonder(?:ing)?|i'd like to know|let me know|请?(?:您|你)?(?:先|再)?(?:说说|讲讲|谈谈|描述|告诉我))(?![a-z])`,
  'i',
)

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0

/** Maximum length of a text that is read, in UTF-16 units. */
const maxLength = 4000

/**
 * The number of questions in a text: the larger of its marks with final particles and its choices (有没有…), or without
 * either, its sentences that begin like questions; plus English questions joined to them ("and do you …").
 * Infinity for a text of more than 4,000 characters.
 */
export function countQuestions(text: string): number {
  if (text.length > maxLength) return Number.POSITIVE_INFINITY
  const plain = text.normalize('NFC').replace(/[’‘]/g, "'")
  const sentences = plain.split(/(?<=[?？。！!\n]|\.(?=\s|$))/)
  const marked = Math.max(count(plain, ended), count(plain, choice))
  const begun = marked > 0 ? marked : sentences.filter((one) => opened.test(one)).length
  if (begun === 0) return 0
  const more = sentences.map((one) => (asking.test(one) ? count(one, chained) : 0))
  return more.reduce((sum, one) => sum + one, begun + count(plain, joined))
}
