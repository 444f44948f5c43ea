/** A member of a list of findings, and what it may share with the others. */
import { findPhrases, normaliseText } from '../../../text/phrase-search.js'
import { findInterrupted } from './chinese/infixes.js'
import { isFindingMatch, type SentenceContext } from './finding-match.js'

/** A member of a list, and whether a conjunction precedes it. */
export interface ListMember {
  readonly start: number
  readonly end: number
  readonly text: string
  readonly joined: boolean
}

/** What the members of a list may share beside their own words. */
export interface Shared {
  /** Beginnings of the first member, each with a space after words. */
  readonly heads: readonly string[]
  /** Ends of other members, each with a space before words. */
  readonly tails: readonly string[]
}

/** The finding named by a member with the head of the first or the end of another one. */
export function nameWith(
  { lexicon, fits }: SentenceContext,
  text: string,
  { heads, tails }: Shared,
): string | undefined {
  const whole = [...heads.map((head) => head + text), ...tails.map((tail) => text + tail)]
  return whole
    .flatMap((said) => {
      const read = normaliseText(said)
      const tree = lexicon.tree(said)
      const all = [...findPhrases(tree, read), ...findInterrupted(tree, said, read.clauses[0]!)]
      const named = all.filter(isFindingMatch).filter(({ value }) => fits(value.id))
      // Part of it must be said by another member.
      return named.filter(
        ({ start, end }) =>
          end - start > text.length / 2 &&
          (said.endsWith(text)
            ? start < said.length - text.length && end > said.length - text.length
            : end > text.length),
      )
    })
    .sort((a, b) => b.end - b.start - (a.end - a.start))[0]?.value.id
}

/** What a member asks for: a finding, or a topic that no finding answers. */
export type Meant =
  | { readonly id: string; readonly aside: boolean; readonly joined?: boolean }
  | undefined

/** What a member asks for that names a finding with words of another member. */
export const aJoined = (id: string | undefined): Meant =>
  id === undefined ? undefined : { id, aside: false, joined: true }

/** What a member asks for that asks for a finding, or for nothing. */
export const aFinding = (id: string | undefined): Meant =>
  id === undefined ? undefined : { id, aside: false }
