/**
 * The record exam simulator: reports the results that the case records, at the knowledge base's price. Results are not
 * drawn here, so an examination gives the same result to every sibling and on every repeat.
 */
import { type ExamResult, type Finding, textInLanguage } from '../../case.js'
import type { ExamContext, ExamReport, ExamSimulator } from '../../exam.js'
import type { ExamDefinition, FindingDefinition, Knowledge } from '../../knowledge/knowledge.js'
import { expandPanel } from '../../knowledge/knowledge.js'
import { pick } from '../../seed.js'
import type { Language, RevealedFinding } from '../../turn.js'
import { wording } from '../wording.js'
import { findExam, otherTest, splitOrder } from './orders.js'

/** Options of `recordExams`. */
export interface RecordExamsOptions {
  readonly knowledge: Knowledge
  /** Money for an examination whose result is still valid. @default 0 */
  readonly repeatMoney?: number
}

/** A simulator of recorded results, which answers at once. */
export interface RecordedExams extends ExamSimulator {
  (order: string, context: ExamContext): ExamReport | undefined
  readonly split: (order: string) => readonly string[]
}

const unavailable: { readonly [language in Language]: readonly string[] } = {
  en: [
    'This cannot be done here at the moment.',
    'Not available: the sample could not be processed.',
    'The department has no slot for this today.',
  ],
  zh: ['目前这里做不了这项检查。', '标本无法处理，暂无结果。', '今天该科室排不上这项检查。'],
}
const unremarkable: { readonly [language in Language]: string } = {
  en: 'No abnormality found.',
  zh: '未见异常。',
}

/** Said before the report of an examination that is done in place of the one ordered. */
const notAsOrdered: { readonly [language in Language]: (test: string) => string } = {
  en: (test) => `No ${test} here; done in its place: `,
  zh: (test) => `这里不做${test}，改做：`,
}

/** The result of one examination; no `told` where it is unavailable. */
interface ExamPart {
  readonly exam: string
  readonly text: string
  readonly told?: readonly RevealedFinding[]
}

/** Puts an examination's name before its result. */
export const addTitle = (name: string, text: string, language: Language): string =>
  `${name}${language === 'en' ? ': ' : '：'}${text}`

const reportStates = (findings: readonly Finding[]): readonly RevealedFinding[] =>
  findings.map(({ id, state }) => ({ finding: id, state }))

/** The unremarkable state of a finding: absent, or the state most people have. */
function usualState({ type, leak }: FindingDefinition): string {
  if (type === 'bool' || typeof leak === 'number') return 'absent'
  return Object.entries(leak).reduce((most, entry) => (entry[1] > most[1] ? entry : most))[0]
}

/** The result of `examDefault: normal`: the usual state of each yield, unless the case records another. */
function normalPart(knowledge: Knowledge, exam: ExamDefinition, context: ExamContext): ExamPart {
  const { view, language, seed } = context
  const found = exam.yields.flatMap((id) => knowledge.finding.get(id) ?? [])
  const remarks = found.flatMap((finding) => {
    const recorded = view.findings.get(finding.id)
    return (recorded && wording(finding, recorded.state, { seed, language, recorded })) ?? []
  })
  const text =
    remarks.length > 0 ? remarks.join(language === 'en' ? ' ' : '') : unremarkable[language]
  const told = found.map((finding) => ({
    finding: finding.id,
    state: view.findings.get(finding.id)?.state ?? usualState(finding),
  }))
  return { exam: exam.id, text: addTitle(exam.name[language], text, language), told }
}

function recordedPart(exam: ExamDefinition, result: ExamResult, context: ExamContext): ExamPart {
  const { view, language } = context
  const text = addTitle(exam.name[language], textInLanguage(result.report, language), language)
  return {
    exam: exam.id,
    text,
    told: reportStates(result.findings.flatMap((id) => view.findings.get(id) ?? [])),
  }
}

