/** Several findings in one sentence: "a cough, phlegm or a fever?", "Are your eyes red, sore or sticky?". */
import { findPhrases, normaliseText, type TextClause } from '../../../text/phrase-search.js'
import { isGeneric } from './attributes.js'
import { findInterrupted } from './chinese/infixes.js'
import type { FindingMatch, PhrasedSentence, SentenceContext } from './finding-match.js'
import { chooseFinding, guessFinding, isFindingMatch, languageByScript } from './finding-match.js'

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

/** The finding named by a Chinese member with the head of the first or the end of the last one. */
function nameWith(
  { lexicon, fits }: SentenceContext,
  text: string,
  heads: readonly string[],
  tail: string,
): string | undefined {
  const whole = [...heads.map((head) => head + text), ...(tail ? [text + tail] : [])]
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

/** The finding that one member asks for. */
function matchMember(
  context: SentenceContext,
  { start, end, text }: ListMember,
  heads: readonly string[],
  tail: string,
  found: readonly FindingMatch[],
): string | undefined {
  const withText = (said: string) => memberContext(context, { start, end }, said)
  const own = withText(text)
  const inside = found.filter((match) => match.start >= start && match.end <= end)
  const language = languageByScript(text)
  const chosen = inside.length > 0 ? chooseFinding(own, inside) : undefined
  // A short member that names a symptom asks for it, not for a detail of it: "more breathless".
  const short = language === 'en' && text.split(' ').length <= maxHead
  const above =
    short && inside.find((m) => context.lexicon.ancestors.get(chosen ?? '')?.has(m.value.id))
  const named = above ? above.value.id : chosen
  const pain = heads.length > 0 && painWord.test(text)
  if (named !== undefined || (isGeneric(text) && !pain)) return named
  const { id } = pain ? { id: undefined } : guessFinding(own, penalty.alone)
  if (id !== undefined) return id
  // "Do you smoke or drink?"
  const exact = heads.map((head) => context.lexicon.exactQuestion(head + text)).find(Boolean)
  if (exact !== undefined) return exact
  const spoken = languageByScript(text) === 'zh' ? nameWith(context, text, heads, tail) : undefined
  if (spoken !== undefined) return spoken
  const headed = heads
    .map((head) => withText(head + text))
    .filter((one) => guessFinding(one, penalty.headed).id !== undefined)
  const best = headed.reduce<SentenceContext | undefined>(
    (a, b) => (a && a.similarity.score >= b.similarity.score ? a : b),
    undefined,
  )
  return best?.similarity.value
}

/** The findings a list asks for; none where the sentence is not a list of two or more. */
export function matchFindingList(
  context: PhrasedSentence,
  found: readonly FindingMatch[],
): readonly string[] {
  const members = splitMembers(context, found)
  const [first] = members
  if (!first || members.length < 2 || members.length > maxMembers) return []
  if (members.some(({ text }) => circumstance.test(text))) return []
  const tail = sharedTail.exec(members.at(-1)?.text ?? '')?.[0] ?? ''
  const meant = members.map((member, m) =>
    matchMember(context, member, m === 0 ? [] : sharedHeads(first.text), tail, found),
  )
  const { ancestors } = context.lexicon
  const ids = meant.filter((id, m) => {
    if (id === undefined) return false
    // "A cough, is there phlegm?" asks for the phlegm alone, "a cough or phlegm" for both.
    const detail = meant.findIndex((other) => other && ancestors.get(other)?.has(id))
    if (detail < 0) return true
    return Math.abs(detail - m) === 1 && members[Math.max(detail, m)]?.joined === true
  })
  const all = [...new Set(ids)].filter((id) => id !== undefined)
  return all.length > 1 ? all : []
}
