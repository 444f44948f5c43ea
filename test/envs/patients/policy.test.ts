import { describe, expect, test } from 'vitest'
import { consultation } from '../../../src/envs/consultation.js'
import { policyPatient } from '../../../src/envs/patients/policy.js'
import { replySpace } from '../../../src/knowledge/action-space.js'
import type { Patient, Reply } from '../../../src/patient.js'
import { rollout } from '../../../src/rollout.js'
import { envChecks } from '../../../src/testing/env.js'
import { episodeSegments } from '../../../src/trainers/batches/segments.js'
import { embedded } from '../../../src/trainers/embedded/embedded.js'
import { tinyCase } from '../../fixtures/tiny-case.js'

const plain: Patient = (utterance) => ({
  text: `You ask: ${utterance}`,
  understood: 'answered',
  questions: 1,
  asked: ['fever'],
  told: [{ finding: 'fever', state: 'present' }],
})
const styles = {
  answers: (reply: Reply) => reply,
  shrugs: (reply: Reply): Reply => ({ ...reply, text: 'I cannot say.', told: [] }),
}
const backend = embedded({ actionSpace: replySpace('en', Object.keys(styles)) })
const env = (seed = 1) =>
  consultation({
    cases: [tinyCase()],
    patient: policyPatient({ policy: backend.sampler(), patient: plain, styles, seed }),
  })

const ask = (text: string) => ({ kind: 'ask', text }) as const
const end = { kind: 'give-up' } as const

describe('a consultation with a policy patient keeps the env contract', () => {
  for (const { name, run } of envChecks(env, { actions: [ask('Fever?'), ask('Cough?'), end] }))
    test(name, run)
})

test('its draws are one stream of the patient, a token for each reply', async () => {
  const script = [ask('Fever?'), ask('Cough?'), ask('Since when?'), end]
  const episode = await rollout(env(), ({ turns }) => ({ action: script[turns.length]! }))
  const draws = episode.turns.flatMap((turn) => turn.draws ?? [])
  expect(draws.map(({ role, policy, stream }) => [role, policy, stream])).toEqual(
    script.slice(0, 3).map(() => ['patient', 'patient', 0]),
  )
  expect(episodeSegments(episode, 1, 'g').segments).toEqual([])
  const { segments, forks } = episodeSegments(episode, 1, 'g', { role: 'patient' })
  expect([segments.length, forks]).toEqual([1, 0])
  expect(segments[0]?.mask.reduce((sum, one) => sum + one, 0)).toBe(3)
  const replies = episode.turns.slice(0, 3).map(({ outcome }) => 'text' in outcome && outcome.text)
  for (const [t, { tokens }] of draws.entries())
    expect(replies[t]).toMatch(tokens[0] === 0 ? /^You ask/ : /^I cannot say/)
  expect(JSON.stringify(episode.turns[0]?.outcome)).not.toContain('style')
})

test('siblings with the same case differ in its draws', async () => {
  const said = new Set<string>()
  for (let seed = 0; seed < 20; seed++) {
    await using one = env(seed)
    await one.reset()
    said.add(JSON.stringify((await one.step(ask('Fever?'))).observation.turns[0]?.outcome))
  }
  expect(said.size).toBe(2)
})

test('a style that does not exist is the fault of the patient', async () => {
  const odd = policyPatient({
    policy: () => ({ action: ask('sings') }),
    patient: plain,
    styles,
    seed: 0,
  })
  await using one = consultation({ cases: [tinyCase()], patient: odd })
  await one.reset()
  await expect(one.step(ask('Fever?'))).rejects.toThrow(
    'patient: Expected a style of answers, shrugs, got `sings` from the policy',
  )
})

test('a space of fewer than two replies is refused', () => {
  expect(() => replySpace('en', ['only'])).toThrow('Expected at least two replies')
})
