import { describe, expect, test } from 'vitest'
import type { ExamReport, ExamSimulator } from '../../src/exam.js'
import { runChecks } from '../../src/testing/check.js'
import type { ExamMaterial } from '../../src/testing/exam.js'
import { examChecks } from '../../src/testing/exam.js'
import { tinyCases, tinyExams } from '../fixtures/tiny.js'

/** The tiny cases with a second examination, since independence needs two. */
const cases = structuredClone(tinyCases).map((truth) => ({
  ...truth,
  findings: [
    ...truth.findings,
    { ...(truth.findings.at(-1) as (typeof truth.findings)[number]), id: 'raised-white-cells' },
  ],
  exams: [
    ...truth.exams,
    {
      exam: 'blood-count',
      findings: ['raised-white-cells'],
      report: { en: 'White cells 13.', zh: '白细胞 13。' },
      abnormal: true,
      unavailable: false,
    },
  ],
}))

const material: ExamMaterial = { cases, orders: ['chest-film', 'blood-count'] }

const failing = async (simulate: ExamSimulator, more: Partial<ExamMaterial> = {}) =>
  (await runChecks(examChecks(simulate, { ...material, ...more }))).failures.map(
    ({ check }) => check,
  )

/** The tiny simulator with its reports changed. */
const reporting =
  (change: (report: ExamReport, order: string) => ExamReport): ExamSimulator =>
  async (order, context) => {
    const report = await tinyExams(order, context)
    return report && change(report, order)
  }

describe('the tiny exam simulator keeps the contract', () => {
  for (const { name, run } of examChecks(tinyExams, material)) test(name, run)
})

describe('exactly the broken promise is reported when a simulator', () => {
  const only = (what: string, check: string, simulate: ExamSimulator) =>
    test(what, async () => expect(await failing(simulate)).toEqual([check]))

  only('does not know one of its orders', 'a known order is carried out', (order, context) =>
    order === 'blood-count' ? undefined : tinyExams(order, context),
  )

  only('carries out anything', 'an unknown order gives undefined', async (order, context) => {
    const report = await tinyExams(order, context)
    return report ?? ((await tinyExams('chest-film', context)) as ExamReport)
  })

  let drawn = 0
  only(
    'words the same report in another way',
    'the same order gives the same report',
    reporting((report) => ({ ...report, text: `${report.text} ${drawn++}` })),
  )

  only(
    'charges twice',
    'a repeat costs nothing',
    reporting((report) => ({ ...report, money: 50 })),
  )

  only('never calls it a repeat', 'a repeat costs nothing', (order, context) =>
    tinyExams(order, { ...context, done: [] }),
  )

  only(
    'finds something else after another order',
    'earlier orders change no finding',
    async (order, context) => {
      const report = await tinyExams(order, context)
      const state = context.done.length > 0 ? 'present' : 'absent'
      return report && { ...report, told: report.told.map(({ finding }) => ({ finding, state })) }
    },
  )

  only(
    'finds what the case does not hold',
    'only findings of the case are told',
    reporting((report) => ({ ...report, told: [{ finding: 'fever', state: 'present' }] })),
  )

  only(
    'names the diagnosis in a report',
    'no report names the diagnosis',
    reporting((report) => ({ ...report, text: 'Consistent with pneumonia or gastritis.' })),
  )

  only(
    'reports a cost below zero',
    'reports are plain and well-formed',
    reporting((report) => (report.status === 'repeat' ? report : { ...report, minutes: -1 })),
  )

  only(
    'has nothing to say',
    'reports are plain and well-formed',
    reporting((report) => ({ ...report, text: '' })),
  )

  only('throws at a strange order', 'whatever is ordered, nothing is thrown', (order, context) => {
    if (order.length > 1000) throw new Error('too long')
    return tinyExams(order, context)
  })

  only('loses a result from its view', 'the view is only read', async (order, context) => {
    const report = await tinyExams(order, context)
    // Mutable on purpose: a ReadonlyMap is a promise of the compiler only.
    ;(context.view.findings as Map<string, unknown>).delete('cough')
    ;(context.view.results as Map<string, unknown>).set('extra', report)
    return report
  })
})

test('a simulator that does not say what was done cannot know a repeat', async () => {
  const silent = reporting((report) => ({ ...report, exams: [] }))
  expect(await failing(silent)).toEqual([
    'a repeat costs nothing',
    'reports are plain and well-formed',
  ])
})

test('orders without any result fail instead of passing in silence', async () => {
  const closed = reporting((report) => ({ ...report, status: 'unavailable', told: [] }))
  expect(await failing(closed)).toEqual(['a repeat costs nothing'])
})

test('a simulator that knows every order leaves the check of unknown ones out', async () => {
  const names = examChecks(tinyExams, { ...material, unknown: [] }).map(({ name }) => name)
  expect(names).not.toContain('an unknown order gives undefined')
  expect(names).toContain('a known order is carried out')
})
