import { describe, expect, test } from 'vitest'
import type { Case } from '../../../src/case.js'
import { examinerView } from '../../../src/case.js'
import { findExam, otherTest } from '../../../src/envs/exams/orders.js'
import { recordExams } from '../../../src/envs/exams/record.js'
import type { ExamContext, ExamReport, ExamSimulator } from '../../../src/exam.js'
import { loadKnowledge } from '../../../src/knowledge/load.js'
import type { Language } from '../../../src/turn.js'
import { fc } from '../../fixtures/property.js'
import { spokenCase } from '../../fixtures/spoken-case.js'
import { spokenKnowledge } from '../../fixtures/spoken-knowledge.js'

const knowledge = spokenKnowledge()
const simulate = recordExams({ knowledge })

const result = (exam: string, findings: string[], zh: string, en: string, more: object = {}) => ({
  exam,
  findings,
  report: { zh, en },
  abnormal: false,
  ...more,
})
const exams = [
  result(
    'blood-count',
    ['white-cells-high'],
    '白细胞14×10⁹/L，升高。',
    'White cells 14 ×10⁹/L, raised.',
  ),
  result('crp-test', ['crp-level'], 'C反应蛋白升高。', 'C-reactive protein is raised.'),
]
const states = { 'white-cells-high': 'present', 'crp-level': 'raised' }
const truth = spokenCase(states, { exams })

const context = (
  of: Case = truth,
  {
    done = [],
    language = 'en',
    now = 0,
  }: { done?: readonly ExamReport[]; language?: Language; now?: number } = {},
): ExamContext => ({
  view: examinerView(of),
  done: done.map((one) => ({ ...one, at: 0 })),
  now,
  seed: 1,
  language,
})

/** The report of an order that is known. */
function report(order: string, given: ExamContext = context(), by = simulate): ExamReport {
  const made = by(order, given)
  if (!made) throw new Error(`Expected a report of ${order}, got none`)
  return made
}

describe('an examination', () => {
  test('reports what was fixed with the case, at the price of the knowledge base', () => {
    expect(report('CBC')).toEqual({
      status: 'resulted',
      exams: ['blood-count'],
      text: 'complete blood count: White cells 14 ×10⁹/L, raised.',
      told: [{ finding: 'white-cells-high', state: 'present' }],
      money: 5,
      minutes: 30,
      invasiveness: 1,
    })
  })

  test('is done again, at its price and with the same result, once the result has run out', () => {
    const first = report('CBC')
    const hours = knowledge.exam.get('blood-count')?.validHours ?? 0
    const within = report('CBC', context(truth, { done: [first], now: hours * 60 }))
    expect(within).toMatchObject({ status: 'repeat', money: 0, invasiveness: 0 })
    const later = report('CBC', context(truth, { done: [first], now: hours * 60 + 1 }))
    expect(later).toEqual(first)
  })

  test('is reported in the language of the consultation, whichever it is ordered in', () => {
    expect(report('CBC', context(truth, { language: 'zh' })).text).toBe(
      '血常规：白细胞14×10⁹/L，升高。',
    )
    expect(report('血常规').text).toMatch(/^complete blood count: /)
  })

  test('done before is repeated word for word, free and at once', () => {
    const first = report('CBC')
    const { status, ...rest } = report('blood count', context(truth, { done: [first] }))
    expect(status).toBe('repeat')
    expect(rest).toEqual({
      exams: first.exams,
      text: first.text,
      told: first.told,
      money: 0,
      minutes: 0,
      invasiveness: 0,
    })
  })

  test('done before costs what was agreed', () => {
    const dear = recordExams({ knowledge, repeatMoney: 3 })
    const done = [report('CBC')]
    expect(report('CBC', context(truth, { done }), dear).money).toBe(3)
    expect(() => recordExams({ knowledge, repeatMoney: -1 })).toThrow(RangeError)
    expect(() => recordExams({ knowledge, repeatMoney: Number.NaN })).toThrow(RangeError)
  })

  test('that cannot be done says so, settles nothing, costs nothing, and can be tried again', () => {
    const [count] = exams
    const without = spokenCase(states, { exams: [{ ...count, unavailable: true }] })
    const first = report('CBC', context(without))
    expect(first).toMatchObject({
      status: 'unavailable',
      exams: [],
      told: [],
      money: 0,
      minutes: 1,
    })
    expect(first.text).not.toContain('14')
    expect(report('CBC', context(without, { done: [first] }))).toEqual(first)
  })
})

describe('a panel', () => {
  test('is its members at its own price', () => {
    const panel = report('inflammation panel')
    const members = ['CBC', 'CRP'].map((order) => report(order))
    expect(panel).toMatchObject({
      status: 'resulted',
      exams: ['blood-count', 'crp-test'],
      told: members.flatMap(({ told }) => told),
      money: 9,
      minutes: 40,
    })
    expect(panel.text).toBe(members.map(({ text }) => text).join(' '))
  })

  test('is a repeat only when all its members were done', () => {
    const count = report('CBC')
    const crp = report('CRP')
    const status = (done: readonly ExamReport[]) =>
      report('inflammation panel', context(truth, { done })).status
    expect(status([count])).toBe('resulted')
    expect(status([count, crp])).toBe('repeat')
  })

  test('makes its members repeats', () => {
    const done = [report('inflammation panel')]
    expect(report('CRP', context(truth, { done })).status).toBe('repeat')
  })

  test('reports the members that could be done', () => {
    const [count, crp] = exams
    const partly = spokenCase(states, { exams: [count, { ...crp, unavailable: true }] })
    const panel = report('inflammation panel', context(partly))
    expect(panel).toMatchObject({ status: 'resulted', exams: ['blood-count'], money: 9 })
    expect(panel.told).toEqual([{ finding: 'white-cells-high', state: 'present' }])
    expect(panel.text).toContain('C-reactive protein test: ')
  })
})

