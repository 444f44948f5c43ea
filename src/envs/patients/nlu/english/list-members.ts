/** What a member of an English list asks for: by the phrases in it, or by its words, those it shares and the whole list. */
import type { Aside } from '../../../../knowledge/knowledge.js'
import { findPhrases, normaliseText, type PhraseMatch } from '../../../../text/phrase-search.js'
import { asideValue, isAsideMatch } from '../asides.js'
import { isGeneric } from '../attributes.js'
import { isFindingMatch, type PhrasedSentence, removeMatches } from '../finding-match.js'
import {
  aFinding,
  aJoined,
  type ListMember,
  type Meant,
  nameWith,
  type Shared,
} from '../list-member.js'

/** How much the similarity of the whole list counts beside that of a member: "burning, or blood in the urine". */
const wholeShare = 0.8
/** Added for a finding of the broad topic that the list is headed by: "With your waterworks: any stinging, or blood?". */
const belongsBonus = 0.5
/** Least similarity of its own, and least sum of the score and twice its lead, at which a value is taken. */
const least = { own: 0.4, sum: 1.7 } as const
/** Added to the sum for one of two members: they may be one question. */
const pairPenalty = 0.6

/**
 * The finding, or the value of an aside, that one of several readings of a member is most clearly about; undefined
 * where none is clear.
 * @param readings the member by itself, and with what it may share with others
 * @param pair whether the list is of two
 */
function guessMember(
  { lexicon, similarity, fits, here }: PhrasedSentence,
  readings: readonly string[],
  pair: boolean,
): string | undefined {
  const { findings, asides, aside } = lexicon.knowledge
  // What only an examination shows is no rival to what a patient knows.
  const values = [
    ...findings.filter(({ id, knownBy }) => knownBy === 'patient' && fits(id)).map(({ id }) => id),
    ...asides.map(({ id }) => asideValue(id)),
  ]
  const belonging = new Set(
    here.filter(isAsideMatch).flatMap(({ value }) => aside.get(value.id)?.also ?? []),
  )
  const around = new Map(
    values.map((id) => [
      id,
      wholeShare * similarity.scoreOf(id) + (belonging.has(id) ? belongsBonus : 0),
    ]),
  )
  const clear = readings.map((text) => {
    const own = lexicon.findSimilar(text)
    const all = values.map((id) => ({ id, score: own.scoreOf(id) + around.get(id)! }))
    const best = all.reduce((a, b) => (b.score > a.score ? b : a))
    const rivals = all.filter(({ id }) => !lexicon.isNear(best.id, id))
    const next = rivals.reduce((most, { score }) => Math.max(most, score), 0)
    return {
      id: best.id,
      own: own.scoreOf(best.id),
      sum: best.score + 2 * (best.score - next),
    }
  })
  const best = clear.reduce((a, b) => (b.sum > a.sum ? b : a))
  const enough = least.sum + (pair ? pairPenalty : 0)
  return best.own >= least.own && best.sum >= enough ? best.id : undefined
}

/** Points a member to what another one says: "burning when you pass urine, or blood in it". */
const pointed = / (?:in|of|from|on|with) (?:it|them|there)$/

/** Whether a phrase runs over the comma between two members, and so belongs to neither. */
const crosses = (match: PhraseMatch<unknown>, { start, end }: ListMember): boolean =>
  (match.start < start && match.end > start) || (match.start < end && match.end > end)

/** The finding that an English member names where a phrase across a comma hides it: "a cough, a cold". */
function nameHidden(context: PhrasedSentence, member: ListMember): string | undefined {
  const { lexicon, here, fits } = context
  const { text } = member
  if (!here.some((match) => crosses(match, member))) return undefined
  const named = findPhrases(lexicon.tree(text), normaliseText(text)).filter(isFindingMatch)
  return named.find(({ value }) => fits(value.id))?.value.id
}

/** Begins a first member that only leads to the others. */
const fronted = /^(?:and |so )?(?:along )?with (?:this|that|the|your|it)\b/

/** Begins a member that only says where or when: "at work or at home". */
const prepositional = /^(?:at|in|on|with|during|after|before|from|to|by|of|for|about)\b/

/** The topic that an English member names, where it says little else. */
function nameAside({ lexicon, here }: PhrasedSentence, member: ListMember): Aside | undefined {
  const { start, end, text } = member
  const named = here.filter(isAsideMatch).filter((one) => one.start >= start && one.end <= end)
  if (prepositional.test(text) || !isGeneric(removeMatches(text, start, named))) return undefined
  const aside = lexicon.knowledge.aside.get(named[0]?.value.id ?? '')
  return aside?.act === undefined ? aside : undefined
}

/**
 * What an English member asks for in which no finding is named.
 * @param pair whether the list is of two
 */
export function matchEnglish(
  context: PhrasedSentence,
  member: ListMember,
  shared: Shared,
  pair: boolean,
): Meant {
  const { text } = member
  const hidden = nameHidden(context, member)
  if (hidden !== undefined) return aFinding(hidden)
  const exact = shared.heads
    .map((head) => context.lexicon.exactQuestion(head + text))
    .find((one) => one !== undefined)
  if (exact !== undefined) return aFinding(exact)
  // What points to another member says too little by itself.
  const points = pointed.test(text) && shared.tails.length > 0
  const said = points ? text.replace(pointed, '') : text
  const placed = nameWith(context, said, { ...shared, heads: [] })
  const named = nameWith(context, said, shared)
  if (named !== undefined) return named === placed ? aJoined(named) : aFinding(named)
  const aside = nameAside(context, member)
  const topic: Meant = aside && { id: aside.id, aside: true }
  // "Night sweats" are sweats, "swelling" may be of several places.
  if ((aside && aside.also?.length !== 1) || fronted.test(text)) return topic
  const readings = [
    ...(points ? [] : [text]),
    ...shared.heads.map((head) => head + said),
    ...shared.tails.map((tail) => said + tail),
  ]
  const guessed = guessMember(context, readings, pair)
  const { finding } = context.lexicon.knowledge
  return guessed !== undefined && finding.has(guessed) ? aFinding(guessed) : topic
}
