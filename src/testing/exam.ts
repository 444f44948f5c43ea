/** Conformance checks of an exam simulator (`exam.ts`): results fixed by the case, free repeats, nothing invented. */
import { type Case, type ExaminerView, examinerView, informedExaminerView } from '../case.js'
import { type AnyExamSimulator, carryOutOrder, type ExamReport } from '../exam.js'
import { deepFreeze } from '../platform/freeze.js'
import type { Language } from '../turn.js'
import { type Check, type CheckRuns, toChecks } from './check.js'
import { expectAnswer, expectPlain, expectSame, expectThat } from './expect.js'
import { garbage } from './garbage.js'
import { diagnosisNames, findName } from './leak.js'

/** Inputs of {@link examChecks}. */
export interface ExamMaterial {
  /** Cases to examine, one after the other. */
  readonly cases: readonly Case[]
  /** Orders that the simulator knows; at least one of them must have a result. */
  readonly orders: readonly string[]
  /** Orders that it does not know. An empty list leaves that check out, for a simulator that knows every order. */
  readonly unknown?: readonly string[]
  /** Language of the reports. @default 'en' */
  readonly language?: Language
  /** Seed of every order. @default 0 */
  readonly seed?: number
}

/** A case under examination. */
interface ExamSession {
  readonly truth: Case
  readonly view: ExaminerView
}

type PlaceOrder = (
  session: ExamSession,
  order: string,
  done?: readonly ExamReport[],
) => Promise<ExamReport | undefined>

/** Makes a function that places an order after the reports in `done`. */
const orderPlacer =
  (simulate: AnyExamSimulator, seed: number, language: Language): PlaceOrder =>
  ({ truth, view }, order, done = []) =>
    expectAnswer(JSON.stringify(order.slice(0, 40)), () => {
      const context = {
        done: done.map((report) => ({ ...report, at: report.minutes })),
        now: done.reduce((sum, { minutes }) => sum + minutes, 0),
        ...{ seed, language },
      }
      return carryOutOrder(simulate, order, { ...context, view }, () =>
        informedExaminerView(view, truth),
      )
    })

function expectWellFormed(report: ExamReport, order: string): void {
  const what = `the report on ${JSON.stringify(order)}`
  expectPlain(what, report)
  expectThat(
    ['resulted', 'repeat', 'unavailable'].includes(report.status),
    `${what} to have a status of resulted, repeat, unavailable`,
    report.status,
  )
  expectThat(typeof report.text === 'string' && report.text !== '', `${what} to have text`, report)
  expectThat(
    report.status === 'unavailable' || report.exams.length > 0,
    `${what} to name what was done`,
    report.exams,
  )
  for (const cost of ['money', 'minutes'] as const)
    expectThat(report[cost] >= 0, `${what} to have ${cost} >= 0`, report[cost])
}

const revealedStates = (report: ExamReport | undefined): ReadonlyMap<string, string> =>
  new Map(report?.told.map(({ finding, state }) => [finding, state] as const))

async function expectFreeRepeat(order: PlaceOrder, session: ExamSession, name: string) {
  const first = await order(session, name)
  if (first?.status !== 'resulted') return false
  const again = await order(session, name, [first])
  expectThat(again?.status === 'repeat', `a second ${name} to be a repeat`, again?.status)
  expectSame(`what a second ${name} costs`, [again.money, again.minutes], [0, 0])
  return true
}

/** Throws where an earlier order changes a finding's state. */
async function checkIndependent(order: PlaceOrder, session: ExamSession, names: readonly string[]) {
  for (const name of names) {
    const alone = revealedStates(await order(session, name))
    const done: ExamReport[] = []
    for (const other of names) {
      const report = other === name ? undefined : await order(session, other, done)
      if (report) done.push(report)
    }
    for (const [finding, state] of revealedStates(await order(session, name, done)))
      expectSame(`${finding} by ${name} after other orders`, state, alone.get(finding) ?? state)
  }
}

type EachExam = (work: (session: ExamSession) => Promise<unknown>) => () => Promise<void>

const orderChecks = (each: EachExam, order: PlaceOrder, orders: readonly string[]): CheckRuns => ({
  'a known order is carried out': each(async (session) => {
    for (const name of orders)
      expectThat((await order(session, name)) !== undefined, `a report on ${name}`, 'undefined')
  }),
  'the same order gives the same report': each(async (session) => {
    for (const name of orders)
      expectSame(`a second ${name}`, await order(session, name), await order(session, name))
  }),
  'a repeat costs nothing': async () => {
    let repeated = 0
    await each(async (session) => {
      for (const name of orders) if (await expectFreeRepeat(order, session, name)) repeated++
    })()
    expectThat(repeated > 0, '`orders` to give a result (nothing can be tested otherwise)', 'none')
  },
  'earlier orders change no finding': each((session) => checkIndependent(order, session, orders)),
  'whatever is ordered, nothing is thrown': each(async (session) => {
    for (const name of [...orders, ...garbage]) await order(session, name)
  }),
  'the view is only read': each(async (session) => {
    const look = () => JSON.stringify([...session.view.findings, ...session.view.results])
    const before = look()
    deepFreeze(session.view)
    for (const name of orders) await order(session, name)
    expectSame('the view after the orders', look(), before)
  }),
})

function reportChecks(each: EachExam, order: PlaceOrder, orders: readonly string[]): CheckRuns {
  const eachReport = (check: (report: ExamReport, name: string, session: ExamSession) => void) =>
    each(async (session) => {
      for (const name of orders) {
        const report = await order(session, name)
        if (report) check(report, name, session)
      }
    })
  return {
    'only findings of the case are told': eachReport((report, name, { view }) => {
      for (const { finding } of report.told)
        expectThat(view.findings.has(finding), `${name} to tell what the case holds`, finding)
    }),
    'no report names the diagnosis': eachReport((report, _, { truth }) => {
      const found = findName(report.text, diagnosisNames(truth))
      expectThat(found === undefined, 'no report to name it', `"${found}" in "${report.text}"`)
    }),
    'reports are plain and well-formed': eachReport(expectWellFormed),
  }
}

/** Lists every promise of the exam simulator's contract as a check, each over all cases. */
export function examChecks(simulate: AnyExamSimulator, material: ExamMaterial): readonly Check[] {
  const { cases, orders, language = 'en', seed = 0 } = material
  const unknown = material.unknown ?? ['', 'no such examination', '没有这项检查']
  const order = orderPlacer(simulate, seed, language)
  const each: EachExam = (work) => async () => {
    expectThat(cases.length > 0, 'at least one case', 'none')
    for (const truth of structuredClone(cases))
      await work({ truth, view: structuredClone(examinerView(truth)) })
  }
  const ignored = each(async (session) => {
    for (const name of unknown)
      expectSame(`the report on ${JSON.stringify(name)}`, await order(session, name), undefined)
  })
  return toChecks({
    ...orderChecks(each, order, orders),
    ...(unknown.length > 0 ? { 'an unknown order gives undefined': ignored } : {}),
    ...reportChecks(each, order, orders),
  })
}
