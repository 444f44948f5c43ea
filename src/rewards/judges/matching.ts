/** How many names of one list stand for what names of another do, one to one. */
import type { Knowledge } from '../../knowledge/knowledge.js'
import { expandPanel } from '../../knowledge/knowledge.js'

/** A name as it is compared: letters and digits in lower case, words apart; a figure keeps its point. */
const plain = (name: string): string =>
  name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}.]+|\.(?!\d)/gu, ' ')
    .trim()

const indexed = new WeakMap<Knowledge, ReadonlyMap<string, readonly string[]>>()

/** Every name of every examination with the canonical ids it stands for, panels expanded. */
function examNames(knowledge: Knowledge): ReadonlyMap<string, readonly string[]> {
  let names = indexed.get(knowledge)
  if (!names) {
    const index = new Map<string, readonly string[]>()
    for (const exam of knowledge.exams) {
      const { id, name, aliases } = exam
      for (const text of [id, name.zh, name.en, ...aliases.zh, ...aliases.en])
        if (!index.has(plain(text))) index.set(plain(text), expandPanel(exam))
    }
    names = index
    indexed.set(knowledge, names)
  }
  return names
}

/**
 * The size of the largest one-to-one matching between two lists of names: a name is used once, whatever it stands
 * for. Two match where they are written alike or name the same examination of the knowledge base, or a panel and
 * one of it.
 */
export function matched(
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
