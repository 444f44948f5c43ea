/** Every implementation that ships, held to its interface's suite; backends are in trainers/embedded, rewards in rewards. */
import { describe, expect, test } from 'vitest'
import { agentFor } from '../src/agent.js'
import type { Case } from '../src/case.js'
import { caseSource } from '../src/cases/generator/generate.js'
import { questionCase } from '../src/cases/importers/huatuo.js'
import type { Observation } from '../src/env.js'
import { ended } from '../src/env.js'
import { recordExams } from '../src/envs/exams/record.js'
import { rulePatient } from '../src/envs/patients/rule.js'
import { timeLimit, wrap } from '../src/envs/wrappers.js'
import { loadKnowledge } from '../src/knowledge/load.js'
import { personas } from '../src/persona.js'
import { makeConsultation, make as makeEnv } from '../src/tasks/registry.js'
import type { Task } from '../src/tasks/task.js'
import { task } from '../src/tasks/task.js'
import { agentChecks } from '../src/testing/agent.js'
import type { Check } from '../src/testing/check.js'
import { envChecks } from '../src/testing/env.js'
import { examChecks } from '../src/testing/exam.js'
import { patientChecks } from '../src/testing/patient.js'
import { formatHuatuoReply } from '../src/text/huatuo-reply.js'
import { embedded } from '../src/trainers/embedded/embedded.js'
import type { Action, Language } from '../src/turn.js'

const knowledge = loadKnowledge()
const languages: readonly Language[] = ['zh', 'en']
const tiers = ['easy', 'hard'] as const

const hold = (checks: readonly Check[]): void => {
  for (const { name, run } of checks) test(name, run)
}

const casesOf = (tier: 'easy' | 'hard', count: number): readonly Case[] => {
  const make = caseSource(knowledge, { tier })
  return Array.from({ length: count }, (_, n) => make(n))
}

const questionsIn = (language: Language): readonly string[] =>
  knowledge.findings.filter((_, i) => i % 4 === 0).flatMap(({ ask }) => ask[language].slice(0, 1))

/** A child whose parent is absent is absent too, though the case may not list it. */
const implied = (finding: string, truth: Case): boolean => {
  const parent = knowledge.finding.get(finding)?.parent
  const above = truth.findings.find(({ id }) => id === parent?.finding)
  return parent !== undefined && above?.state !== parent.when
}

describe.each(tiers)('rule patient, %s', (tier) => {
  describe.each(languages)('%s', (language) => {
    hold(
      patientChecks(rulePatient({ knowledge }), {
        cases: casesOf(tier, 6),
        questions: questionsIn(language),
        language,
        implied,
      }),
    )
  })
})

describe.each(Object.entries(personas))('rule patient, %s', (_, persona) => {
  describe.each(['self', 'caregiver', 'interpreter'] as const)('%s', (speaker) => {
    const language = languages[speaker.length % languages.length]!
    hold(
      patientChecks(rulePatient({ knowledge, persona }), {
        cases: casesOf('hard', 1).map((truth) => ({
          ...truth,
          demographics: { ...truth.demographics, speaker },
        })),
        questions: questionsIn(language).filter((_, i) => i % 8 === 0),
        language,
        implied,
      }),
    )
  })
})

describe.each(languages)('record examinations, %s', (language) => {
  hold(
    examChecks(recordExams({ knowledge }), {
      cases: casesOf('easy', 6),
      orders: knowledge.exams.map(({ name }) => name[language]),
      unknown: ['crystal ball', '水晶球', ''],
      language,
    }),
  )
})

describe.each(languages)('the consultation, %s', (language) => {
  const [truth] = casesOf('hard', 1) as [Case]
  const actions: Action[] = [
    { kind: 'ask', text: questionsIn(language)[0] ?? '' },
    { kind: 'order', exam: knowledge.exams[0]?.name[language] ?? '' },
    { kind: 'ask', text: language === 'zh' ? '还有什么不舒服吗？' : 'Anything else?' },
    { kind: 'diagnose', diagnosis: 'no idea' },
  ]
  const make = () => makeConsultation({ tier: 'hard', language })
  const material = { actions, options: { case: truth }, truth }
  describe('plain', () => hold(envChecks(make, material)))
  describe('wrapped in a time limit', () =>
    hold(envChecks(() => wrap(make(), timeLimit(3)), material)))
})

describe.each(['takes-two', 'doctoragent-rl-parity', 'diagagent', 'grpodx-readme'] as const)(
  'the published environment %s',
  (name) => {
    const truth = caseSource(knowledge, { tier: 'easy' })(3)
    const ask: Action = { kind: 'ask', text: 'Do you have a fever?' }
    const actions: readonly Action[] = [
      ...[ask, ask, { kind: 'order', exam: 'CBC' } as const],
      { kind: 'diagnose', diagnosis: 'influenza', recommendation: 'Rest.' },
    ]
    hold(envChecks(() => makeEnv(name), { actions, options: { case: truth }, truth }))
  },
)

describe.each(languages)('the question, %s', (language) => {
  const truth = questionCase('What causes scurvy?', 'Vitamin C deficiency')
  const cases = [truth, questionCase('What causes rickets?', 'Vitamin D deficiency')]
  const make = () => makeEnv('question', { cases, language })
  const options = { case: truth }
  describe.each<[string, Action | string]>([
    ['answered', { kind: 'diagnose', diagnosis: 'Vitamin C deficiency' }],
    ['answered in text', formatHuatuoReply('Gums bleed.', 'Vitamin C deficiency')],
    ['answered with a question', { kind: 'ask', text: 'Do your gums bleed?' }],
    ['not answered', { kind: 'give-up' }],
  ])('%s', (_, action) => hold(envChecks(make, { actions: [action], options, truth })))
})

/** What a doctor meets before the first, in the middle, and at the last turn of some consultations. */
async function observationsIn({ actionSpace, makeEnv, heldOut }: Task): Promise<Observation[]> {
  const observations: Observation[] = []
  for (const truth of heldOut) {
    const env = makeEnv()
    let { observation } = await env.reset({ options: { case: truth } })
    observations.push(observation)
    for (const action of actionSpace.actions) {
      if (observation.turnsLeft === 1) break
      const step = await env.step(action)
      if (ended(step)) break
      observation = step.observation
      if ([5, 1].includes(observation.turnsLeft)) observations.push(observation)
    }
  }
  return observations
}

describe.each(languages)('doctors, %s', async (language) => {
  const whole = await task({ language, heldOut: 4 })
  const { actionSpace } = whole
  const observations = await observationsIn(whole)
  // It plans small clinics only, below.
  const { dp: _, ...agents } = whole.agents
  const [truth] = whole.heldOut as [Case, ...Case[]] // four of them

  test('there is something to look at', () => expect(observations.length).toBeGreaterThan(8))

  describe.each(Object.entries(agents))('%s', (_, agent) =>
    hold(agentChecks(agentFor(agent(), truth), { observations })),
  )

  describe('dp', async () => {
    const small = await task({ language, heldOut: 3, clinic: ['headache'], maxTurns: 2 })
    const agent = small.agents.dp as NonNullable<typeof small.agents.dp> // every generated setting has it
    hold(agentChecks(agentFor(agent(), truth), { observations: await observationsIn(small) }))
  })

  describe('embedded', () =>
    hold(agentChecks(embedded({ actionSpace }).sampler(), { observations })))
})
