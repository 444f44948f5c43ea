/** Several findings in one sentence: "a cough, phlegm or a fever?", "Are your eyes red, sore or sticky?". */
import type { Aside } from '../../../knowledge/knowledge.js'
import {
  findPhrases,
  normaliseText,
  type PhraseMatch,
  type TextClause,
} from '../../../text/phrase-search.js'
import { isAsideMatch } from './asides.js'
import { isGeneric } from './attributes.js'
import { findInterrupted } from './chinese/infixes.js'
import { guessMember } from './english/guess-member.js'
import type { FindingMatch, PhrasedSentence, SentenceContext } from './finding-match.js'
import {
  chooseFinding,
  guessFinding,
  isFindingMatch,
  languageByScript,
  removeMatches,
} from './finding-match.js'

/** Added to the thresholds for a member of a list by itself, and for one with the head of the first member. */
const penalty = { alone: 0.8, headed: 0.6 } as const
/** Members of the longest list that is split, so that time is bounded; a longer one is matched as a whole. */
const maxMembers = 6
/** Length of the longest head, in words or Han characters. */
const maxHead = 4

const conjunction =
  / (?:and any|or any|and also|as well as|or|and|nor|plus) |或者|或是|或|和|还是|以及|及|跟|还有|、/g
/** A circumstance, which only says when or how: a sentence with one is no list. */
const circumstance = new RegExp(
  [
    String.raw`^(?:when|if|while|after|before|since|because|as|like|so that|until|that|which|who)\b`,
    String.raw`\b(?:such as|for example|for instance|like when)\b`,
    '(?:的时候|之前|之后|以前|以后|时|后)$|^(?:像|如果|要是)|比如|例如|譬如',
  ].join('|'),
)

/** A member of a list, and whether a conjunction precedes it. */
interface ListMember {
  readonly start: number
  readonly end: number
  readonly text: string
  readonly joined: boolean
}

const leadingConjunction = /^(?:(?:and|or|nor|plus|also) )+(?:any )?/

/** A phrase that begins with such a word asks about the one before: 咳嗽有痰. */
const opensPredicate = /^(?:[a-z0-9]|有|没|是|会|能|带|怎|什么|多|的|几|哪)/
/** Characters of the longest phrase that follows another without a word between. */
const maxShort = 2

/** Where one Chinese phrase follows another without a word between, as in 恶心呕吐: a cut without characters. */
const neighbours = (
  { read: { text }, lexicon, here }: PhrasedSentence,
  { start, end }: TextClause,
): readonly { readonly 0: string; readonly index: number }[] =>
  here
    .filter(({ value, start: from, end: to }, m) => {
      const before = here[m - 1]
      if (!before || before.end !== from || from <= start || to > end) return false
      if (to - from > maxShort || from - before.start > maxShort) return false
      // 咳嗽几天 asks for a detail.
      const finding = value.kind === 'finding' ? lexicon.knowledge.finding.get(value.id) : undefined
      if (finding?.type === 'cat' && finding.attribute !== undefined) return false
      return !opensPredicate.test(text.slice(from))
    })
    .map((match) => ({ 0: '', index: match.start - start }))

/** Splits a sentence at its commas and conjunctions, but not inside a phrase: "pins and needles". */
function splitMembers(
  given: PhrasedSentence,
  found: readonly FindingMatch[],
): readonly ListMember[] {
  const { text, clauses } = given.read
  const { start, end } = given.sentence
  return clauses
    .filter((clause) => clause.start >= start && clause.end <= end)
    .flatMap((clause) => {
      const whole = text.slice(clause.start, clause.end)
      const led = leadingConjunction.exec(whole)?.[0].length ?? 0
      const spoken = [...whole.matchAll(conjunction)].filter(({ index }) => {
        const at = clause.start + index
        return !found.some((match) => match.start < at && at < match.end)
      })
      const cuts = [...spoken, ...neighbours(given, clause)].sort((a, b) => a.index - b.index)
      return [undefined, ...cuts].map((cut, c) => {
        const from = clause.start + (cut ? cut.index + cut[0].length : led)
        const to = clause.start + (cuts[c]?.index ?? whole.length)
        const joined = cut !== undefined || led > 0
        return { start: from, end: to, text: text.slice(from, to), joined }
      })
    })
    .filter((member) => member.start < member.end)
}

