import { describe, expect, test } from 'vitest'
import { type ConsultationOptions, consultation } from '../../src/envs/consultation.js'
import { findExam, splitOrder } from '../../src/envs/exams/orders.js'
import { recordExams } from '../../src/envs/exams/record.js'
import type { ExamSimulator } from '../../src/exam.js'
import { loadKnowledge } from '../../src/knowledge/load.js'
import { fc } from '../fixtures/property.js'
import { spokenCase } from '../fixtures/spoken-case.js'
import { spokenKnowledge } from '../fixtures/spoken-knowledge.js'
import { tinyPatient } from '../fixtures/tiny.js'

const knowledge = spokenKnowledge()
const shipped = loadKnowledge()

const clinic = (more: Partial<ConsultationOptions> = {}) =>
  consultation({
    cases: [spokenCase()],
    patient: tinyPatient,
    exams: [recordExams({ knowledge })],
    ...more,
  })

/** The last turn of some orders, one after the other. */
async function ordered(orders: readonly string[], more?: Partial<ConsultationOptions>) {
  const env = clinic(more)
  await env.reset({ seed: 1 })
  let step = await env.step({ kind: 'order', exam: orders[0]! })
  for (const exam of orders.slice(1)) step = await env.step({ kind: 'order', exam })
  const outcome = step.observation.turns.at(-1)?.outcome
  const text = outcome && 'text' in outcome ? outcome.text : ''
  return { text, kind: outcome?.kind, facts: step.info.facts, spent: step.observation.spent }
}

describe('an order of several examinations', () => {
  test.each([
    ['a CBC, CRP and a chest X-ray', 'en'],
    ["let's do a full blood count, CRP, then the CXR please", 'en'],
    ['查个血常规、CRP，再拍个胸片', 'zh'],
    ['血常规和CRP，还有胸片', 'zh'],
  ] as const)('"%s" carries out each at its own price', async (order, language) => {
    const { kind, facts, spent } = await ordered([order], { language })
    expect(kind).toBe('examined')
    expect(facts).toMatchObject({
      ordered: 'resulted',
      exams: ['blood-count', 'crp-test', 'chest-xray'],
      invasiveness: 2,
      money: 5 + 6 + 10,
      minutes: 30 + 40 + 20,
    })
    expect(spent).toEqual({ money: 21, minutes: 90 })
  })

  test('reads and costs what the same orders one by one do', async () => {
    const names = ['CBC', 'abdominal ultrasound', 'CXR']
    const at = async (n: number) => ordered(names.slice(0, n))
    const singles = [await at(1), await at(2), await at(3)]
    const together = await ordered([names.join(', ')])
    expect(together.text).toBe(singles.map(({ text }) => text).join(' '))
    expect(together.spent).toEqual(singles.at(-1)?.spent)
    expect(together.facts?.told).toEqual(singles.flatMap(({ facts }) => facts?.told ?? []))
  })

  test('carries out those that the budget covers, and says which ones it does not', async () => {
    const { text, facts } = await ordered(['CBC, abdominal ultrasound, CXR'], { money: 16 })
    expect(facts).toMatchObject({ exams: ['blood-count', 'chest-xray'], money: 15 })
    expect(text).toContain('abdominal ultrasound: That costs more than the 11 left in the budget.')
  })

  test('names those that do not exist, at no price beside the others', async () => {
    const { text, kind, facts } = await ordered(['CBC, aura reading and CXR'])
    expect(kind).toBe('examined')
    expect(text).toContain('There is no examination called "aura reading" here.')
    expect(facts).toMatchObject({ exams: ['blood-count', 'chest-xray'], money: 15, minutes: 50 })
  })

  test('pays nothing again for a part that was done, in it or before it', async () => {
    const { facts } = await ordered(['CBC', 'CBC, CRP and inflammation panel'])
    expect(facts).toMatchObject({ ordered: 'resulted', money: 6, minutes: 40 })
  })

  test('that fails in one part leaves no trace of the others', async () => {
    const failing: ExamSimulator = Object.assign(
      (order: string) => {
        if (order === 'b') throw new Error('the analyser is broken')
        return {
          status: 'resulted',
          exams: [order],
          text: order,
          told: [],
          money: 1,
          minutes: 1,
        } as const
      },
      { split: (order: string) => order.split(' ') },
    )
    const env = clinic({ exams: [failing] })
    await env.reset({ seed: 1 })
    await expect(env.step({ kind: 'order', exam: 'a b c' })).rejects.toThrow('analyser is broken')
    const { observation } = await env.step({ kind: 'order', exam: 'a c' })
    expect(observation.turns).toHaveLength(1)
    expect(observation.spent).toEqual({ money: 2, minutes: 2 })
  })

  test('split into nothing is the fault of the simulator', async () => {
    const wrong: ExamSimulator = Object.assign(() => undefined, { split: () => ['', 1] as never })
    await expect(ordered(['a'], { exams: [wrong] })).rejects.toMatchObject({
      code: 'component-failed',
    })
  })
})

describe('an order', () => {
  test.each([
    'chest X-ray because of the cough and the fever',
    'CT of abdomen and pelvis',
    'chest X-ray or CT head',
    'chest X-ray instead of a head CT',
    'urgent chest X-ray please, thank you',
    'complete blood count, as soon as possible',
    'fbc and crp',
    '先查血常规吧，谢谢',
    '因为咳嗽，拍个胸片',
    '胸片或者头颅CT',
    'a palm reading and a horoscope',
  ])('"%s" is not split', (order) => {
    expect(splitOrder(shipped, order)).toEqual([order])
  })

  test('of any two examinations of the shipped knowledge base is split into them, in both languages', () => {
    const exam = fc.constantFrom(...shipped.exams)
    const joint = fc.constantFrom(
      { language: 'en', between: ' and ' } as const,
      { language: 'en', between: ', ' } as const,
      { language: 'zh', between: '、' } as const,
      { language: 'zh', between: '和' } as const,
    )
    fc.assert(
      fc.property(exam, exam, joint, (a, b, { language, between }) => {
        fc.pre(a !== b)
        const order = [a.name[language], b.name[language]].join(between)
        const exams = splitOrder(shipped, order).map((part) => findExam(shipped, part)?.id)
        expect(exams, order).toEqual([a.id, b.id])
      }),
    )
  })
})
