/** A member of a list of findings, and what it may share with the others. */
import { findPhrases, normaliseText } from '../../../text/phrase-search.js'
import { isQuestionClause } from './acts.js'
import { findInterrupted } from './chinese/infixes.js'
import {
  isFindingMatch,
  languageByScript,
  type PhrasedSentence,
  type SentenceContext,
} from './finding-match.js'
import { isElsewhere, namesRegion, regionOf, regionsIn } from './follow-ups/regions.js'

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

/** The finding that a Chinese member names with small words inside: 头不疼. */
export const nameInterrupted = (
  { lexicon, fits }: SentenceContext,
  text: string,
): string | undefined => {
  const read = normaliseText(text)
  return findInterrupted(lexicon.tree(text), text, read.clauses[0]!)
    .filter(isFindingMatch)
    .find(({ value }) => fits(value.id))?.value.id
}

/** The finding that a bare English member names with the part of the body that another member names: "is it itchy" of an eye. */
export function namedInPlace(
  context: PhrasedSentence,
  { text }: ListMember,
  place: ListMember,
): Meant {
  const [region] = regionsIn(place.text)
  const word = text.split(' ').at(-1) ?? ''
  const { alone, fits } = context
  if (!region || !alone || word === '') return undefined
  for (const { topics } of [
    `any ${word} ${region.word.en}`,
    `is your ${region.word.en} ${word}`,
  ].map(alone)) {
    const [topic, ...more] = topics
    if (topic && !topic.guessed && more.length === 0 && fits(topic.finding))
      return aFinding(topic.finding)
  }
  return undefined
}

/**
 * What a member asks for that is read as a question of its own: what it names, and no guess.
 * @param listed whether others are members of a list; if not, only what is of the part of the body that is named counts
 */
export function readByItself(
  { alone, fits, relatives, lexicon, sentence }: PhrasedSentence,
  { text }: ListMember,
  first: ListMember,
  listed: boolean,
): Meant {
  if (!alone || relatives) return undefined
  const chinese = languageByScript(text) === 'zh'
  const place = regionsIn(first.text).length > 0 ? first.text : sentence.text
  const [region] = regionsIn(text).length === 0 ? regionsIn(place) : []
  const placed = chinese && region ? [region.word.zh + text] : []
  const itself = chinese ? text : isQuestionClause(text) ? text : `any ${text}`
  const readings = listed ? [...placed, itself] : placed
  for (const { topics, asides } of readings.map(alone)) {
    const [topic, ...more] = topics
    const where = region ? place : text
    const elsewhere = topic && isElsewhere(lexicon.knowledge, topic.finding, where, true)
    if (topic && !topic.guessed && more.length === 0 && fits(topic.finding) && !elsewhere)
      return aFinding(topic.finding)
    const [aside, ...others] = topic ? [] : asides
    if (aside !== undefined && others.length === 0 && !lexicon.knowledge.aside.get(aside)?.act)
      return { id: aside, aside: true }
  }
  return undefined
}

/** Characters of the longest member that a list asks for in general: 大便、小便怎么样. */
const longestGeneral = 3

/** The topic of a Chinese member that shares an end with the others, read with that: 小便 with 怎么样. */
export function inGeneral(
  { alone }: PhrasedSentence,
  { text }: ListMember,
  tail: RegExpExecArray | null,
): Meant {
  const [shared] = tail ?? []
  if (!alone || shared === undefined) return undefined
  const bare = text.endsWith(shared) ? text.slice(0, -shared.length) : text
  if (bare.length > longestGeneral) return undefined
  const { topics, asides } = alone(bare + shared)
  const [id, ...more] = asides
  return id !== undefined && topics.length + more.length === 0 ? { id, aside: true } : undefined
}

/** Characters of the longest Chinese member that says nothing of where: 痒, 有血. */
const longestBareMember = 2
/** An English member of one word that says nothing of where: "is it itchy", "itching". */
const bareWord = /^(?:(?:is|are|it|they|any|been|does|do|feel|feeling|at all) )*\w+$/

/** Whether what a member asks for is of the part of the body that it names, or for want of one the first: "Ears: discharge?". */
export function isOfPlace(
  { lexicon: { knowledge } }: PhrasedSentence,
  { text }: ListMember,
  first: ListMember,
  meant: Meant,
): boolean {
  if (meant === undefined || meant.aside) return true
  // "White spots on the throat" are none of the skin.
  if (namesRegion(text))
    return (
      regionOf(knowledge, meant.id)?.word.en !== 'skin' || !isElsewhere(knowledge, meant.id, text)
    )
  const bare =
    languageByScript(text) === 'zh'
      ? text.length <= longestBareMember
      : !/\s/.test(first.text) || bareWord.test(text)
  return !bare || !isElsewhere(knowledge, meant.id, first.text, true)
}
