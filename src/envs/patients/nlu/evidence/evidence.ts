/**
 * How much speaks for a finding in a sentence: how far it leads over other ones, and how much of what the sentence says
 * is ever said of it. Most wrong answers are near neighbours with little of both: it is better to ask back.
 */
import { languageByScript, type PhrasedSentence, type SentenceContext } from '../finding-match.js'

/**
 * Least evidence, where a phrase names the finding and where the sentence is only like it. On questions of the base that
 * were left out of it, a third to a half of the wrong findings lie below, with about as many of the right ones. A Chinese
 * phrase says more: at .35 recorded doctors' questions were lost.
 */
const least = { named: { en: 0.4, zh: 0.2 }, like: { en: 0.45, zh: 0.35 } } as const
/** Weight of the words beside the lead. */
const shareWeight = 0.5

/** How far a value leads over those that are neither near it nor named, and, at half weight, the share of words of its own. */
export function evidence(
  { lexicon, similarity }: Pick<SentenceContext, 'lexicon' | 'similarity'>,
  value: string,
  named: readonly string[],
  own: readonly string[],
): number {
  // A detail of what is named has its other details for rivals.
  const apart = named.filter((one) => !lexicon.isNear(value, one))
  const next = similarity.bestOf(
    (other) =>
      !lexicon.isNear(value, other) &&
      !named.includes(other) &&
      !apart.some((one) => lexicon.isNear(one, other)),
  )
  return similarity.scoreOf(value) - next + shareWeight * similarity.shareOf([value, ...own])
}

/** Whether enough in a sentence speaks for a finding that it is like or names. */
export function isEvident(given: PhrasedSentence, id: string): boolean {
  const { lexicon, sentence, found } = given
  // What the sentence names besides is no rival: "When you have the headaches, do you feel sick?"
  const named = found.map(({ value }) => value.id)
  const above = [...(lexicon.ancestors.get(id) ?? [])]
  const enough = least[named.includes(id) ? 'named' : 'like'][languageByScript(sentence.text)]
  return evidence(given, id, named, above) >= enough
}
