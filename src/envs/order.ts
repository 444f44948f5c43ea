/**
 * The turn of an order: of one examination, or of several in one order, which are carried out one after the other, each
 * at its own price and within what is left of the budget.
 */
import { type Case, type ExaminerView, informedExaminerView } from '../case.js'
import type { Observation } from '../env.js'
import type { Role, Sample } from '../episode.js'
import { Fault, rethrowAsFault } from '../error.js'
import { type AnyExamSimulator, carryOutOrder, type ExamReport, type PastReport } from '../exam.js'
import type { Exchange } from '../patient.js'
import { withoutUndefined } from '../platform/without-undefined.js'
import type { Language, OrderStatus, Outcome, TurnFacts } from '../turn.js'
import { noFacts } from '../turn.js'
import { parseReport } from './edge.js'

const words = {
  unknownExam: {
    en: (order: string) => `There is no examination called "${order}" here.`,
    zh: (order: string) => `这里没有“${order}”这项检查。`,
  },
  tooExpensive: {
    en: (left: number) => `That costs more than the ${left} left in the budget.`,
    zh: (left: number) => `费用超出剩余预算（${left}）。`,
  },
  tooLong: {
    en: (left: number) => `That takes longer than the ${left} minutes left.`,
    zh: (left: number) => `所需时间超出剩余的${left}分钟。`,
  },
} as const

const cut = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text)

/** What an action led to, with what the patient or the examiner is to remember of it. */
export interface TurnResult {
  readonly outcome: Outcome
  readonly facts: TurnFacts
  readonly exchange?: Exchange
  readonly reports?: readonly PastReport[]
  /** Who answered with drawn tokens, and those tokens. */
  readonly drawn?: readonly { readonly role: Role; readonly sample: Sample }[]
}

/** What orders depend on that is the same in all visits. */
interface OrderSettings {
  readonly examine: AnyExamSimulator
  readonly language: Language
  readonly budget: Observation['budget']
  readonly minutesPerQuestion: number
  readonly unknownOrderMoney: number
}

/** What they depend on of the visit so far. */
interface OrderState {
  readonly truth: Case
  readonly examiner: ExaminerView
  readonly reports: readonly PastReport[]
  readonly seed: number
  readonly spent: Observation['spent']
}

/** The facts of a carried-out order. */
const reportFacts = ({
  status,
  invasiveness = 0,
  simulatedBy,
  ...report
}: ExamReport): TurnFacts => {
  const { told, exams, money, minutes, unread, flags } = report
  return {
    ...{ asked: [], told, ordered: status, exams, invasiveness, money, minutes },
    ...(simulatedBy === undefined ? {} : { simulatedBy: [simulatedBy] }),
    ...withoutUndefined({ unread, flags }),
  }
}

/** Places an order of one examination. */
async function orderOne(
  { examine, language, budget, minutesPerQuestion, unknownOrderMoney }: OrderSettings,
  { truth, examiner, reports, seed, spent }: OrderState,
  exam: string,
  signal: AbortSignal | undefined,
): Promise<TurnResult> {
  const left = { money: budget.money - spent.money, minutes: budget.minutes - spent.minutes }
  const context = { view: examiner, done: reports, now: spent.minutes, seed, language, signal }
  const given = await rethrowAsFault('component-failed', 'exam simulator', () =>
    carryOutOrder(examine, exam, context, () => informedExaminerView(examiner, truth)),
  )
  const refuse = (ordered: OrderStatus, text: string, money = 0): TurnResult => ({
    outcome: { kind: 'rejected', text },
    facts: { ...noFacts, ordered, money, minutes: minutesPerQuestion },
  })
  if (given === undefined) {
    const text = words.unknownExam[language](cut(exam))
    return refuse('unknown', text, Math.min(unknownOrderMoney, left.money))
  }
  const report = parseReport(given)
  const { money, minutes, sample } = report
  if (money > left.money) return refuse('refused', words.tooExpensive[language](left.money))
  if (minutes > left.minutes) return refuse('refused', words.tooLong[language](left.minutes))
  return {
    outcome: { kind: 'examined', text: report.text },
    facts: reportFacts(report),
    reports: [{ ...report, at: spent.minutes + minutes }],
    ...(sample ? { drawn: [{ role: 'examiner', sample }] } : {}),
  }
}

