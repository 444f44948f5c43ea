import { describe, expect, test } from 'vitest'
import type { Agent } from '../../src/agent.js'
import { oracle } from '../../src/agents/oracle.js'
import { random } from '../../src/agents/random.js'
import { primary } from '../../src/case.js'
import { caseSource } from '../../src/cases/generate.js'
import type { Observation } from '../../src/env.js'
import { consultation } from '../../src/envs/consultation.js'
import { recordExams } from '../../src/envs/exams/record.js'
import { rulePatient } from '../../src/envs/patients/rule.js'
import type { Episode } from '../../src/episode.js'
import { diagnosisOf } from '../../src/episode.js'
import { rollout } from '../../src/rollout.js'
import type { TierName } from '../../src/tiers.js'
import { tiers } from '../../src/tiers.js'
import type { Action, Language, Turn } from '../../src/turn.js'
import { knowledgeVocabulary } from '../../src/vocabulary.js'
import { familyKnowledge } from '../fixtures/family-knowledge.js'

const knowledge = familyKnowledge()

/** What a doctor sees after some turns. */
const seen = (turns: readonly Turn[], more: Partial<Observation> = {}): Observation => ({
  intake: {
    view: 'doctor',
    demographics: { age: { v: 30, unit: 'year' }, sex: 'F', speaker: 'self' },
    complaint: { en: 'I keep coughing.', zh: '我一直咳。' },
  },
  turns,
  turnsLeft: 10 - turns.length,
  spent: { money: 0, minutes: 0 },
  budget: { money: 300, minutes: 2880 },
  language: 'en',
  ...more,
})
const answered = (action: Action, text: string): Turn => ({
  action,
  outcome: { kind: 'answered', text },
})

async function play(agent: Agent, tier: TierName, count: number, language: Language = 'en') {
  const { money, minutes, maxTurns } = tiers[tier]
  const cases = caseSource(knowledge, { tier, split: 'heldout' })
  const env = consultation({
    cases,
    patient: rulePatient({ knowledge }),
    exams: [recordExams({ knowledge })],
    language,
    money,
    minutes,
    maxTurns,
  })
  let right = 0
  const episodes: Episode[] = []
  for (let seed = 0; seed < count; seed++) {
    const episode = await rollout(env, agent, { seed })
    const said = diagnosisOf(episode)?.diagnosis
    if (said === primary(cases(seed).gold).name[language]) right++
    episodes.push(episode)
  }
  return { accuracy: right / count, episodes }
}

describe('the oracle', () => {
  test('asks or orders, never twice the same, and ends every consultation with a diagnosis', async () => {
    const { episodes } = await play(oracle({ knowledge, ...tiers.hard }), 'hard', 60)
    for (const { stop, turns } of episodes) {
      expect(stop).toBe('diagnosed')
      const said = turns.map(({ action }) => JSON.stringify(action))
      expect(new Set(said).size).toBe(said.length)
    }
  })

  test.each(['zh', 'en'] as const)('beats the random doctor by far in %s', async (language) => {
    const vocabulary = knowledgeVocabulary(knowledge, language)
    const best = await play(oracle({ knowledge, ...tiers.standard }), 'standard', 150, language)
    const floor = await play(random({ vocabulary }), 'standard', 150, language)
    expect(best.accuracy).toBeGreaterThan(0.8)
    expect(best.accuracy - floor.accuracy).toBeGreaterThan(0.5)
  })

  test('does better with examinations than with questions only', async () => {
    const both = await play(oracle({ knowledge }), 'easy', 200)
    const questions = await play(oracle({ knowledge, questionsOnly: true }), 'easy', 200)
    expect(both.accuracy).toBeGreaterThan(questions.accuracy)
    const orders = (episodes: readonly Episode[]) =>
      episodes.flatMap(({ turns }) => turns).filter(({ action }) => action.kind === 'order').length
    expect(orders(questions.episodes)).toBe(0)
    expect(orders(both.episodes)).toBeGreaterThan(0)
  })

  test('says the same in the same situation', () => {
    const agent = oracle({ knowledge, ...tiers.standard })
    expect(agent(seen([]), { seed: 1 })).toEqual(agent(seen([]), { seed: 2 }))
  })

  test('diagnoses with a recommendation when one turn is left or enough is known', async () => {
    const last = await oracle({ knowledge })(seen([], { turnsLeft: 1 }), { seed: 0 })
    expect(last.action).toMatchObject({ kind: 'diagnose', diagnosis: 'acute bronchitis' })
    const bold = await oracle({ knowledge, threshold: 0.3 })(seen([]), { seed: 0 })
    expect(bold.action).toMatchObject({
      kind: 'diagnose',
      recommendation: 'Rest and drink plenty',
    })
  })

  test('diagnoses when nothing is worth asking', async () => {
    const { action } = await oracle({ knowledge, minGain: 10 })(seen([]), { seed: 0 })
    expect(action.kind).toBe('diagnose')
  })

  test('orders nothing that costs more money or time than is left', async () => {
    const { action: free } = await oracle({ knowledge })(seen([]), { seed: 0 })
    expect(free).toEqual({ kind: 'order', exam: 'chest auscultation' })
    const poor = seen([], { spent: { money: 291, minutes: 0 } })
    expect((await oracle({ knowledge })(poor, { seed: 0 })).action).not.toEqual(free)
    const late = seen([], { spent: { money: 0, minutes: 2875 } })
    expect((await oracle({ knowledge })(late, { seed: 0 })).action).not.toEqual(free)
  })

  test('takes the sentence of a closed gate for the truth about the gate', async () => {
    const fever = seen([], {
      intake: { ...seen([]).intake, complaint: { en: 'I have been running a temperature.' } },
    })
    const ask = (id: string): Action => ({
      kind: 'ask',
      text: knowledge.finding.get(id)?.ask.en[0] ?? '',
    })
    const agent = oracle({ knowledge, ...tiers.hard, questionsOnly: true, threshold: 1 })
    const told = [answered(ask('sputum'), 'I do not cough.')]
    const asked = new Set<string>()
    // Whatever it asks from here on, a cough and what hangs from it are settled.
    for (let turn = 0; turn < 8; turn++) {
      const { action } = await agent({ ...fever, turns: told }, { seed: 0 })
      if (action.kind !== 'ask') break
      asked.add(action.text)
      told.push(answered(action, 'I could not really say.'))
    }
    expect(asked.size).toBeGreaterThan(3)
    for (const id of ['cough', 'sputum', 'bloody-sputum', 'foul-sputum'])
      expect(asked.has(knowledge.finding.get(id)?.ask.en[0] ?? '')).toBe(false)
  })
})
