/** Finds the examination of a knowledge base that an order means, by any of its names. */
import type { ExamDefinition, Knowledge } from '../../knowledge/knowledge.js'
import { perKnowledge } from '../../knowledge/per-knowledge.js'
import type { PhraseTree } from '../../text/phrase-search.js'
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

function* allNames(exam: ExamDefinition): Generator<string> {
  yield* [exam.name.zh, exam.name.en, ...exam.aliases.zh, ...exam.aliases.en, exam.id]
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
