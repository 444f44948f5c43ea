/** Verifiers: whether a free answer to a question is the reference answer, as a probability. */
import { visible } from '../../text/hidden-reasoning.js'
import type { Formulary } from './formulary.js'
import { inFormulary } from './formulary.js'
import { lookUp, mentionOf, namesOf } from './naming.js'

/**
 * P(the answer is right), in [0, 1].
 * @param question empty where the verifier is not to know it
 * @throws Fault where it cannot tell; never a 0 in its place
 */
export type Verifier = (
  question: string,
  reference: string,
  answer: string,
  options?: { readonly signal?: AbortSignal | undefined },
) => Promise<number>

/** Marks that a comparison of letters and digits alone does not see. */
const signs = /[<>≤≥+±↑↓]|(?<![\p{L}\p{N}])[-−](?=\s|$)/gu
const numerals = /(?<![\p{L}\p{N}])[-−]?\d+(?:[.,:/]\d+)*/gu

/** What stands before the answer itself, beside the lead-ins of a diagnosis. */
const answerLead =
  /^\s*(?:(?:so|thus|therefore|hence),?\s+)?(?:the\s+)?(?:(?:final|correct|right|best)\s+)?answer(?:\s+is|\s+would\s+be)?\b\s*[:,]?\s*|^\s*(?:所以|因此)?[,，]?(?:正确|最终)?答案(?:是|为)?[:：]?\s*/i

/** Whether every number and sign of the reference stands in the answer: 2.5 is not 25, nor `< 7` what `> 7` is. */
function sameFigures(reference: string, answer: string): boolean {
  const figures = (text: string, pattern: RegExp): readonly string[] =>
    text.normalize('NFKC').match(pattern) ?? []
  return [numerals, signs].every((pattern) => {
    const found = figures(answer, pattern)
    return figures(reference, pattern).every((figure) => found.includes(figure))
  })
}

function same(reference: string, answer: string, formulary: Formulary): boolean {
  const mention = mentionOf(answer)
  if (!mention) return false
  if (lookUp(namesOf([[reference, true]]), mention)) return sameFigures(reference, answer)
  const meant = mentionOf(reference)
  const disease = meant && inFormulary(formulary, meant)
  return disease !== undefined && inFormulary(formulary, mention) === disease
}

/**
 * The rule: 1 where the whole answer, without lead-in, hedges and explanation, is the reference or another name of
 * the same disease of the formulary (`naming.ts`); else 0. It reads no prose and knows no synonyms but those.
 * @param formulary @default none
 */
export const exactVerifier =
  ({ formulary = [] }: { readonly formulary?: Formulary } = {}): Verifier =>
  async (_, reference, answer) =>
    same(reference, visible(answer).replace(answerLead, ''), formulary) ? 1 : 0
