/** Spoken language: removes hesitations, false starts and immediate repetitions before an utterance is interpreted. */

const hesitation =
  /(?<![\w'’])(?:u+h*m+|u+h+|e+r+m*|a+h+|h+m+|m+h+m+|mm+(?:[- ]?hmm+)?)(?![\w'’])[,.]*|(?<![\w'’])(?:you know|i mean|sort of|kind of like|y'know),/giu
const meant =
  /(?<![\w'’])i mean (?=(?:do|did|does|have|has|are|is|was|were|can|what|how|where|when)(?![\w'’]))/giu
const hanHesitation = /(?:呃|额|唔)+[，,…]*|(?<=^|[，。！？,])(?:嗯|那个|这个|就是)+[，,…]+/gu
/** One to four words said twice: "have you, have you had", "it's it's". */
const repetition = /(?<![\w'’])((?:[\w'’]+ ){0,3}[\w'’]+)(?:[,.…]* \1(?![\w'’]))+/giu
/** A pause after a word that cannot end a clause: "are you on, any tablets", "is there , um, any blood". */
const pause =
  /(?<![\w'’])(and|but|so|because|a|an|the|your|my|any|some|of|in|on|with|for|from|about|is there|are there|was there|(?:do|did|have|are|were|can|could) (?:you|your|they)|is (?:your|the|it)) ?[,…]+ (?=[\w'’])/giu
/** "You know" as a filler, not in "as far as you know" or "do you know if". */
const youKnow =
  /(?<!\b(?:do|did|if|that|let|as|will|would|should) )(?<![\w'’])you know(?![\w'’])(?! (?:if|of|what|whats|how|why|when|where|who|which|whether|about|that|the name|any|your|his|her)\b)(?=,? [\w'’])/giu
/** Marks left over with nothing between them, as in transcripts of poor sound. */
const leftovers = /(?<=^|[.,?!])\s*[.,]+(?=\s|$)/g

/** Function words as people type them in haste. */
const hasty: ReadonlyMap<string, string> = new Map(
  'u you|ur your|yr your|r are|yuo you|yuor your|teh the|hte the|adn and|hav have|hve have|haev have|ther there|thier their|wich which|wat what|wen when|pls please'
    .split('|')
    .map((pair) => [pair.slice(0, pair.indexOf(' ')), pair.slice(pair.indexOf(' ') + 1)] as const),
)
const hastyWord = new RegExp(`(?<![\\w'’])(?:${[...hasty.keys()].join('|')})(?![\\w'’])`, 'gi')

/** The utterance as it was meant; unchanged where nothing in it is spoken language. */
export function removeDisfluencies(text: string): string {
  const latin = /[a-z]/i.test(text)
  const plain = latin
    ? text
        .replace(hesitation, '')
        .replace(youKnow, '')
        .replace(meant, '')
        .replace(/(?<=^|[.?!,]) ?[,.] /g, ' ')
        .replace(/\s{2,}/g, ' ')
        .replace(repetition, '$1')
        .replace(pause, '$1 ')
        .replace(hastyWord, (word) => hasty.get(word.toLowerCase()) ?? word)
        .replace(repetition, '$1')
    : text.replace(hanHesitation, '')
  return plain.replace(leftovers, '').trim()
}

/** Two words that are spoken as one, each with what follows. */
const pairs: readonly (readonly [RegExp, string])[] = [
  [/(?:大小便|二便)([^，,。；;？?！!]*)/g, '大便$1，小便$1'],
  [/烟酒/g, '抽烟、喝酒'],
]

/** The utterance with "stool and urine", one word in Chinese, as two questions. */
export const expandPairs = (text: string): string =>
  pairs.reduce((read, [pair, both]) => read.replace(pair, both), text)
