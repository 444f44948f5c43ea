/** Finds the examinations of a knowledge base that an order means, by any of their names. */
import type { ExamDefinition, Knowledge } from '../../knowledge/knowledge.js'
import { perKnowledge } from '../../knowledge/per-knowledge.js'
import type { NormalisedText, PhraseMatch, PhraseTree } from '../../text/phrase-search.js'
import { findPhrases, normaliseText, phraseTree } from '../../text/phrase-search.js'

interface ExamNames {
  readonly exact: ReadonlyMap<string, ExamDefinition>
  readonly tree: PhraseTree<ExamDefinition>
}

/** Words of request before a name. */
const verbs =
  /^(?:(?:please|pls|kindly|can|could|may|we|i|lets|let|us|would|like|want|need|to|now|next|do|order|request|get|perform|run|take|arrange|obtain|check|send|for|have|him|her|them|patient|the|an?|some|urgent|stat) )+/
const hanVerbs =
  /^(?:请|麻烦|帮忙|帮|给|我们|我|你|患者|病人|先|再|去|要|想|需要|建议|安排|申请|开具|开|做|检查|复查|查|拍|测|化验|进行|完善|行|一下|一个|一项|一次|一张|个|张)+/
/** Words of request after a name. */
const tails = / (?:please|now|today|first|thanks|thank you|stat|again|for me)$/
const hanTails = /(?:一下|看看|吧|检查|检测|测定|试验)+$/

/** Strips the words of request around a name: "please order a chest X-ray", "查一下胸片". */
function stripRequest(text: string): string {
  const front = text.replace(verbs, '').replace(hanVerbs, '')
  const core = front.replace(tails, '').replace(hanTails, '')
  return core === '' ? text : core
}

/** Names of the tests in whose place an examination is done. */
const othersOf = ({ instead }: ExamDefinition): readonly string[] => [...instead.zh, ...instead.en]

function* allNames(exam: ExamDefinition): Generator<string> {
  yield* [exam.name.zh, exam.name.en, ...exam.aliases.zh, ...exam.aliases.en, exam.id]
  yield* othersOf(exam)
}

const indexNames = perKnowledge(({ exams }): ExamNames => {
  const exact = new Map<string, ExamDefinition>()
  const keep = (name: string, exam: ExamDefinition) => {
    if (!exact.has(name)) exact.set(name, exam)
  }
  for (const exam of exams) for (const name of allNames(exam)) keep(normaliseText(name).text, exam)
  for (const exam of exams)
    for (const name of allNames(exam)) keep(stripRequest(normaliseText(name).text), exam)
  const phrases = exams.flatMap((exam) => [...allNames(exam)].map((name) => [name, exam] as const))
  return { exact, tree: phraseTree(phrases) }
})

/** Finds the examination an order means: named exactly, else the one with the longest name in the order. */
export function findExam(knowledge: Knowledge, order: string): ExamDefinition | undefined {
  const names = indexNames(knowledge)
  const read = normaliseText(order, 500)
  const exact = names.exact.get(read.text) ?? names.exact.get(stripRequest(read.text))
  if (exact) return exact
  let longest: { readonly length: number; readonly exam: ExamDefinition } | undefined
  for (const { start, end, value } of findPhrases(names.tree, read))
    if (end - start > (longest?.length ?? 0)) longest = { length: end - start, exam: value }
  return longest?.exam
}

/** The longest of some names that a text in normal form holds. */
const longestIn = (text: string, names: Iterable<string>): string =>
  [...names]
    .filter((name) => text.includes(normaliseText(name).text))
    .reduce((a, b) => (b.length > a.length ? b : a), '')

/** The test that an order names in whose place the examination is done: spirometry, where only a peak flow is. */
export function otherTest(exam: ExamDefinition, order: string): string | undefined {
  const { text } = normaliseText(order, 500)
  const { zh, en } = exam.aliases
  const other = longestIn(text, othersOf(exam))
  const own = longestIn(text, [exam.name.zh, exam.name.en, ...zh, ...en])
  return other.length > own.length ? other : undefined
}

