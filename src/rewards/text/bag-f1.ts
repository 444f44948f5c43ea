/** Bag-of-tokens F1 over jieba tokens: TakesTwo's and DoctorAgent-RL's reward for a diagnosis and a recommendation. */
import { memoizeText } from '../../platform/memoize.js'
import { segmentChinese } from './segment-chinese.js'
import { countCommonTokens, countTokens, precisionRecall } from './tokens.js'

const makeBagF1 = (tokenize: (text: string) => readonly string[]) => {
  // The gold text is the same for a whole group of episodes; candidates are a policy's words and seldom repeat.
  const goldBag = memoizeText(
    (text) => {
      const tokens = tokenize(text)
      return { bag: countTokens(tokens), tokens: tokens.length }
    },
    { most: 1024 },
  )
  return (candidate: string, gold: string): number => {
    if (candidate === '' || gold === '') return 0
    const { bag, tokens } = goldBag(gold)
    const given = tokenize(candidate)
    return precisionRecall(countCommonTokens(given, bag), given.length, tokens).f1
  }
}

/**
 * Bag-of-tokens F1 in [0, 1], bit for bit that of `_get_rouge_score` in MrlX-TakesTwo and in DoctorAgent-RL's
 * env_patient_llm.py: common c = Σ min counts, precision c/|candidate|, recall c/|gold|; 0 where a text is empty.
 *
 * Whitespace and punctuation are tokens and case matters, so similar form pays: on DoctorAgent-RL's gold texts another
 * patient's diagnosis earned .56 on average, and one constant sentence .67.
 */
export const bagF1 = makeBagF1(segmentChinese)

/** Tokenizes a text into words: full width and case folded, and only tokens with a letter or a digit. */
export const wordTokens = (text: string): readonly string[] =>
  segmentChinese(text.normalize('NFKC').toLowerCase()).filter((token) =>
    /[\p{L}\p{N}]/u.test(token),
  )

/**
 * {@link bagF1} of words alone, case folded: fixed as far as a bag of words can be. Another patient's diagnosis still
 * earned .39 on those texts.
 */
export const wordF1 = makeBagF1(wordTokens)
