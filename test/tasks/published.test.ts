/** The published environments: what each is made of, what its doctor reads, how it ends, and what it pays. */
import { describe, expect, test } from 'vitest'
import { namedGrammar } from '../../src/agents/grammars/named.js'
import { doctorView } from '../../src/case.js'
import { generateCase } from '../../src/cases/generator/generate.js'
import { questionCase } from '../../src/cases/importers/huatuo.js'
import type { Env, Observation } from '../../src/env.js'
import { diagGym } from '../../src/envs/exams/diaggym.js'
import { intakeWithHistory } from '../../src/envs/history-notes.js'
import { loadKnowledge } from '../../src/knowledge/load.js'
import { namedReward } from '../../src/rewards/named.js'
import { parseRecipe, withPreset } from '../../src/runs/recipe.js'
import { taskOf } from '../../src/runs/task-of-recipe.js'
import {
  ampleBudget,
  type PublishedEnvName,
  publishedEnv,
  publishedEnvs,
} from '../../src/tasks/published.js'
import { make } from '../../src/tasks/registry.js'
import { task } from '../../src/tasks/task.js'

const knowledge = loadKnowledge()
const truth = generateCase(knowledge, { tier: 'easy', split: 'heldout', seed: 0, n: 3 })

type ConsultationName = Exclude<PublishedEnvName, `doctor-agent${string}`>
const consultations = (Object.keys(publishedEnvs) as PublishedEnvName[]).filter(
  (name): name is ConsultationName => publishedEnvs[name].name === 'consultation',
)

const results = async () => ({ text: 'Value: 1', usage: { promptTokens: 1, completionTokens: 1 } })
const released = [diagGym({ complete: results, knowledge, parity: true })]

const open = (name: ConsultationName): Env =>
  make(name, { cases: [truth], ...(name === 'diagagent-parity' ? { exams: released } : {}) })

/** A question or an order, and the conclusion, as each system's doctors write them. */
const replies: Readonly<Record<string, readonly [string, string]>> = {
  'takes-two': [
    'Question: Do you have a fever?',
    'Diagnosis: influenza\nRecommendation: Rest and drink.',
  ],
  'doctoragent-rl': [
    '<think>fever?</think><answer>Question: Do you have a fever?</answer>',
    '<think>flu</think><answer>Diagnosis: influenza\nRecommendation: Rest and drink.</answer>',
  ],
  diagagent: [
    "Current diagnosis: flu\nBased on the patient's initial presentation, the following investigation(s) should be performed: CBC\nReason: fever",
    'The available information is sufficient to make a diagnosis.\n\nDiagnosis: influenza\nReason: fever',
  ],
  grpodx: ['Do you have a fever?', 'Rest.\nFinal diagnosis: influenza'],
}
const repliesOf = (name: string): readonly [string, string] =>
  Object.entries(replies).find(([system]) => name.startsWith(system))?.[1] ?? ['', '']

describe.each(consultations)('%s', (name) => {
  const { maxTurns, grammar, reward, exams, history, pay } = publishedEnvs[name]

  test('plays a consultation of its own replies, and is paid by its reward', async () => {
    const env = open(name)
    const { observation: first } = await env.reset({ seed: 5 })
    const [least, most] = [maxTurns, maxTurns].flat()
    expect(first.turnsLeft).toBeGreaterThanOrEqual(Number(least))
    expect(first.turnsLeft).toBeLessThanOrEqual(Number([maxTurns].flat().at(-1)))
    expect(first.budget).toEqual(ampleBudget(knowledge, maxTurns))
    const [ask, conclude] = repliesOf(name)
    const one = await env.step(ask)
    expect(one.info.facts).toMatchObject(
      exams.length > 0 ? { ordered: 'resulted' } : { asked: ['fever'] },
    )
    const two = await env.step(conclude)
    expect(two).toMatchObject({ terminated: true, info: { stop: 'diagnosed' } })
    const { score } = two.info
    const declared = namedReward(reward, { knowledge })
    expect(declared.rewardName).toContain(reward.replace(/-parity$/, ''))
    expect(one.reward + two.reward).toBeCloseTo(Number(score?.total), 12)
    if (pay === 'turn' && name.endsWith('-parity')) expect(one.reward).toBe(1)
    else expect(one.reward).toBe(0)
    expect(most).toBeGreaterThan(0)
  })

  test('takes orders only where something is examined', async () => {
    const env = open(name)
    await env.reset({ seed: 5 })
    const { info } = await env.step({ kind: 'order', exam: 'CBC' })
    expect(info.facts?.ordered).toBe(exams.length > 0 ? 'resulted' : 'unknown')
  })

  test('shows the history first where its doctor asks nobody', async () => {
    const { observation } = await open(name).reset()
    const intake = history === 'given' ? intakeWithHistory(knowledge)(truth) : doctorView(truth)
    expect(observation.intake).toEqual(intake)
    const [, user] = namedGrammar(grammar).render(observation)
    if (history === 'given') {
      expect(user?.content).toMatch(
        /^- Patient Information: .*\n- Chief Complaint: .*\n- History of Present Illness: /,
      )
      for (const { name: dx, aliases } of truth.gold.dx)
        for (const one of [String(dx.en), ...aliases])
          expect(user?.content.toLowerCase()).not.toContain(one.toLowerCase())
    }
  })
})