/** What joins the examinations of an order. */
const joints =
  / (?:and|then|also|plus|as well as|along with|together with) |[和与及]|以及|还有|加上|再/
/** Words that choose or exclude: such an order is not one of everything it names. */
const choice = /\b(?:or|not|no|without|instead|rather|unless|dont)\b|或|不|别|而非|除非|如果|若/
/** Words for examinations in general, and of request, that name none. */
const empty =
  /^(?:(?:and|then|also|plus|with|well|as|lets|please|pls|just|quick|full|routine|basic|standard|urgent|stat|repeat|some|more|other|tests?|bloods?|panels?|scans?|levels?|labs?|work ?up|imaging|examination|exam|today|now|asap|soon|possible|first|thanks?|you|too|again|next|after|that|it|a|an|the|of|in|on|for|do|get|take|have|run|order|send|him|her|them) ?)*$|^[的吧了下等也都还然后最后首先同时另外一起各项个张份次查做拍验测抽血检化检查检测化验辅助完善进一步行急诊]*$/
/** A reason for the order, or its purpose. */
const reason =
  /\b(?:because|due|since|given|rule|exclude|confirm|assess|see|look|suspect\w*|concern\w*|worried|view|case|if|for)\b|因为|由于|排除|明确|考虑|怀疑|了解|评估|看看|为了|鉴别|除外|情况|谢/
/** Characters of the longest name of something that is no known examination. */
const maxUnknownLength = 40

/** A part of an order with its place in it. */
interface OrderPart {
  readonly start: number
  readonly order: string
}

/** Stands in a text for a character of an examination that was found. */
const covered = '\0'

/** What an order names beside the examinations that were found in it: the parts of a list that hold none of them. */
function otherNames(
  { text, clauses }: NormalisedText,
  found: readonly PhraseMatch<ExamDefinition>[],
): readonly OrderPart[] {
  let masked = text
  for (const { start, end } of found)
    masked = masked.slice(0, start) + covered.repeat(end - start) + masked.slice(end)
  let explains = false
  return clauses.flatMap(({ start, end }) => {
    let at = start
    return ` ${masked.slice(start, end)} `.split(joints).flatMap((part): OrderPart[] => {
      at += part.length
      const holds = part.includes(covered)
      // "… because of the cough and the fever": what follows a reason belongs to it.
      explains = reason.test(part) || (explains && !holds)
      const order = part.trim().replace(verbs, '').replace(hanVerbs, '').trim()
      const named = order.length > 1 && order.length <= maxUnknownLength && !empty.test(order)
      return holds || explains || !named ? [] : [{ start: at, order }]
    })
  })
}

/**
 * Splits an order of several examinations into orders of one each: every examination once, by the name in the order,
 * and what else seems to be one. An order of one examination or none, or one that chooses between several, is not split.
 */
export function splitOrder(knowledge: Knowledge, order: string): readonly string[] {
  const names = indexNames(knowledge)
  const read = normaliseText(order, 500)
  if (names.exact.has(read.text) || names.exact.has(stripRequest(read.text))) return [order]
  const found = findPhrases(names.tree, read)
  const exams = found.filter(
    ({ value }, m) => found.findIndex((other) => other.value === value) === m,
  )
  if (exams.length === 0) return [order]
  const others = otherNames(read, found)
  const between = found.slice(1).map(({ start }, m) => read.text.slice(found[m]?.end, start))
  const rest = [...between, ...others.map((one) => one.order)].join(' ')
  if (choice.test(rest)) return [order]
  const named = exams.map(({ start, end }) => ({ start, order: read.text.slice(start, end) }))
  const all = [...named, ...others].sort((a, b) => a.start - b.start)
  return all.length > 1 ? all.map((one) => one.order) : [order]
}
