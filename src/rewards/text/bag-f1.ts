/** F1 of two texts as bags of jieba tokens: TakesTwo's and DoctorAgent-RL's reward for a diagnosis and a recommendation. */
import { segment } from './segment.js'
import { agreement, type Bag, bagOf, commonCount } from './tokens.js'

interface Counted {
  readonly bag: Bag
  readonly tokens: number
}

type Tokens = (text: string) => readonly string[]

/** How many gold texts are remembered, and how long one may be. */
const memory = { texts: 1024, length: 4000 }

/** Counts a text once however often it comes; the oldest is forgotten first. What is remembered changes no result. */
function remembering(tokensOf: Tokens): (text: string) => Counted {
  const known = new Map<string, Counted>()
  return (text) => {
    const before = known.get(text)
    if (before) return before
    const tokens = tokensOf(text)
    const counted = { bag: bagOf(tokens), tokens: tokens.length }
    if (text.length > memory.length) return counted
    if (known.size >= memory.texts)
      for (const oldest of known.keys()) {
        known.delete(oldest)
        break
      }
    known.set(text, counted)
    return counted
  }
}

const f1Of = (tokensOf: Tokens) => {
  // The gold text is the same for a whole group of episodes; of a candidate only its clauses come again (`segment.ts`).
  const goldBag = remembering(tokensOf)
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
export const bagF1 = f1Of(segment)

/** The words of a text: full width and case folded, and only tokens with a letter or a digit. */
export const wordTokens = (text: string): readonly string[] =>
  segment(text.normalize('NFKC').toLowerCase()).filter((token) => /[\p{L}\p{N}]/u.test(token))

/**
 * {@link bagF1} of words alone, case folded: mended as far as a bag of words can be. Another patient's diagnosis still
 * earned .39 on those texts.
 */
export const wordF1 = f1Of(wordTokens)