/** Carries out one examination; `undefined` where the case leaves it to another simulator. */
function carryOut(
  knowledge: Knowledge,
  exam: ExamDefinition,
  context: ExamContext,
): ExamPart | undefined {
  const { view, language, seed } = context
  const result = view.results.get(exam.id)
  if (result && !result.unavailable) return recordedPart(exam, result, context)
  if (!result && view.examDefault === 'simulate') return undefined
  if (!result && view.examDefault === 'normal') return normalPart(knowledge, exam, context)
  const text = pick(unavailable[language], seed, 'unavailable', exam.id)
  return { exam: exam.id, text: addTitle(exam.name[language], text, language) }
}

/** The examinations an order carries out: itself, or a panel's members where the case has no result for the panel. */
function examsToRun(
  knowledge: Knowledge,
  exam: ExamDefinition,
  { view }: ExamContext,
): readonly ExamDefinition[] {
  if (view.results.has(exam.id)) return [exam]
  return expandPanel(exam).flatMap((id) => knowledge.exam.get(id) ?? [])
}

/** Whether an earlier result of the examination is still valid. */
export function isValid(
  knowledge: Knowledge,
  exam: string,
  { done, now }: Pick<ExamContext, 'done' | 'now'>,
): boolean {
  const hours = knowledge.exam.get(exam)?.validHours ?? Number.POSITIVE_INFINITY
  return done.some(({ exams, at }) => exams.includes(exam) && now - at <= hours * 60)
}

/**
 * Makes the last simulator of a chain: any examination of the knowledge base that the case has no result for is as the
 * case's findings are, and else as in most people. It is the record with `examDefault: normal`, whatever the case says.
 */
export function knowledgeExams(options: RecordExamsOptions): RecordedExams {
  const simulate = recordExams(options)
  const examine = (order: string, context: ExamContext): ExamReport | undefined => {
    const own = simulate(order, context)
    if (own && own.status !== 'unavailable') return own
    const report = simulate(order, { ...context, view: { ...context.view, examDefault: 'normal' } })
    return report && { ...report, simulatedBy: 'knowledge' }
  }
  return Object.assign(examine, { split: simulate.split })
}

/**
 * Makes a simulator of the knowledge base's examinations; any other order is left to the next simulator.
 * @throws RangeError when `repeatMoney` is negative or not a number
 */
export function recordExams({ knowledge, repeatMoney = 0 }: RecordExamsOptions): RecordedExams {
  if (!(repeatMoney >= 0))
    throw new RangeError(`Expected \`repeatMoney\` to be at least 0, got \`${repeatMoney}\``)
  const simulate = (order: string, context: ExamContext): ExamReport | undefined => {
    const exam = findExam(knowledge, order)
    if (!exam) return undefined
    const parts = examsToRun(knowledge, exam, context).flatMap(
      (member) => carryOut(knowledge, member, context) ?? [],
    )
    if (parts.length === 0) return undefined
    const reported = parts.map((part) => part.text).join(context.language === 'en' ? ' ' : '')
    const other = otherTest(exam, order)
    const text = other ? notAsOrdered[context.language](other) + reported : reported
    const done = parts.filter(({ told }) => told !== undefined)
    const told = done.flatMap((part) => part.told ?? [])
    const exams = done.flatMap((part) => (part.exam === exam.id ? expandPanel(exam) : [part.exam]))
    const nothing = { exams, text, told, money: 0, minutes: 1, invasiveness: 0 }
    if (exams.length === 0) return { ...nothing, status: 'unavailable' }
    if (exams.every((id) => isValid(knowledge, id, context)))
      return { ...nothing, status: 'repeat', money: repeatMoney, minutes: 0 }
    const invasiveness = exams.reduce(
      (sum, id) => sum + (knowledge.exam.get(id)?.invasiveness ?? 0),
      0,
    )
    return {
      exams,
      text,
      told,
      status: 'resulted',
      money: exam.cost,
      minutes: exam.minutes,
      invasiveness,
    }
  }
  return Object.assign(simulate, { split: (order: string) => splitOrder(knowledge, order) })
}
