/** F1 of two texts as bags of jieba tokens: TakesTwo's and DoctorAgent-RL's reward for a diagnosis and a recommendation. */
import { memoizeText } from '../../platform/memoize.js'
import { segmentChinese } from './segment.js'
import { agreement, type Bag, bagOf, commonCount } from './tokens.js'

interface Counted {
  readonly bag: Bag
  readonly tokens: number
}

type Tokens = (text: string) => readonly string[]

const f1Of = (tokensOf: Tokens) => {
  // The gold text is the same for a whole group of episodes; candidates are a policy's own words, and seldom come again.
  const goldBag = memoizeText(
    (text): Counted => {
      const tokens = tokensOf(text)
      return { bag: bagOf(tokens), tokens: tokens.length }
    },
    { most: 1024 },
  )
  return (candidate: string, gold: string): number => {
    if (candidate === '' || gold === '') return 0
    const { bag, tokens } = goldBag(gold)
    const given = tokensOf(candidate)
    return agreement(commonCount(given, bag), given.length, tokens).f1
  }
}

/**
 * Bag-of-tokens F1 in [0, 1], to the last bit what `_get_rouge_score` of MrlX-TakesTwo and of DoctorAgent-RL's
 * env_patient_llm.py return: c = Σ min counts, p = c/|candidate|, r = c/|gold|; 0 where a text is empty.
 *
 * Whitespace and punctuation are tokens and case matters, so likeness of form pays: on DoctorAgent-RL's gold texts
 * another patient's diagnosis earned .56 on average, and one constant sentence .67.
 */
export const bagF1 = f1Of(segmentChinese)

/** The words of a text: full width and case folded, and only tokens with a letter or a digit. */
export const wordTokens = (text: string): readonly string[] =>
  segmentChinese(text.normalize('NFKC').toLowerCase()).filter((token) =>
    /[\p{L}\p{N}]/u.test(token),
  )

/**
 * {@link bagF1} of words alone, case folded: mended as far as a bag of words can be. Another patient's diagnosis still
 * earned .39 on those texts.
 */
export const wordF1 = f1Of(wordTokens)
