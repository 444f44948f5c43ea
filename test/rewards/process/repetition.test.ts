import { describe, expect, test } from 'vitest'
import type { EpisodeTurn } from '../../../src/episode.js'
import { repetition } from '../../../src/rewards/process/conduct.js'
import type { OrderStatus, TurnFacts } from '../../../src/turn.js'
import { noFacts } from '../../../src/turn.js'
import {
  ask,
  diagnose,
  episodeOf,
  invalid,
  present,
  truthOf,
} from '../../fixtures/reward-episodes.js'

const judge = async (...turns: EpisodeTurn[]) =>
  (await repetition()(episodeOf([...turns, diagnose('flu')]), truthOf())).total

const courtesy = ask([], { understood: 'courtesy', questions: 0 })
const asking = (finding: string, facts: Partial<TurnFacts>): EpisodeTurn => {
  const turn = ask()
  return { ...turn, facts: { ...turn.facts, asked: [finding], ...facts } }
}
const ordering = (exam: string, ordered: OrderStatus | undefined, exams = [exam]): EpisodeTurn => ({
  action: { kind: 'order', exam },
  outcome: {
    kind: ordered === 'unknown' || ordered === 'refused' ? 'rejected' : 'examined',
    text: '',
  },
  facts: { ...noFacts, exams, ...(ordered ? { ordered } : {}) },
})

test('is the share of questions and orders that asked for something new', async () => {
  expect(await judge(ask(present('fever')), ask(present('ache')))).toBe(1)
  expect(await judge(ask(present('fever')), ask(present('fever')))).toBe(0.5)
  expect(await judge(ask(present('fever')), ask([], { understood: 'repeated' }))).toBe(0.5)
})

test('another wording hides no repeat, and a new finding beside an old one is none', async () => {
  const fever = ask(present('fever'))
  const reworded = { ...fever, action: { kind: 'ask', text: '您发烧吗？' } } as const
  expect(await judge(fever, reworded)).toBe(0.5)
  expect(await judge(fever, ask(present('fever', 'ache')))).toBe(1)
})

test.each([
  ['left unknown', { told: [{ finding: 'fever', state: 'unknown' }], understood: 'unknown' }],
  ['kept back', { told: [], understood: 'withheld' }],
  ['not understood', { told: [], understood: 'unclear' }],
] as const)('what was %s may be asked for again', async (_, facts) => {
  expect(await judge(asking('fever', facts), ask(present('fever')))).toBe(1)
})

test('what somebody told unasked is settled too', async () => {
  const open = ask(present('fever'), { understood: 'open' })
  expect(await judge({ ...open, facts: { ...open.facts, asked: [] } }, ask(present('fever')))).toBe(
    0,
  )
})

describe('an order', () => {
  test.each<[string, EpisodeTurn[], number]>([
    ['of two examinations', [ordering('cbc', 'resulted'), ordering('film', 'resulted')], 1],
    ['whose result is there', [ordering('cbc', 'resulted'), ordering('cbc', 'repeat')], 0.5],
    [
      'under another name',
      [ordering('cbc', undefined), ordering('blood', undefined, ['cbc'])],
      0.5,
    ],
    ['whose result has run out', [ordering('cbc', 'resulted'), ordering('cbc', 'resulted')], 1],
    ['that nobody knows', [ordering('aura', 'unknown', []), ordering(' AURA', 'unknown', [])], 0.5],
    [
      'that cannot be done here',
      [ordering('mri', 'unavailable', []), ordering('mri', 'unavailable', [])],
      0.5,
    ],
    ['that costs too much', [ordering('pet', 'refused', []), ordering('pet', 'refused', [])], 0.5],
    [
      'for more than was done',
      [ordering('cbc', undefined), ordering('panel', undefined, ['cbc', 'crp'])],
      1,
    ],
  ])('%s', async (_, turns, value) => {
    expect(await judge(...turns)).toBe(value)
  })
})

test('courtesies and unreadable replies do not thin repeats out, and are worth nothing alone', async () => {
  const repeats = [ask(present('fever')), ask(present('fever'))]
  expect(await judge(...repeats, ...new Array<EpisodeTurn>(6).fill(courtesy), invalid)).toBe(0.5)
  expect(await judge(courtesy, courtesy)).toBe(0)
  expect(await judge()).toBe(0)
})
