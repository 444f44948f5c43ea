/** One-to-one matching between two lists of examination names. */
import type { Knowledge } from '../../knowledge/knowledge.js'
import { expandPanel } from '../../knowledge/knowledge.js'
import { perKnowledge } from '../../knowledge/per-knowledge.js'

/** Normalises a name: letters and digits in lower case, words separated; a number keeps its decimal point. */
const plain = (name: string): string =>
  name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}.]+|\.(?!\d)/gu, ' ')
    .trim()

/** Canonical ids by each name of each examination, panels expanded. */
const examNames = perKnowledge((knowledge): ReadonlyMap<string, readonly string[]> => {
  const index = new Map<string, readonly string[]>()
  for (const exam of knowledge.exams) {
    const { id, name, aliases } = exam
    for (const text of [id, name.zh, name.en, ...aliases.zh, ...aliases.en])
      if (!index.has(plain(text))) index.set(plain(text), expandPanel(exam))
  }
  return index
})

/**
 * The size of the largest one-to-one (bipartite) matching between two lists of names; each name is used once. Two names
 * match where they are written alike, name the same examination of the knowledge base, or a panel and one of its
 * examinations.
 */
export function countMatches(
  items: readonly string[],
  list: readonly string[],
  knowledge?: Knowledge,
): number {
  const names = knowledge && examNames(knowledge)
  const standsFor = (name: string): readonly string[] => names?.get(plain(name)) ?? [plain(name)]
  const of = items.map(standsFor)
  const among = list.map(standsFor)
  const takenBy = new Map<number, number>()
  const place = (item: number, tried: Set<number>): boolean =>
    among.some((ids, other) => {
      if (tried.has(other) || !ids.some((id) => id !== '' && of[item]!.includes(id))) return false
      tried.add(other)
      const holder = takenBy.get(other)
      if (holder !== undefined && !place(holder, tried)) return false
      takenBy.set(other, item)
      return true
    })
  return of.filter((_, item) => place(item, new Set())).length
}
