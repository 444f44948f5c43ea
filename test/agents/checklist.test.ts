import { expect, test } from 'vitest'
import { checklist, firstDiagnosis } from '../../src/agents/checklist.js'
import type { Observation } from '../../src/env.js'
import { actionSpace } from '../../src/knowledge/action-space.js'
import type { Action, Turn } from '../../src/turn.js'

const diagnoses: Action[] = ['A', 'B'].map((diagnosis) => ({ kind: 'diagnose', diagnosis }))
const questions: Action[] = ['One?', 'Two?', 'Three?'].map((text) => ({ kind: 'ask', text }))
const agent = checklist({
  actionSpace: actionSpace('en', [...questions, { kind: 'order', exam: 'ECG' }, ...diagnoses]),
})

const after = (count: number, turnsLeft: number): Observation => ({
  intake: { view: 'doctor', demographics: { speaker: 'self' }, complaint: { en: 'Hello.' } },
  turns: Array<Turn>(count).fill({
    action: { kind: 'ask', text: '?' },
    outcome: { kind: 'answered', text: 'Yes.' },
  }),
  turnsLeft,
  spent: { money: 0, minutes: 0 },
  budget: { money: 1, minutes: 1 },
  language: 'en',
})
const action = async (count: number, turnsLeft: number) =>
  (await agent(after(count, turnsLeft), { seed: 0 })).action

test('asks the questions in order and nothing else', async () => {
  expect([await action(0, 9), await action(1, 8), await action(2, 7)]).toEqual(questions)
})

test('gives the first diagnosis when the questions or the turns are used up', async () => {
  expect(await action(3, 6)).toEqual(diagnoses[0])
  expect(await action(1, 1)).toEqual(diagnoses[0])
})

test('gives the first diagnosis at once', async () => {
  const first = firstDiagnosis({ actionSpace: actionSpace('en', [...questions, ...diagnoses]) })
  expect((await first(after(0, 9), { seed: 0 })).action).toEqual(diagnoses[0])
})