/** The beginnings of the first member that others may share; one of words ends in a space. */
function sharedHeads(first: string): readonly string[] {
  if (languageByScript(first) === 'zh')
    return Array.from({ length: Math.min(maxHead, first.length - 1) }, (_, n) =>
      first.slice(0, n + 1),
    )
  const words = first.split(' ')
  return words.map((_, n) => `${words.slice(0, n + 1).join(' ')} `).slice(-maxHead)
}

/** Members that say only that it hurts: "is the eye red, painful or sticky". */
const painWord = /^(?:painful|sore|aching|achy|hurting|tender)$/

/** The context of a member that is read as a sentence. */
const memberContext = (
  context: SentenceContext,
  span: Pick<ListMember, 'start' | 'end'>,
  text: string,
): SentenceContext => ({
  ...context,
  sentence: { ...context.sentence, ...span, text },
  similarity: context.lexicon.findSimilar(text),
})
/** The end of the last Chinese member that the others may share. */
const sharedTail =
  /(?:怎么样|怎样|如何|咋样|正常吗|正不正常|好吗|好不好|有没有变化|有变化吗|有没有变)$/

/** What an English member ends with that the others may share: "blood or mucus in the stool". */
const sharedPlace =
  / (?:in|of|from|on|down|around|over|with|when|during|after|to) (?!(?:it|them|that|there|all|general|any)\b).+$/

/** Points a member to what another one says: "burning when you pass urine, or blood in it". */
const pointed = / (?:in|of|from|on|with) (?:it|them|there)$/

/** What the members of a list may share beside their own words. */
interface Shared {
  /** Beginnings of the first member, each with a space after words. */
  readonly heads: readonly string[]
  /** Ends of other members, each with a space before words. */
  readonly tails: readonly string[]
}

