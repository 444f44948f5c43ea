/** Verifiers: the probability that a free answer to a question is the reference answer. */
import { stripHiddenReasoning } from '../../text/hidden-reasoning.js'
import { indexNames, lookUpName, readMention } from './disease-names.js'
import type { Formulary, FormularyOptions } from './formulary.js'
import { findInFormulary } from './formulary.js'

/**
 * Returns P(the answer is right), in [0, 1].
 * @param question empty where the verifier must not see it
 * @throws Fault where it cannot tell; it never returns 0 instead
 */
export type Verifier = (
  question: string,
  reference: string,
  answer: string,
  options?: { readonly signal?: AbortSignal | undefined },
) => Promise<number>

/** Signs that a comparison of letters and digits alone would miss. */
const signs = /[<>≤≥+±↑↓]|(?<![\p{L}\p{N}])[-−](?=\s|$)/gu
const numerals = /(?<![\p{L}\p{N}])[-−]?\d+(?:[.,:/]\d+)*/gu

/** Lead-ins of an answer, beside those of a diagnosis. */
const answerLead =
  /^\s*(?:(?:so|thus|therefore|hence),?\s+)?(?:the\s+)?(?:(?:final|correct|right|best)\s+)?answer(?:\s+is|\s+would\s+be)?\b\s*[:,]?\s*|^\s*(?:所以|因此)?[,，]?(?:正确|最终)?答案(?:是|为)?[:：]?\s*/i

/** Whether the answer has every number and sign of the reference: 2.5 is not 25, and `< 7` is not `> 7`. */
function sameFigures(reference: string, answer: string): boolean {
  const figures = (text: string, pattern: RegExp): readonly string[] =>
    text.normalize('NFKC').match(pattern) ?? []
  return [numerals, signs].every((pattern) => {
    const found = figures(answer, pattern)
    return figures(reference, pattern).every((figure) => found.includes(figure))
  })
}

function isSameAnswer(reference: string, answer: string, formulary: Formulary): boolean {
  const mention = readMention(answer)
  if (!mention) return false
  if (lookUpName(indexNames([[reference, true]]), mention)) return sameFigures(reference, answer)
  const meant = readMention(reference)
  const disease = meant && findInFormulary(formulary, meant)
  return disease !== undefined && findInFormulary(formulary, mention) === disease
}

/**
 * Makes the rule-based verifier: 1 where the whole answer, without lead-in, hedges and explanation, is the reference or
 * another name of the same disease of the formulary (`disease-names.ts`); else 0. It reads no prose and knows no other
 * synonyms.
 * @param formulary @default none
 */
export const exactVerifier =
  ({ formulary = [] }: FormularyOptions = {}): Verifier =>
  async (_, reference, answer) =>
    isSameAnswer(reference, stripHiddenReasoning(answer).replace(answerLead, ''), formulary) ? 1 : 0
