/**
 * How much speaks for a finding in a sentence: how far it leads over other ones, and how much of what the sentence says
 * is ever said of it. Most wrong answers are near neighbours with little of both: it is better to ask back.
 */
import { languageByScript, type SentenceContext } from './finding-match.js'

/**
 * Least evidence. On questions of the base that were left out of it, half of the wrong findings lie below, with about as
 * many of the right ones, one in twenty.
 */
const least = { en: 0.4, zh: 0.35 } as const
/** Weight of the words beside the lead. */
const shareWeight = 0.5

/** Whether enough in a sentence speaks for a finding that it is like or names. */
export function isEvident(
  {
    lexicon,
    sentence: { text },
    similarity,
  }: Pick<SentenceContext, 'lexicon' | 'sentence' | 'similarity'>,
  id: string,
): boolean {
  const above = lexicon.ancestors.get(id) ?? []
  const lead = similarity.scoreOf(id) - similarity.bestOf((other) => !lexicon.isNear(id, other))
  return lead + shareWeight * similarity.shareOf([id, ...above]) >= least[languageByScript(text)]
}
