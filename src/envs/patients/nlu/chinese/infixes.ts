/** Phrases with small words inside them: 胸不疼, 嗓子会不会疼 for 胸疼, 嗓子疼; "lost any weight" for "lost weight". */
import { findPhrases, type PhraseMatch, type PhraseTree } from '../../../../text/phrase-search.js'

/** Words between a subject and what is said of it; in English, between a verb and its object. */
const infix =
  /(?<= )(?:any|some|much|more|your|his|her|the|a lot of|lots of|a bit of|actually|really|also|just|ever) (?=\w)|有没有|会不会|是不是|有点儿?|有些|经常|常常|老是|总是|特别|比较|一直|最近|现在|平时|觉得|感觉|感到|不|没有?|会|很|太|还|也|都|更|又|老|总|这[儿里块]|那[儿里块]|里[面头]/g

/** A stretch of a text in normal form. */
interface Stretch {
  readonly start: number
  readonly end: number
}

/** Finds the phrases in a stretch of a text that such words interrupt. */
export function findInterrupted<T>(
  tree: PhraseTree<T>,
  text: string,
  { start, end }: Stretch,
): readonly PhraseMatch<T>[] {
  const kept: number[] = []
  let from = start
  for (const { 0: word, index } of text.slice(start, end).matchAll(infix)) {
    for (let i = from; i < start + index; i++) kept.push(i)
    from = start + index + word.length
  }
  if (from === start) return []
  for (let i = from; i < end; i++) kept.push(i)
  if (kept.length < 2) return []
  const plain = kept.map((i) => text[i]).join('')
  const whole = { text: plain, clauses: [{ start: 0, end: plain.length, mark: 'stop' as const }] }
  return findPhrases(tree, whole)
    .map((match) => ({ ...match, start: kept[match.start]!, end: kept[match.end - 1]! + 1 }))
    .filter((match, m, all) => match.end - match.start > 1 && all.indexOf(match) === m)
}
