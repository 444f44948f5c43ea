/** Which examination of a knowledge base an order means, by whatever of its names the doctor used. */
import type { ExamDefinition, Knowledge } from '../../knowledge/knowledge.js'
import type { PhraseTree } from '../../text/phrase-search.js'
import { findPhrases, normal, phraseTree } from '../../text/phrase-search.js'

interface Names {
  readonly exact: ReadonlyMap<string, ExamDefinition>
  readonly tree: PhraseTree<ExamDefinition>
}

const verbs =
  /^(?:(?:please|pls|kindly|can|could|may|we|i|lets|let|us|would|like|want|need|to|now|next|do|order|request|get|perform|run|take|arrange|obtain|check|send|for|have|him|her|them|patient|the|an?|some|urgent|stat) )+/
const hanVerbs =
  /^(?:请|麻烦|帮忙|帮|给|我们|我|你|患者|病人|先|再|去|要|想|需要|建议|安排|申请|开具|开|做|检查|复查|查|拍|测|化验|进行|完善|行|一下|一个|一项|一次|一张|个|张)+/
const tails = / (?:please|now|today|first|thanks|thank you|stat|again|for me)$/
const hanTails = /(?:一下|看看|吧|检查|检测|测定|试验)+$/

/** A name without the words around it: "please order a chest X-ray" and "查一下胸片" lose theirs. */
function bare(text: string): string {
  const front = text.replace(verbs, '').replace(hanVerbs, '')
  const core = front.replace(tails, '').replace(hanTails, '')
  return core === '' ? text : core
}

function* namesOf(exam: ExamDefinition): Generator<string> {
  yield* [exam.name.zh, exam.name.en, ...exam.aliases.zh, ...exam.aliases.en, exam.id]
}

const known = new WeakMap<Knowledge, Names>()

function index({ exams }: Knowledge): Names {
  const exact = new Map<string, ExamDefinition>()
  const keep = (name: string, exam: ExamDefinition) => {
    if (!exact.has(name)) exact.set(name, exam)
  }
  for (const exam of exams) for (const name of namesOf(exam)) keep(normal(name).text, exam)
  for (const exam of exams) for (const name of namesOf(exam)) keep(bare(normal(name).text), exam)
  const phrases = exams.flatMap((exam) => [...namesOf(exam)].map((name) => [name, exam] as const))
  return { exact, tree: phraseTree(phrases) }
}

/** The examination that is meant: named exactly, or else the one with the longest name in the order. */
export function examOf(knowledge: Knowledge, order: string): ExamDefinition | undefined {
  let names = known.get(knowledge)
  if (!names) {
    names = index(knowledge)
    known.set(knowledge, names)
  }
  const read = normal(order, 500)
  const exact = names.exact.get(read.text) ?? names.exact.get(bare(read.text))
  if (exact) return exact
  let longest: { readonly length: number; readonly exam: ExamDefinition } | undefined
  for (const { start, end, value } of findPhrases(names.tree, read))
    if (end - start > (longest?.length ?? 0)) longest = { length: end - start, exam: value }
  return longest?.exam
}
