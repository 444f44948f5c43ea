/**
 * Clauses of a patient's reply: what each speaks of, and whether it affirms or denies it. Reads words only, no case.
 *
 * Long because the two languages are read differently, step by step beside each other.
 */
import { foldHan } from '../../../text/phrase-search.js'
import type { Language } from '../../../turn.js'
import {
  answerEnglish,
  chineseDenials,
  chineseHedges,
  chineseTrouble,
  chineseWellness,
  englishDenials,
  englishHedges,
  englishTrouble,
  englishWellness,
  everydayChinese,
  everydayEnglish,
  idleChinese,
  idleEnglish,
  notKnowing,
} from './words.js'

/** How a clause stands to what it speaks of: says it, denies it, calls it as it should be, or not so. */
export type Stance = 'said' | 'denied' | 'well' | 'troubled'

/** One clause of a reply. */
export interface Clause {
  /** What it speaks of: English stems, single Chinese characters. Empty for manner and bare answers. */
  readonly tokens: ReadonlySet<string>
  readonly stance: Stance
  /** It says that the patient does not know. */
  readonly unsure: boolean
  /** It has a word of doubt. */
  readonly hedged: boolean
  readonly asks: boolean
  /** Nothing but an answer: "Yes", "Not at all", "I do", 没有. */
  readonly bare?: 'yes' | 'no'
  /** It speaks of a third person. */
  readonly third: boolean
  /** Without content, and yet more than talk or a plain yes or no: "and then some". */
  readonly vague: boolean
  /** Its words in normal form. */
  readonly text: string
  /** Number of its sentence in the reply, from 0. */
  readonly sentence: number
}

type Unplaced = Omit<Clause, 'sentence'>

/** Words of talk that would be taken for statements: "I know", "as I said". */
const talk =
  /\b(?:you see|let me (?:see|think)|let us see|i see|never mind|do not mind|(?:this|that|which|no|any|some|every) ones?|by the way|in a (?:word|way)|the point is|as a matter of fact|no matter|so far|look here|look|listen|to hear that|i hear you)\b|\b(?:as|like) (?:i|he|she) (?:have )?(?:already |just )?(?:said|told you|mentioned)\b|\b(?:i|he|she) (?:have |had )?(?:already |just )?(?:said|told you|mentioned)(?: (?:so|that|it|this))?(?: (?:before|earlier|already|a moment ago))*|\bi (?:can |could |must |have to |would |should )?(?:see|mean|guess|think|suppose|reckon|believe|know|understand|say|tell you|admit|confess|promise|swear)(?: what you mean| so)?\b|\bi am (?:sure|afraid|sorry|glad|telling you)(?: to say)?\b|\bto (?:be|tell you) (?:(?:perfectly |quite |totally |completely )?(?:honest|frank|fair)(?: with you)?|the truth)\b|\b(?:these days|at the moment|at present|right now|at all|at any rate|in any case|in fact|as well|for that matter|as far as i (?:know|can tell)|whatsoever|so far|you know|thank you(?: (?:so|very) much)?(?: for asking)?|very much|(?:what|anything) else|good question|that is (?:it|all|everything)|good question|no doubt|not to mention|no wonder|nothing but|not only|by the way|of course|for sure|of any kind|of any sort|of the sort|thank goodness|thank god|not that i (?:know of|am aware of|(?:have )?noticed|can tell|can think of))\b/g

