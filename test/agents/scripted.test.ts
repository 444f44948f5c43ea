import { expect, test } from 'vitest'
import { scripted } from '../../src/agents/scripted.js'
import { generateCase } from '../../src/cases/generator/generate.js'
import { consultation } from '../../src/envs/consultation.js'
import { rulePatient } from '../../src/envs/patients/rule.js'
import { rollout } from '../../src/rollout.js'
import type { Action } from '../../src/turn.js'
import { familyKnowledge } from '../fixtures/family-knowledge.js'

const knowledge = familyKnowledge()
const env = consultation({ cases: [generateCase(knowledge)], patient: rulePatient({ knowledge }) })
const questions: Action[] = ['Do you have a fever?', 'Do you have a cough?'].map((text) => ({
  kind: 'ask',
  text,
}))

test('plays its list and then gives up', async () => {
  const episode = await rollout(env, scripted(questions))
  expect(episode.turns.map(({ action }) => action)).toEqual([...questions, { kind: 'give-up' }])
  expect(episode.stop).toBe('gave-up')
})

test('stops where its list does', async () => {
  const diagnosis: Action = { kind: 'diagnose', diagnosis: 'gastritis' }
  const episode = await rollout(env, scripted([...questions, diagnosis]))
  expect(episode.stop).toBe('diagnosed')
  expect(episode.turns).toHaveLength(3)
})
