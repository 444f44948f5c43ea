/** Holds an exam simulator to the contract of `exam.ts`: results fixed with the case, repeats free, nothing invented. */
import type { Case, ExaminerView } from '../case.js'
import { examinerView } from '../case.js'
import type { ExamReport, ExamSimulator } from '../exam.js'
import type { Language } from '../turn.js'
import type { Check } from './check.js'
import { expectAnswer, expectPlain, expectSame, expectThat } from './expect.js'
import { garbage } from './garbage.js'
import { diagnosisNames, namedIn } from './leak.js'
import { deepFreeze } from './plain.js'

/** What is ordered. */
export interface ExamMaterial {
  /** Who is examined, one after the other. */
  readonly cases: readonly Case[]
  /** Orders that the simulator knows; one of them at least must have a result. */
  readonly orders: readonly string[]
  /** Orders that it does not know; an empty list leaves that check out, for a simulator that knows them all. */
  readonly unknown?: readonly string[]
  /** @default 'en' */
  readonly language?: Language
  /** @default 0 */
  readonly seed?: number
}

interface Sitting {
  readonly truth: Case
  readonly view: ExaminerView
}

type Order = (
  sitting: Sitting,
  order: string,
  done?: readonly ExamReport[],
) => Promise<ExamReport | undefined>

const ordering =
  (simulate: ExamSimulator, seed: number, language: Language): Order =>
  ({ view }, order, done = []) =>
    expectAnswer(JSON.stringify(order.slice(0, 40)), () =>
      simulate(order, {
        view,
        done: done.map((report) => ({ ...report, at: report.minutes })),
        now: done.reduce((sum, { minutes }) => sum + minutes, 0),
        seed,
        language,
      }),
    )

function wellFormed(order: string, report: ExamReport): void {
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

const statesOf = (report: ExamReport | undefined): ReadonlyMap<string, string> =>
  new Map(report?.told.map(({ finding, state }) => [finding, state] as const))

async function repeatsFree(order: Order, sitting: Sitting, name: string): Promise<boolean> {
  const first = await order(sitting, name)
  if (first?.status !== 'resulted') return false
  const again = await order(sitting, name, [first])
  expectThat(again?.status === 'repeat', `a second ${name} to be a repeat`, again?.status)
  expectSame(`what a second ${name} costs`, [again.money, again.minutes], [0, 0])
  return true
}

async function independent(order: Order, sitting: Sitting, names: readonly string[]) {
  for (const name of names) {
    const alone = statesOf(await order(sitting, name))
    const done: ExamReport[] = []
    for (const other of names) {
      const report = other === name ? undefined : await order(sitting, other, done)
      if (report) done.push(report)
    }
    for (const [finding, state] of statesOf(await order(sitting, name, done)))
      expectSame(`${finding} by ${name} after other orders`, state, alone.get(finding) ?? state)
  }
}

type Runs = Readonly<Record<string, () => Promise<void>>>
type Each = (work: (sitting: Sitting) => Promise<unknown>) => () => Promise<void>

const ordered = (each: Each, order: Order, orders: readonly string[]): Runs => ({
  'a known order is carried out': each(async (sitting) => {
    for (const name of orders)
      expectThat((await order(sitting, name)) !== undefined, `a report on ${name}`, 'undefined')
  }),
  'the same order gives the same report': each(async (sitting) => {
    for (const name of orders)
      expectSame(`a second ${name}`, await order(sitting, name), await order(sitting, name))
  }),
  'a repeat costs nothing': async () => {
    let repeated = 0
    await each(async (sitting) => {
      for (const name of orders) if (await repeatsFree(order, sitting, name)) repeated++
    })()
    expectThat(repeated > 0, '`orders` to give a result (nothing can be tested otherwise)', 'none')
  },
  'earlier orders change no finding': each((sitting) => independent(order, sitting, orders)),
  'whatever is ordered, nothing is thrown': each(async (sitting) => {
    for (const name of [...orders, ...garbage]) await order(sitting, name)
  }),
  'the view is only read': each(async (sitting) => {
    const look = () => JSON.stringify([...sitting.view.findings, ...sitting.view.results])
    const before = look()
    deepFreeze(sitting.view)
    for (const name of orders) await order(sitting, name)
    expectSame('the view after the orders', look(), before)
  }),
})

const unordered = (each: Each, order: Order, unknown: readonly string[]): Runs => ({
  'an unknown order gives undefined': each(async (sitting) => {
    for (const name of unknown)
      expectSame(`the report on ${JSON.stringify(name)}`, await order(sitting, name), undefined)
  }),
})

function reported(each: Each, order: Order, orders: readonly string[]): Runs {
  const eachReport = (check: (report: ExamReport, name: string, sitting: Sitting) => void) =>
    each(async (sitting) => {
      for (const name of orders) {
        const report = await order(sitting, name)
        if (report) check(report, name, sitting)
      }
    })
  return {
    'only findings of the case are told': eachReport((report, name, { view }) => {
      for (const { finding } of report.told)
        expectThat(view.findings.has(finding), `${name} to tell what the case holds`, finding)
    }),
    'no report names the diagnosis': eachReport((report, _, { truth }) => {
      const found = namedIn(report.text, diagnosisNames(truth))
      expectThat(found === undefined, 'no report to name it', `"${found}" in "${report.text}"`)
    }),
    'reports are plain and well-formed': eachReport((report, name) => wellFormed(name, report)),
  }
}

/** Every promise of the exam simulator's contract as a check, each over all cases. */
export function examChecks(simulate: ExamSimulator, material: ExamMaterial): readonly Check[] {
  const { cases, orders, language = 'en', seed = 0 } = material
  const unknown = material.unknown ?? ['', 'no such examination', '没有这项检查']
  const order = ordering(simulate, seed, language)
  const each: Each = (work) => async () => {
    expectThat(cases.length > 0, 'at least one case', 'none')
    for (const truth of structuredClone(cases)) await work({ truth, view: examinerView(truth) })
  }
  const runs: Runs = {
    ...ordered(each, order, orders),
    ...(unknown.length > 0 ? unordered(each, order, unknown) : {}),
    ...reported(each, order, orders),
  }
  return Object.entries(runs).map(([name, run]) => ({ name, run }))
}