const contractions: readonly (readonly [RegExp, string])[] = [
  [/[’‘`´]/g, "'"],
  [/\bcan't\b|\bcannot\b|\bcant\b/g, 'can not'],
  [/\bwon't\b/g, 'will not'],
  [/\bain't\b/g, 'is not'],
  [
    /\b(do|does|did|have|has|had|is|are|was|were|would|could|should|might|must|need)n'?t\b/g,
    '$1 not',
  ],
  [/\b(i)'?m\b(?=[ ,])/g, '$1 am'],
  [/'(?:s|m|re|ve|ll|d)\b/g, ''],
  [/\ball right\b/g, 'alright'],
  [/\bno longer\b|\banything but\b|\bfar from\b/g, 'not'],
  [/\bout of the ordinary\b/g, 'wrong'],
]

/** Where an English clause ends: at a mark, before "but", and before a second denial or subject after "and". */
const englishBreak =
  /[.!;:,()"“”—–\n]+|(?<=\?)|\s-\s|\b(?:but|although|though|while|whereas|however|yet|except)\b|(?=\bnor\b)|\s(?=(?:i|he|she|it) (?:can|could|do|does|did) not\b)|\b(?:and|or|so)\b(?= (?:no|not|never|without|i|he|she|they|it|my|his|her|their|there|also|then|nothing)\b)/

const irregular = new Map<string, string>([
  ...([
    ['ate', 'eat'],
    ['eaten', 'eat'],
    ['threw', 'throw'],
    ['thrown', 'throw'],
    ['slept', 'sleep'],
  ] as const),
  ...([
    ['bled', 'bleed'],
    ['fell', 'fall'],
    ['fallen', 'fall'],
    ['began', 'begin'],
    ['begun', 'begin'],
  ] as const),
  ...([
    ['woke', 'wake'],
    ['woken', 'wake'],
    ['swollen', 'swell'],
    ['lay', 'lie'],
    ['lying', 'lie'],
  ] as const),
  ...([
    ['ran', 'run'],
    ['drank', 'drink'],
    ['drunk', 'drink'],
    ['breath', 'breathe'],
    ['peeing', 'pee'],
  ] as const),
])

/** A plain stem: the same for "cough", "coughs", "coughed" and "coughing". */
function stemOf(word: string): string {
  let stem = irregular.get(word) ?? word
  // "Tiredness" as "tired".
  if (stem.length > 6 && stem.endsWith('ness')) stem = stem.slice(0, -4).replace(/i$/, 'y')
  if (stem.length === 4 && /[^su]s$/.test(stem)) stem = stem.slice(0, -1)
  else if (stem.length > 4) {
    if (stem.endsWith('ies')) stem = `${stem.slice(0, -3)}y`
    else
      for (const ending of ['ing', 'ed', 'es', 'ly', 's'])
        if (
          stem.endsWith(ending) &&
          !/(?:ss|us|is)$/.test(stem) &&
          stem.length - ending.length > 2
        ) {
          stem = stem.slice(0, -ending.length)
          break
        }
  }
  stem = stem.replace(/([b-df-hj-np-tv-z])\1$/, '$1')
  return stem.length > 3 ? stem.replace(/[ey]$/, '') : stem
}

/** The stance of a count of denials beside words of order and trouble. */
function stanceOf(denials: number, well: boolean, troubled: boolean): Stance {
  const denied = denials % 2 === 1
  if (well) return denied ? 'troubled' : 'well'
  if (troubled) return denied ? 'well' : 'troubled'
  return denied ? 'denied' : 'said'
}

const englishYes =
  /^(?:(?:oh|well|ah|mm|um) )*(?:yes|yeah|yep|yup)\b|^(?:and |so |that |oh |well )*(?:i|it|he|she|they|we|that|there|this) (?:really |certainly |definitely |sure |still |also |actually |always )*(?:do|does|did|have|has|had|am|is|are|was|can|could|will|would|get|gets|got|feel|feels|felt|notice|noticed|suffer|suffered|experience|experienced|keep|keeps|find|bother|bothers|bothered|seem|seems)\b/
const third = /\b(?:he|she|him|her|his|hers)\b/

/** What somebody may be unable to do, in words that mean nothing otherwise. */
const unableTo = new Set(
  'feel go come keep make think get move stop want know remember do'.split(' '),
)

function englishClause(text: string, asks: boolean): Unplaced | undefined {
  const unsure = notKnowing.en.test(text)
  const spoken = text.replace(notKnowing.en, ' ').replace(talk, ' ').replace(/\s+/g, ' ').trim()
  const words = spoken.match(/[a-z]+(?:'[a-z]+)?|\d+(?:[.:]\d+)?/g) ?? []
  if (words.length === 0 && !unsure) return undefined
  const denials = words.filter((word) => englishDenials.has(word)).length
  const alone = words.length === 1
  const well = !alone && words.some((word) => englishWellness.has(word))
  const troubled = words.some((word) => englishTrouble.has(word))
  const tokens = new Set(
    words
      .filter((word) => !everydayEnglish.has(word) && !englishDenials.has(word))
      .filter((word) => !englishWellness.has(word) && !englishTrouble.has(word))
      .filter((word) => !englishHedges.has(word))
      .map(stemOf),
  )
  // "I cannot go", "I cannot think": no talk.
  const [, unable] = /\b(?:can|could) not (?:really |even |quite )?([a-z]+)/.exec(spoken) ?? []
  if (unable !== undefined && unableTo.has(unable)) tokens.add(`not ${unable}`)
  const stance = stanceOf(denials, well, troubled)
  const hedged = words.some((word) => englishHedges.has(word))
  const says = stance === 'troubled' || englishYes.test(spoken)
  const polar = stance === 'denied' || stance === 'well' ? 'no' : says ? 'yes' : undefined
  const empty = tokens.size === 0 && !unsure
  const idle = words.every((word) => idleEnglish.has(word))
  const plain = words.every((word) => idleEnglish.has(word) || answerEnglish.has(word))
  // "It's not that …" denies what comes next.
  const whole = plain && !/\bnot that$/.test(spoken)
  const bare = empty && !idle && (whole || stance === 'well') ? polar : undefined
  return {
    ...{ tokens, stance, unsure, hedged, asks, third: third.test(text) },
    ...{ vague: empty && !idle && bare === undefined, text: words.join(' ') },
    ...(bare ? { bare } : {}),
  }
}

function readEnglish(text: string): readonly Clause[] {
  let plain = text.normalize('NFKC').toLowerCase()
  for (const [from, to] of contractions) plain = plain.replace(from, to)
  return plain.split(/(?<=[.!?\n])(?=\s|$)/).flatMap((whole, sentence) =>
    whole.split(englishBreak).flatMap((part) => {
      const clause = englishClause(part.replaceAll('?', ' '), part.trim().endsWith('?'))
      return clause ? { ...clause, sentence } : []
    }),
  )
}

const byLength = (words: readonly string[]): readonly string[] =>
  [...words].map(foldHan).sort((a, b) => b.length - a.length)

const oneOf = (words: readonly string[]): RegExp => new RegExp(byLength(words).join('|'), 'g')

const chinese = {
  wellness: oneOf(chineseWellness),
  trouble: oneOf(chineseTrouble),
  good: /好(?![几多久些长])/,
  hedges: oneOf(chineseHedges),
  idle: oneOf(idleChinese),
  everyday: oneOf(everydayChinese),
  denials: oneOf(chineseDenials),
  /** Words with a character of denial that deny nothing. */
  idioms:
    /不过|不好意思|差不多|只不过|不光|不但|不仅|要不|不然|是不是|有没有|好不好|对不对|行不行|对不起|不得不|没关系|不瞒[你您]说|什么都/g,
  yes: /^(?:嗯|啊|哦|呃|是|就是|确实|其实|真的|我|他|她)*(?:有|会)(?:的|啊|呀|点|一点|过|了)*$/,
  agrees: /^(?:嗯)*(?:对|是的|对的|对啊|是啊|没错)+$/,
} as const

function chineseClause(text: string, asks: boolean): Unplaced | undefined {
  const han = text.replace(/\s+/g, '')
  if (!/[\p{L}\p{N}]/u.test(han)) return undefined
  const unsure = notKnowing.zh.test(han)
  const hedged = han.search(chinese.hedges) >= 0
  let rest = han
    .replace(chinese.idioms, ' ')
    .replace(notKnowing.zh, ' ')
    .replace(chinese.hedges, ' ')
  const whole = rest.search(chinese.wellness) >= 0
  rest = rest.replace(chinese.wellness, ' ')
  const troubled = rest.search(chinese.trouble) >= 0
  rest = rest.replace(chinese.trouble, ' ')
  const well = whole || chinese.good.test(rest)
  rest = rest.replace(chinese.good, ' ')
  const denials = rest.match(chinese.denials)?.length ?? 0
  const content = rest.replace(chinese.denials, ' ').replace(chinese.everyday, ' ')
  const tokens = new Set(content.match(/\p{Script=Han}|[a-z]+|\d+(?:\.\d+)?/gu) ?? [])
  const stance = stanceOf(denials, well, troubled)
  const said = stance === 'troubled' || chinese.yes.test(han) || chinese.agrees.test(han)
  const polar = stance === 'denied' || stance === 'well' ? 'no' : said ? 'yes' : undefined
  const empty = tokens.size === 0 && !unsure
  const idle = han.replace(chinese.wellness, '').replace(chinese.idle, '') === ''
  const bare = empty && idle && !/^[也都]?不是/.test(han) ? polar : undefined
  return {
    ...{ tokens, stance, unsure, hedged, asks, third: /[他她]/.test(han) },
    ...{ vague: empty && (!idle || /^[也都]?不是/.test(han)), text: han },
    ...(bare ? { bare } : {}),
  }
}

const chineseBreak =
  /[。！；，、：,.!;:()（）“”"—…\n]+|(?<=[?？])|但是|可是|不过|只是|但(?=[我有没不是])|(?<!哪儿|哪里|什么|谁|啥|一.)[也又](?=[不没])/

const readChinese = (text: string): readonly Clause[] =>
  foldHan(text.normalize('NFKC').toLowerCase())
    .split(/(?<=[。！!?？\n])/)
    .flatMap((whole, sentence) =>
      whole.split(chineseBreak).flatMap((part) => {
        const clause = chineseClause(part.replace(/[?？]/g, ''), /[?？]\s*$/.test(part))
        return clause ? { ...clause, sentence } : []
      }),
    )

/** The clauses of a reply, in order. */
export const readClauses = (text: string, language: Language): readonly Clause[] =>
  language === 'zh' ? readChinese(text) : readEnglish(text)
