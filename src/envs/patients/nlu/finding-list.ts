/** Several findings in one sentence: "a cough, phlegm or a fever?", "Are your eyes red, sore or sticky?". */
import type { TextClause } from '../../../text/phrase-search.js'
import { isGeneric } from './attributes.js'
import { matchEnglish } from './english/list-members.js'
import type { FindingMatch, PhrasedSentence, SentenceContext } from './finding-match.js'
import { chooseFinding, guessFinding, languageByScript } from './finding-match.js'
import { namesRegion } from './follow-ups/regions.js'
import {
  aFinding,
  aJoined,
  inGeneral,
  isOfPlace,
  type ListMember,
  type Meant,
  namedInPlace,
  nameInterrupted,
  nameWith,
  readByItself,
  type Shared,
} from './list-member.js'

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
    String.raw`\b(?:worse|better) (?:when|if|while) (?:you|he|she)\b`,
    String.raw`\b(?:is|does|do|are) (?:it|that|they) (?:\w+ ){1,3}?(?:when|if|while) (?:you|he|she)\b`,
    '(?:的时候|之前|之后|以前|以后|时|后)$|^(?:像|如果|要是)|比如|例如|譬如',
  ].join('|'),
)

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
      const doubled = /^(.)[不没]\1$/.test(text.slice(from, to))
      if ((to - from > maxShort && !doubled) || from - before.start > maxShort) return false
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

/** Chinese words that say of the limbs what alone is of the whole body. */
const ofLimbs = /^(?:没劲|没力气?|无力|发?麻|使不上劲)$/

/** Characters of the longest one that is read for a name with small words inside: 头不疼. */
const longestInterrupted = 4

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
  const bare = ofLimbs.test(text)
  // 胳膊腿有没有麻、没劲 asks for the strength of the limbs.
  const headed = bare ? nameWith(context, text, { ...shared, tails: [] }) : undefined
  const named = headed ?? (above ? above.value.id : chosen)
  const pain = shared.heads.length > 0 && painWord.test(text)
  if (named !== undefined) return aFinding(named)
  const brief = text.length <= longestInterrupted && /.[不没]./.test(text)
  const apart = brief && inside.length === 0 ? nameInterrupted(context, text) : undefined
  if (apart !== undefined) return aFinding(apart)
  // Words that say nothing alone may with what they share: "any blood or mucus in the stool".
  if (isGeneric(text) && !pain) return aJoined(nameWith(context, text, { ...shared, heads: [] }))
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
  context: PhrasedSentence,
  members: readonly ListMember[],
  found: readonly FindingMatch[],
): boolean {
  const { text } = context.sentence
  const { value, score } = context.similarity
  if (languageByScript(text) === 'zh' || members.length > 2 || score < sureScore) return false
  const [first, second] = members.map(({ start, end }) =>
    found.some((match) => match.start >= start && match.end <= end),
  )
  if (first === second || !found.some((match) => match.value.id === value)) return false
  // "Blood or mucus in the stool" names another one with what its members share.
  const shared = members.map(({ text }, m) => nameWith(context, text, sharedWith(members, m)))
  return shared.every((id) => id === undefined || id === value)
}

/** What each member of a list asks for, and whether they are asked for in general: 大便、小便怎么样. */
function meantBy(
  context: PhrasedSentence,
  members: readonly ListMember[],
  found: readonly FindingMatch[],
) {
  const [first] = members as readonly [ListMember, ...ListMember[]] // a list has two or more
  const tail = languageByScript(first.text) === 'zh' ? sharedTail.exec(members.at(-1)!.text) : null
  const told = members.map((member, m) => {
    const shared = sharedWith(members, m)
    const whole = inGeneral(context, member, tail)
    if (whole) return whole
    const one = matchMember(context, member, shared, found, members.length === 2)
    const place = namesRegion(first.text) ? first : members.at(-1)!
    if (isOfPlace(context, member, place, one)) return one
    return languageByScript(member.text) === 'zh'
      ? aFinding(guessHeaded(context, member, shared))
      : namedInPlace(context, member, place)
  })
  // A list of two and what else is among them.
  const listed = told.filter((one) => one !== undefined).length > 1
  const meant = told.map((one, m) => {
    const member = members[m]!
    return one || isGeneric(member.text) ? one : readByItself(context, member, first, listed)
  })
  return { meant, general: tail !== null }
}

/** What a list asks for. */
export interface FindingList {
  readonly findings: readonly string[]
  /** Of them, those named with words of another member. */
  readonly joined: readonly string[]
  readonly asides: readonly string[]
}

/**
 * What a list asks for, with a finding at least; undefined where the sentence is not a list of two or more.
 * @param excluded the part of the sentence that says what is not asked for
 */
export function matchFindingList(
  context: PhrasedSentence,
  found: readonly FindingMatch[],
  excluded?: { readonly from: number; readonly to: number },
): FindingList | undefined {
  const { start } = context.sentence
  const members = splitMembers(context, found).filter(
    (one) => !excluded || one.start - start < excluded.from || one.end - start > excluded.to,
  )
  const [first] = members
  if (!first || members.length < 2 || members.length > maxMembers) return undefined
  if (members.some(({ text }) => circumstance.test(text))) return undefined
  if (isOneQuestion(context, members, found)) return undefined
  const { meant, general } = meantBy(context, members, found)
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
  return (findings.length > 0 || general) && findings.length + asides.length > 1
    ? { findings, joined: meant.flatMap((one) => (one?.joined ? one.id : [])), asides }
    : undefined
}
