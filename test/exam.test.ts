import { describe, expect, test } from 'vitest'
import { examinerView } from '../src/case.js'
import type { ExamContext, ExamReport, ExamSimulator } from '../src/exam.js'
import { combineExamSimulators } from '../src/exam.js'
import { tinyExams, tinyLung } from './fixtures/tiny.js'

const context: ExamContext = {
  view: examinerView(tinyLung),
  done: [],
  now: 0,
  seed: 0,
  language: 'en',
}

const report = (text: string): ExamReport => ({
  status: 'resulted',
  exams: ['ecg'],
  text,
  told: [],
  money: 30,
  minutes: 10,
})

const knowing =
  (name: string, text: string): ExamSimulator =>
  (order) =>
    order === name ? report(text) : undefined

describe('firstOf', () => {
  test('lets the first simulator that knows the order carry it out', async () => {
    const examine = combineExamSimulators(
      knowing('ecg', 'first'),
      knowing('ecg', 'second'),
      tinyExams,
    )
    expect(await examine('ecg', context)).toEqual(report('first'))
    expect((await examine('chest-film', context))?.text).toBe('A patchy shadow at the right base.')
  })

  test('does not ask the others once it is carried out', async () => {
    let asked = 0
    const counting: ExamSimulator = () => {
      asked++
      return undefined
    }
    const examine = combineExamSimulators(counting, knowing('ecg', 'here'), counting)
    await examine('ecg', context)
    expect(asked).toBe(1)
  })

  test('waits for a simulator that takes its time', async () => {
    const slow: ExamSimulator = async (order, given) => {
      await new Promise((resolve) => setTimeout(resolve, 5))
      return knowing('ecg', 'slow')(order, given)
    }
    expect((await combineExamSimulators(slow, knowing('ecg', 'fast'))('ecg', context))?.text).toBe(
      'slow',
    )
  })

  test('knows no order that none of them knows', async () => {
    expect(await combineExamSimulators(knowing('ecg', 'x'))('biopsy', context)).toBeUndefined()
    expect(await combineExamSimulators()('ecg', context)).toBeUndefined()
  })

  test('asks on after one that has no result, and keeps what the first said where none has', async () => {
    const without =
      (text: string): ExamSimulator =>
      () => ({ ...report(text), status: 'unavailable' })
    const examine = combineExamSimulators(without('first'), without('second'))
    expect(await examine('ecg', context)).toMatchObject({ status: 'unavailable', text: 'first' })
    const found = combineExamSimulators(without('first'), knowing('ecg', 'found'))
    expect(await found('ecg', context)).toEqual(report('found'))
    expect((await found('biopsy', context))?.text).toBe('first')
  })

  test('lets an error out instead of asking the next', async () => {
    const broken: ExamSimulator = () => Promise.reject(new Error('out of order'))
    const examine = combineExamSimulators(broken, knowing('ecg', 'x'))
    await expect(examine('ecg', context)).rejects.toThrow('out of order')
  })
})