/** How an order of several counts: as the first of these that one of them is. */
const precedence: readonly OrderStatus[] = [
  'resulted',
  'repeat',
  'unavailable',
  'refused',
  'unknown',
]

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)

/** One examination of an order, and what came of it. */
interface OrderedPart extends TurnResult {
  readonly order: string
}

/** What the doctor reads of one examination of several: which one was refused is not in the words of a refusal. */
function partText({ order, outcome, facts }: OrderedPart, language: Language): string {
  const text = 'text' in outcome ? outcome.text : ''
  if (facts.ordered !== 'refused') return text
  return `${cut(order)}${language === 'en' ? ': ' : '：'}${text}`
}

/** The result of an order of several; what was not carried out costs nothing beside what was. */
function joinResults(parts: readonly OrderedPart[], language: Language): TurnResult {
  const done = parts.filter(({ reports }) => reports)
  const counted = done.length > 0 ? done : parts.slice(0, 1)
  const told = new Map(counted.flatMap(({ facts }) => facts.told.map((one) => [one.finding, one])))
  const drawn = parts.flatMap((part) => part.drawn ?? [])
  const by = new Set(counted.flatMap(({ facts }) => facts.simulatedBy ?? []))
  const unread = new Set(counted.flatMap(({ facts }) => facts.unread ?? []))
  const flags = new Set(counted.flatMap(({ facts }) => facts.flags ?? []))
  const of = (fact: 'money' | 'minutes' | 'invasiveness') =>
    sum(counted.map(({ facts }) => facts[fact] ?? 0))
  return {
    outcome: {
      kind: done.length > 0 ? 'examined' : 'rejected',
      text: parts.map((part) => partText(part, language)).join(language === 'en' ? ' ' : ''),
    },
    facts: {
      ...noFacts,
      told: [...told.values()],
      ordered:
        precedence.find((one) => parts.some(({ facts }) => facts.ordered === one)) ?? 'unknown',
      exams: [...new Set(counted.flatMap(({ facts }) => facts.exams))],
      ...(done.length > 0 ? { invasiveness: of('invasiveness') } : {}),
      ...(by.size > 0 ? { simulatedBy: [...by] } : {}),
      ...(unread.size > 0 ? { unread: [...unread] } : {}),
      ...(flags.size > 0 ? { flags: [...flags] } : {}),
      money: of('money'),
      minutes: of('minutes'),
    },
    reports: done.flatMap(({ reports = [] }) => reports),
    drawn,
  }
}

/** The orders of one examination each that an order holds. */
async function splitOrder({ split }: AnyExamSimulator, order: string): Promise<readonly string[]> {
  const given: unknown = await rethrowAsFault(
    'component-failed',
    'exam simulator',
    () => split?.(order) ?? [order],
  )
  if (Array.isArray(given) && given.length > 0 && given.every((one) => typeof one === 'string'))
    return given
  throw new Fault(
    'component-failed',
    'exam simulator: expected `split` to give a list of orders, not empty',
  )
}

/**
 * Places an order: each examination it names is carried out if it is known and what is left of the budget after those
 * before it covers it; the others are named.
 * @throws Fault where an examination fails: then nothing of the order was done
 */
export async function placeOrder(
  settings: OrderSettings,
  { truth, examiner, seed, ...before }: OrderState,
  order: string,
  signal: AbortSignal | undefined,
): Promise<TurnResult> {
  let { reports, spent } = before
  const parts: OrderedPart[] = []
  for (const one of await splitOrder(settings.examine, order)) {
    const part = await orderOne(settings, { truth, examiner, seed, reports, spent }, one, signal)
    parts.push({ order: one, ...part })
    const { facts, reports: made } = part
    if (!made) continue
    reports = [...reports, ...made]
    spent = { money: spent.money + facts.money, minutes: spent.minutes + facts.minutes }
  }
  const [only, ...more] = parts
  return only && more.length === 0 ? only : joinResults(parts, settings.language)
}