describe('an examination that the case does not list', () => {
  const of = (examDefault: string, findings: Readonly<Record<string, string>>) =>
    context(spokenCase(findings, { examDefault, exams: [] }))
  const nothing = {
    'lung-shadow': 'unrecorded',
    'crp-level': 'unrecorded',
    'white-cells-high': 'unrecorded',
  }

  test('is normal where that is the default, and tells its yields for usual', () => {
    expect(report('chest X-ray', of('normal', nothing))).toMatchObject({
      status: 'resulted',
      text: 'chest X-ray: No abnormality found.',
      told: [{ finding: 'lung-shadow', state: 'absent' }],
      money: 10,
    })
    expect(report('CRP', of('normal', nothing)).told).toEqual([
      { finding: 'crp-level', state: 'normal' },
    ])
  })

  test('still shows what the case records', () => {
    const made = report('chest X-ray', of('normal', { 'lung-shadow': 'present' }))
    expect(made.text).toBe('chest X-ray: Patchy shadow in the right lower zone.')
    expect(made.told).toEqual([{ finding: 'lung-shadow', state: 'present' }])
    expect(report('CBC', of('normal', { 'white-cells-high': 'present' })).text).toMatch(
      /White cells 1\d|20 /,
    )
  })

  test('is unavailable where that is the default', () => {
    expect(report('CRP', of('unavailable', nothing))).toMatchObject({
      status: 'unavailable',
      exams: [],
      told: [],
    })
  })

  test('is left to the next simulator where that is the default', () => {
    expect(simulate('CRP', of('simulate', nothing))).toBeUndefined()
    expect(simulate('inflammation panel', of('simulate', nothing))).toBeUndefined()
  })
})

describe('an order', () => {
  test.each([
    'complete blood count',
    'COMPLETE  BLOOD COUNT.',
    'blood-count',
    'CBC',
    'ＣＢＣ',
    'order a CBC',
    'Please do a full blood count now.',
    'I would like to get the CBC, thanks',
    'CBC with differential',
    '血常规',
    '查一下血常规',
    '请给患者做个血常规检查。',
    '先做血常规吧',
  ])('"%s" means the blood count', (order) => {
    expect(findExam(knowledge, order)?.id).toBe('blood-count')
  })

  test('of two examinations is carried out for the longer name alone', () => {
    expect(report('CBC and abdominal ultrasound')).toMatchObject({
      exams: ['abdominal-ultrasound'],
      money: 15,
    })
  })

  test.each(['MRI', 'liver function tests', 'crpx', '', '???', 'electrolytes', '做个检查'])(
    '"%s" is left to the next simulator',
    (order) => {
      expect(simulate(order, context())).toBeUndefined()
    },
  )

  test('by any name of the shipped knowledge base, however put, means that examination', () => {
    const shipped = loadKnowledge()
    for (const exam of shipped.exams) {
      const names = [
        exam.id,
        exam.name.zh,
        exam.name.en,
        ...exam.aliases.zh,
        ...exam.aliases.en,
      ].flatMap((name) => [
        name,
        `order ${name}`,
        `Please do a ${name}.`,
        `查一下${name}`,
        `做${name}吧`,
      ])
      for (const name of names) expect(findExam(shipped, name)?.id, name).toBe(exam.id)
    }
  })

  test.each([
    ['order spirometry', 'peak-flow', 'spirometry'],
    ['peak flow, please', 'peak-flow', undefined],
    ['查血淀粉酶', 'lipase-test', '血淀粉酶'],
    ['脂肪酶', 'lipase-test', undefined],
  ])('"%s" is for %s; the test in whose place it is done: %s', (order, id, other) => {
    const exam = findExam(loadKnowledge(), order)
    expect(exam?.id).toBe(id)
    expect(exam && otherTest(exam, order)).toBe(other)
  })

  test('for another test says that this one is done in its place', () => {
    const [count, ...others] = knowledge.exams
    if (!count) throw new Error('Expected examinations, got none')
    const own = { ...count, instead: { zh: ['骨髓穿刺'], en: ['bone marrow'] } }
    const by = recordExams({ knowledge: { ...knowledge, exams: [own, ...others] } })
    const plain = report(count.name.en, context(), by).text
    expect(report('bone marrow', context(), by).text).toBe(
      `No bone marrow here; done in its place: ${plain}`,
    )
    expect(report('骨髓穿刺', context(truth, { language: 'zh' }), by).text).toMatch(
      /^这里不做骨髓穿刺，改做：/,
    )
  })

  test('of anything never throws, and gives the same report each time', () => {
    const anything = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 100 }),
      fc.constantFrom(...knowledge.exams.flatMap(({ name, aliases }) => [name.zh, ...aliases.en])),
    )
    const another: ExamSimulator = recordExams({ knowledge })
    fc.assert(
      fc.property(anything, (order) => {
        expect(another(order, context())).toEqual(simulate(order, context()))
      }),
    )
  })

  test('of 100 kB is read in bounded time', () => {
    const start = performance.now()
    simulate('CBC and '.repeat(12_500), context())
    expect(performance.now() - start).toBeLessThan(500)
  })
})
