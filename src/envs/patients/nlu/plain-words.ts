/**
 * What a doctor says around a question, put aside: whom it is said to ("dear"), that it is passed on ("ask him …"), asked
 * for the second time ("I asked when …") or corrected ("the cough, I mean"). In place of it stands the question itself.
 */
import { memoizeText } from '../../../platform/memoize.js'
import { plainChinese } from './chinese/variants.js'
import { removeSpokenFrames } from './english/spoken-frames.js'

const vocative =
  "(?:my )?(?:dear|love|darling|sweetheart|sweetie|pet|honey|hun|duck|mate|pal|buddy|my friend|sir|madam|ma'?am|miss|young (?:man|lady)|little (?:man|one)|champ)"
/** Words that are nothing else: a pet, or what one used to love, may be asked about. */
const onlyVocative = "(?:my )?(?:dear|darling|sweetheart|sweetie|sir|madam|ma'am)"
/** A relative who listens, named at the end of a question that is not about relatives. */
const listener = /, (?:mum|mom|mummy|mommy|dad|daddy|gran|granny|nan)(?=\s*[?.!])(?<!\b(?:your|his|her|brother|sister|mother|father|family)\b.*)/gi
const interrogative = 'when|how|what|where|which|who|why|whether|if|about'

/** Patterns of English frames, each with what is left. */
const frames: readonly (readonly [RegExp, string])[] = [
  [new RegExp(`(?:, \\b${vocative}| \\b${onlyVocative})(?=\\s*(?:[.?!]|$))`, 'gi'), ''],
  [new RegExp(`(?<=[,.?!] ?|^)${vocative},\\s*`, 'gi'), ''],
  [new RegExp(`, ${vocative},`, 'gi'), ','],
  [listener, ''],
  [/(?<=\b(?:ok|okay|right|alright|all right|hello|hi|hey)) (?:buddy|pal|mate|champ|bud|chap|big (?:man|fella|fellow|girl|boy))(?=\s*[?.!,])/gi, ''],
  // "Could you ask him when it started?"
  [
    new RegExp(
      `(?<=^|[.?!,;:—–-] ?)(?:(?:please|so|and|ok|okay|now|then|right|well|could you|can you|would you|will you|if you could)[, ]+)*(?:ask|tell) (?:him|her|them)(?:,? please)?,? (?:to tell (?:me|us) )?(?=(?:${interrogative})\\b)`,
      'gi',
    ),
    'tell me ',
  ],
  // "I asked when it started." "My question was how long."
  [
    new RegExp(
      `(?:\\b(?:no|sorry|yes|but|well|and)[, ]+)*\\b(?:i(?: have|'ve)? (?:just |only |actually )?(?:asked|was asking|wanted to know)|(?:my|the) question (?:was|is)|what i(?: (?:want|wanted|need|meant|was asking|asked)| am asking|'m asking)(?: to (?:know|ask))? (?:is|was))(?: (?:you|him|her))?,? (?=(?:${interrogative})\\b)`,
      'gi',
    ),
    'tell me ',
  ],
  // "No, I meant the cough, not the cold." "The cough, I mean." "I'm talking about the cough."
  [
    /(?<=^|[.?!] )(?:(?:no|sorry|oh|but|well|ah)[, ]+)*i(?:'m| am| was)? (?:mean|meant|talking about|asking about|thinking of)[:,]? (?=(?:the|your|his|her|this|that|these|those)\b)([^,.?!;]{2,40})(?:,? (?:not|rather than|instead of) [^,.?!;]*)?(?=[.!;]|$)/gi,
    'what about $1?',
  ],
  [
    /(?<=^|[.?!] )(?:(?:no|sorry|oh|but|well|ah)[, ]+)*((?!(?:i|you|he|she|it|we|they|do|does|did|is|are|have|has|what|when|where|how|which|who|why)\b)[\w' -]{2,40}?),? i mean(?:t)?(?:,? (?:not|rather than|instead of) [^,.?!;]*)?(?=[,.?!;]|$)/gi,
    'what about $1?',
  ],
]

/** The same without anything that an English frame needs, so that most texts are not searched for each. */
const framed = new RegExp(
  `\\b(?:${vocative}|mum|mom|mummy|mommy|dad|daddy|gran|granny|nan|bud|chap|(?:ask|tell) (?:him|her|them)|i(?:'m| am| was| have|'ve)? (?:\\w+ )?(?:mean|meant|asked|asking|talking|thinking|wanted)|question|what i)\\b`,
  'i',
)

const han = /\p{Script=Han}/u

/** The utterance in plain words. */
export const plainWords = memoizeText(
  (utterance: string): string => {
    const chinese = plainChinese(utterance)
    const plain = han.test(chinese) ? chinese : removeSpokenFrames(chinese)
    if (!framed.test(plain)) return plain
    return frames.reduce((read, [frame, rest]) => read.replace(frame, rest), plain)
  },
  { most: 4096, longest: 512 },
)

const corrects =
  /(?:^|[.?!,;] ?)(?:(?:no|sorry|oh|but|well|ah)[, ]+)*(?:i(?:'m| am| was)? (?:mean|meant|talking about|asking about|thinking of)\b|[^.?!;]{2,40},? i mean(?:t)?\b)|我(?:刚才|刚刚)?(?:是(?:说|问|指)|的意思是|(?:想)?(?:问|说|指)的(?:其实)?是)/i

/** Whether a doctor corrects how the question before was taken: "The cough, I mean." */
export const isRepair = (utterance: string): boolean => corrects.test(utterance)