/** The finding named by a member with the head of the first or the end of another one. */
function nameWith(
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
type Meant = { readonly id: string; readonly aside: boolean } | undefined

const aFinding = (id: string | undefined): Meant =>
  id === undefined ? undefined : { id, aside: false }

/** Whether a phrase runs over the comma between two members, and so belongs to neither. */
const crosses = (match: PhraseMatch<unknown>, { start, end }: ListMember): boolean =>
  (match.start < start && match.end > start) || (match.start < end && match.end > end)

/** The finding that an English member names where a phrase across a comma hides it: "a cough, a cold". */
function nameHidden(context: PhrasedSentence, member: ListMember): string | undefined {
  const { lexicon, here, fits } = context
  const { text } = member
  if (languageByScript(text) === 'zh' || !here.some((match) => crosses(match, member)))
    return undefined
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

/** The finding most similar to a Chinese member with a head of the first, where it is similar enough. */
function guessHeaded(context: SentenceContext, member: ListMember, { heads }: Shared) {
  const headed = heads
    .map((head) => memberContext(context, member, head + member.text))
    .filter((one) => guessFinding(one, penalty.headed).id !== undefined)
  const best = headed.reduce<SentenceContext | undefined>(
    (a, b) => (a && a.similarity.score >= b.similarity.score ? a : b),
    undefined,
  )
  return best?.similarity.value
}

/** What an English member that names no finding asks for. */
function matchEnglish(
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
  const named = nameWith(context, said, shared)
  if (named !== undefined) return aFinding(named)
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

/** What one member asks for. */
function matchMember(
  context: PhrasedSentence,
  member: ListMember,
  shared: Shared,
  found: readonly FindingMatch[],
  pair: boolean,
): Meant {
  const { start, end, text } = member
  const own = memberContext(context, member, text)
  const inside = found.filter((match) => match.start >= start && match.end <= end)
  const language = languageByScript(text)
  const chosen = inside.length > 0 ? chooseFinding(own, inside) : undefined
  // A short member that names a symptom asks for it, not for a detail of it: "more breathless".
  const short = language === 'en' && text.split(' ').length <= maxHead
  const above =
    short && inside.find((m) => context.lexicon.ancestors.get(chosen ?? '')?.has(m.value.id))
  const named = above ? above.value.id : chosen
  const pain = shared.heads.length > 0 && painWord.test(text)
  if (named !== undefined || (isGeneric(text) && !pain)) return aFinding(named)
  if (language === 'en') return matchEnglish(context, member, shared, pair)
  const { id } = pain ? { id: undefined } : guessFinding(own, penalty.alone)
  return aFinding(id ?? nameWith(context, text, shared) ?? guessHeaded(context, member, shared))
}

/** What the other members may share with member `m`. */
function sharedWith(members: readonly ListMember[], m: number): Shared {
  const first = members[0]!.text
  const heads = m === 0 ? [] : sharedHeads(first)
  if (languageByScript(first) === 'zh') {
    const tail = sharedTail.exec(members.at(-1)!.text)?.[0]
    return { heads, tails: tail === undefined ? [] : [tail] }
  }
  if (sharedPlace.test(members[m]!.text)) return { heads, tails: [] }
  return { heads, tails: members.flatMap(({ text }) => sharedPlace.exec(text)?.[0] ?? []) }
}

/** Score of a finding at which an English sentence is a question about it alone. */
const sureScore = 0.9

/** Whether two members are one question about a finding that one of them names: "Do the spots come up and then go?". */
function isOneQuestion(
  { sentence: { text }, similarity: { value, score } }: PhrasedSentence,
  members: readonly ListMember[],
  found: readonly FindingMatch[],
): boolean {
  if (languageByScript(text) === 'zh' || members.length > 2 || score < sureScore) return false
  const [first, second] = members.map(({ start, end }) =>
    found.some((match) => match.start >= start && match.end <= end),
  )
  return first !== second && found.some((match) => match.value.id === value)
}

/** What a list asks for. */
export interface FindingList {
  readonly findings: readonly string[]
  readonly asides: readonly string[]
}

/** What a list asks for, with a finding at least; undefined where the sentence is not a list of two or more. */
export function matchFindingList(
  context: PhrasedSentence,
  found: readonly FindingMatch[],
): FindingList | undefined {
  const members = splitMembers(context, found)
  const [first] = members
  if (!first || members.length < 2 || members.length > maxMembers) return undefined
  if (members.some(({ text }) => circumstance.test(text))) return undefined
  if (isOneQuestion(context, members, found)) return undefined
  const meant = members.map((member, m) =>
    matchMember(context, member, sharedWith(members, m), found, members.length === 2),
  )
  const { ancestors } = context.lexicon
  const ids = meant.map((one) => (one?.aside === false ? one.id : undefined))
  const kept = ids.filter((id, m) => {
    if (id === undefined) return false
    // "A cough, is there phlegm?" asks for the phlegm alone, "a cough or phlegm" for both.
    const detail = ids.findIndex((other) => other && ancestors.get(other)?.has(id))
    if (detail < 0) return true
    const { attribute, type } = context.lexicon.knowledge.finding.get(ids[detail] ?? '') ?? {}
    const describes = attribute !== undefined && type === 'cat'
    if (describes && languageByScript(members[detail]!.text) === 'en') return false
    return Math.abs(detail - m) === 1 && members[Math.max(detail, m)]?.joined === true
  })
  const findings = [...new Set(kept)].filter((id) => id !== undefined)
  // "Have your stools been black or tarry?" asks of the stools in one way only.
  const holds = (id: string) =>
    context.lexicon.knowledge.aside.get(id)?.also?.some((one) => findings.includes(one))
  const asides = [...new Set(meant.flatMap((one) => (one?.aside ? one.id : [])))].filter(
    (id) => !holds(id),
  )
  return findings.length > 0 && findings.length + asides.length > 1
    ? { findings, asides }
    : undefined
}
