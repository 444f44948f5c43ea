/** MrlX-TakesTwo: each fault of its rewards once, as released and fixed. */
import { expect, test } from 'vitest'
import type { Episode, EpisodeTurn } from '../../../src/episode.js'
import type { Reward } from '../../../src/reward.js'
import { takestwoDoctor } from '../../../src/rewards/published/takestwo.js'
import { takestwoPatient } from '../../../src/rewards/published/takestwo-patient.js'
import type { Compared } from '../../fixtures/influenza-consultations.js'
import { asking, best, flu, good, judgeOf, right } from '../../fixtures/influenza-consultations.js'
import { ask, diagnose, episodeOf } from '../../fixtures/reward-episodes.js'

const forms = { parity: takestwoDoctor({ parity: true }), fixed: takestwoDoctor() }

const value = async (reward: Reward, episode: Episode): Promise<number> =>
  (await reward(episode, flu)).total ?? Number.NaN

async function both(one: Episode, other: Episode): Promise<Compared> {
  return {
    parity: [await value(forms.parity, one), await value(forms.parity, other)],
    fixed: [await value(forms.fixed, one), await value(forms.fixed, other)],
  }
}

/** The consultation, with another answer to its first question. */
const answering = (text: string): Episode =>
  episodeOf([asking('fever', 'Any fever?', text), asking('chills'), right])

test('M1 a recommendation costs 5, and leaving it out does not', async () => {
  const bare = episodeOf([...good.turns.slice(0, -1), diagnose('Influenza')])
  const { parity, fixed } = await both(good, bare)
  // The gold advice word for word earns 5.
  expect(parity[1]).toBe(parity[0])
  const { parts } = await forms.parity(bare, flu)
  expect(parts.compliance).toMatchObject({ value: 0 })
  expect((await forms.parity(good, flu)).parts.compliance).toMatchObject({ value: -5 })
  expect(fixed[0]).toBeGreaterThan(fixed[1] + 0.2)
  expect((await forms.fixed(bare, flu)).parts.compliance).toMatchObject({ value: 0 })
})

test('M2 the questions of the patient are counted, not the doctor’s', async () => {
  const { parity, fixed } = await both(answering('Yes. Why? Is it bad?'), answering('Yes.'))
  expect(parity[0]).toBe(parity[1] - 2)
  expect(fixed[0]).toBe(fixed[1])
  const many: EpisodeTurn = {
    ...ask([], { questions: 3 }),
    action: { kind: 'ask', text: 'Fever? Chills? Aches?' },
  }
  const listing = await both(
    episodeOf([...good.turns.slice(0, -1), many, right]),
    episodeOf([...good.turns.slice(0, -1), asking('chills'), right]),
  )
  expect(listing.parity[0]).toBe(listing.parity[1])
  expect(listing.fixed[0]).toBeLessThan(listing.fixed[1])
})

test('M3 a thought of the patient is read', async () => {
  const thinking = answering('<think>Unrelated ones get "Sorry". Is it? It is not?</think>Yes.')
  const { parity, fixed } = await both(thinking, answering('Yes.'))
  expect(parity[0]).toBe(parity[1] - 3 - 2)
  expect(fixed[0]).toBe(fixed[1])
})

test('M4 the turn limit costs nothing of its own', async () => {
  const limited = episodeOf(best.turns.slice(0, 4), { maxTurns: 4 })
  const late = episodeOf([...best.turns.slice(0, 4), { ...right, outcome: { kind: 'closed' } }])
  expect((await forms.parity(limited, flu)).parts.compliance).toMatchObject({ value: -5 })
  expect((await forms.parity(late, flu)).parts.compliance).toMatchObject({ value: -5 })
  const { total, parts } = await forms.fixed(limited, flu)
  expect(total).toBe(0)
  expect(parts.compliance).toMatchObject({ evidence: 'no diagnosis: max-turns' })
  expect((await forms.fixed(late, flu)).parts.compliance).toMatchObject({ value: 1 })
})

test('M5 a failure of the patient is an answer', async () => {
  const failing: EpisodeTurn = {
    ...ask([], { understood: 'unclear' }),
    outcome: { kind: 'answered', text: 'Patient agent service error' },
  }
  const { parity, fixed } = await both(episodeOf([failing, ...good.turns]), good)
  expect(parity[0]).toBe(parity[1] + 1)
  expect(fixed[0]).toBe(fixed[1])
})

test('M6 asking the same again and again', async () => {
  const again = ask([], { understood: 'repeated' })
  const padded = episodeOf([...good.turns.slice(0, -1), again, again, again, again, right])
  const { parity, fixed } = await both(padded, good)
  expect(parity[0]).toBe(parity[1] + 4)
  expect(fixed[0]).toBeLessThan(fixed[1] - 0.1)
})

test('M16 a judge’s words out of their form', async () => {
  const said = (words: string, parity: boolean) =>
    takestwoPatient({ parity, judge: judgeOf(words) })(good, flu)
  const rates =
    '{"information_control_rate": 3, "response_completeness_rate": 1, "factual_conflict_rate": 1}'
  expect((await said(rates, true)).total).toBe(5)
  expect((await said(rates, false)).total).toBeNull()
  const counts = '<think>a</think><think>b</think>{"extra": 0, "missing": 9, "opposite": 7}'
  expect((await said(counts, true)).total).toBeNull()
  expect((await said(counts, false)).total).toBeCloseTo(1 / 3, 9)
  const [, bare = ''] = counts.split('b</think>')
  expect((await said(bare, true)).total).toBeCloseTo(1 + 0 - 0.4, 9)
})

test('M17 a thought cut off reaches the doctor as an answer', async () => {
  const cut: EpisodeTurn = {
    ...ask([], { understood: 'unclear' }),
    outcome: { kind: 'answered', text: '<think>I should tell of my' },
  }
  const { parity, fixed } = await both(episodeOf([cut, ...good.turns]), good)
  expect(parity[0]).toBe(parity[1] + 1)
  expect(fixed[0]).toBe(fixed[1])
})

test('M18 a sample that is given up is worth 0, more than a bad one', async () => {
  const sorry = (): EpisodeTurn => asking('fever', 'Name?', 'Sorry, I cannot tell.')
  const bad = episodeOf([sorry(), sorry(), diagnose('')])
  const silent = episodeOf([sorry(), sorry(), { ...diagnose(''), text: ' ' }])
  const { parity, fixed } = await both(silent, bad)
  expect(parity[0]).toBe(0)
  expect(parity[1]).toBe(-9)
  expect(fixed).toEqual([0, 0])
  expect(await value(forms.parity, episodeOf([]))).toBe(0)
  expect((await forms.fixed(episodeOf([]), flu)).total).toBeNull()
})