describe('the stop rules', () => {
  const unreadable = async (name: ConsultationName) => {
    const env = open(name)
    await env.reset({ seed: 5 })
    for (let turns = 1; ; turns++) {
      const step = await env.step('<answer></answer>')
      if (step.terminated || step.truncated) return { turns, stop: step.info.stop }
    }
  }

  test.each<[ConsultationName, object]>([
    // The seed draws 2 to 10 turns.
    ['doctoragent-rl', { stop: 'max-turns' }],
    ['diagagent', { turns: 2, stop: 'invalid-action' }],
    ['diagagent-parity', { turns: 1, stop: 'invalid-action' }],
  ])('%s, of replies that cannot be read', async (name, expected) => {
    expect(await unreadable(name)).toMatchObject(expected)
  })

  test.each<[ConsultationName, number]>([
    ['takes-two', 10],
    ['diagagent', 12],
    ['grpodx', 5],
    ['grpodx-readme', 5],
  ])('%s ends after %i turns', async (name, turns) => {
    const env = open(name)
    await env.reset()
    const [ask] = repliesOf(name)
    for (let turn = 1; turn < turns; turn++)
      expect(await env.step(ask)).toMatchObject({ terminated: false, truncated: false })
    expect(await env.step(ask)).toMatchObject({ truncated: true, info: { stop: 'max-turns' } })
  })

  test('DoctorAgent-RL draws the turns by the seed, from 2 to 10, the same for all siblings', async () => {
    const drawn = async (seed: number) =>
      (await open('doctoragent-rl').reset({ seed })).observation.turnsLeft
    const all = await Promise.all(Array.from({ length: 200 }, (_, seed) => drawn(seed)))
    expect([...new Set(all)].sort((a, b) => a - b)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(await Promise.all(all.slice(0, 20).map((_, seed) => drawn(seed)))).toEqual(
      all.slice(0, 20),
    )
    const env = open('doctoragent-rl')
    const { observation } = await env.reset({ seed: 7 })
    await env.step({ kind: 'ask', text: 'Do you have a fever?' })
    const other = open('doctoragent-rl')
    const restored = await other.restore?.(JSON.parse(JSON.stringify(env.save?.())))
    expect(restored?.observation.turnsLeft).toBe(observation.turnsLeft - 1)
  })
})

describe('DoctorAgent-RL pays by turn', () => {
  test('as released: +1 for an answer, -2 for a repeat and for a bad form, -5 at the limit', async () => {
    const env = open('doctoragent-rl-parity')
    const { observation } = await env.reset({ seed: 5 })
    const limit = observation.turnsLeft
    expect(limit).toBeGreaterThan(4)
    const ask = (text: string) => env.step(`<think>.</think><answer>Question: ${text}</answer>`)
    const paid = [
      (await ask('Do you have a fever?')).reward,
      (await ask('Do you have a fever?')).reward,
      (await env.step('no tags')).reward,
    ]
    expect(paid).toEqual([1, -2, -2])
    let last = 0
    for (let turn = 4; turn <= limit; turn++) last = (await ask('Do you cough?')).reward
    // The release goes on paying an episode at its limit, every other step until its loop ends.
    expect(last).toBeLessThanOrEqual(-5)
  })

  test('and its scores carry the same numbers by turn', async () => {
    const env = open('doctoragent-rl-parity')
    await env.reset({ seed: 5 })
    const [ask, conclude] = repliesOf('doctoragent-rl')
    const one = await env.step(ask)
    const two = await env.step(conclude)
    expect(two.info.score?.turns).toEqual([one.reward, two.reward])
  })
})

describe('questions', () => {
  test('says which cases it needs', () =>
    expect(() => (make as (name: string) => unknown)('doctor-agent')).toThrow(
      /`cases` for make\('doctor-agent'\).*cases import --format huatuo-rl/,
    ))

  test.each(['doctor-agent', 'doctor-agent-ppo-parity'] as const)('%s', async (name) => {
    const asked = questionCase('Which disease?', 'influenza')
    const env = make(name, { cases: [asked] })
    await env.reset()
    const step = await env.step('## Thinking\n\nFever.\n\n## Final Response\n\ninfluenza')
    expect(step).toMatchObject({ terminated: true, reward: 1 })
  })
})

describe('a recipe', () => {
  test('takes from a published environment what it does not say itself', async () => {
    const { env, reward } = parseRecipe('env: { preset: takes-two }', 'r.yaml')
    expect({ env, reward }).toEqual({
      env: { preset: 'takes-two', name: 'consultation', maxTurns: 10 },
      reward: 'takestwo-doctor',
    })
    const own = parseRecipe('env: { preset: takes-two, maxTurns: 15 }\nreward: default', 'r.yaml')
    expect(own).toMatchObject({ env: { maxTurns: 15 }, reward: 'default' })
    expect(parseRecipe('', 'r.yaml', ['env.preset=diagagent']).env).toMatchObject({ maxTurns: 12 })
    const asked = 'models: { patient: { model: p, base-url: "http://h/v1" } }'
    const prompts = (preset: string, more = '') =>
      parseRecipe(`env: { preset: ${preset}${more} }\n${asked}`, 'r.yaml').models?.patient?.prompts
    expect(prompts('takes-two')).toBe('takes-two')
    expect(prompts('doctoragent-rl-parity')).toBe('doctoragent-rl')
    expect(prompts('takes-two', ', patient: skin')).toBeUndefined()
    expect(prompts('diagagent')).toBeUndefined()
    const sidecar = parseRecipe('backend: sidecar\nenv: { preset: diagagent }', 'r.yaml')
    expect(sidecar.policy?.grammar).toBe('diagagent')
    expect(withPreset(parseRecipe('', 'r.yaml'), 'grpodx')).toMatchObject({
      ...{ reward: 'grpodx-head', env: { preset: 'grpodx', maxTurns: 5 } },
    })
  })

  test('is refused with another name, or a range that is none', () => {
    expect(() => parseRecipe('env: { preset: takestwo }', 'r.yaml')).toThrow(/env\.preset/)
    expect(() => parseRecipe('env: { maxTurns: [3, 2] }', 'r.yaml')).toThrow(/env\.maxTurns: /)
    expect(() => publishedEnv('takestwo')).toThrow(/did you mean `takes-two`/)
  })

  test('opens a task of it, whose doctors order nothing where nothing is examined', async () => {
    const { makeEnv, actionSpace, agents, ceiling, heldOut } = await taskOf(
      parseRecipe('env: { preset: grpodx }\ncases: { heldOut: 3 }', 'r.yaml'),
    )
    expect(actionSpace.actions.some(({ kind }) => kind === 'order')).toBe(false)
    expect(ceiling.name).toBe('oracle')
    const env = makeEnv()
    let { observation } = await env.reset({ options: { case: heldOut[0] } })
    const doctor = agents.oracle?.() as (seen: Observation, context: object) => unknown
    for (let turn = 0; turn < 5; turn++) {
      const { action } = (await doctor(observation, { seed: 0 })) as { action: { kind: string } }
      expect(action.kind).not.toBe('order')
      const step = await env.step(action as never)
      observation = step.observation
      if (step.terminated || step.truncated) break
    }
    expect(observation.turns.length).toBeGreaterThan(1)
    const { actionSpace: orders } = await task({ preset: 'diagagent', heldOut: 2 })
    expect(orders.actions.some(({ kind }) => kind === 'ask')).toBe(false)
  })
})
