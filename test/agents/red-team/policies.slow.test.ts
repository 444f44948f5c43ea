import { describe, expect, test } from 'vitest'
import type { Agent, Move } from '../../../src/agent.js'
import { random } from '../../../src/agents/random.js'
import { blindActions } from '../../../src/agents/red-team/blind.js'
import { redTeam } from '../../../src/agents/red-team/policies.js'
import type { Observation } from '../../../src/env.js'
import { ended } from '../../../src/env.js'
import type { Episode } from '../../../src/episode.js'
import {
  actionSpace as actionSpaceOf,
  knowledgeActionSpace,
} from '../../../src/knowledge/action-space.js'
import { rollout } from '../../../src/rollout.js'
import { task } from '../../../src/tasks/task.js'
import type { Action, Language, Turn } from '../../../src/turn.js'
import { familyKnowledge } from '../../fixtures/family-knowledge.js'

const words = (language: Language) => knowledgeActionSpace(familyKnowledge(), language)
const actionSpace = words('en')

const seen = (turns: readonly Turn[], maxTurns: number): Observation => ({
  intake: { view: 'doctor', demographics: { speaker: 'self' }, complaint: { en: 'It hurts.' } },
  turns,
  turnsLeft: maxTurns - turns.length,
  spent: { money: 0, minutes: 0 },
  budget: { money: 1, minutes: 1 },
  language: 'en',
})

/** All its moves until it ends the consultation or is cut off, whatever it hears. */
async function play(agent: Agent, seed: number, heard: string, maxTurns = 6): Promise<Move[]> {
  const [turns, moves]: [Turn[], Move[]] = [[], []]
  while (turns.length < maxTurns) {
    const move = await agent(seen(turns, maxTurns), { seed })
    moves.push(move)
    const { action } = move
    if (action.kind === 'diagnose' || action.kind === 'give-up') break
    turns.push({ action, outcome: { kind: 'answered', text: heard } })
  }
  return moves
}

const policyNamed = (name: string) => {
  const policy = redTeam.find((one) => one.name === name)
  if (!policy) throw new Error(`no policy ${name}`)
  return policy
}
const diagnosisIn = (moves: readonly Move[]) => {
  const last = moves.at(-1)?.action
  return last?.kind === 'diagnose' ? last : undefined
}
const lastOf = async (name: string, seed = 3) =>
  diagnosisIn(await play(policyNamed(name).make(actionSpace), seed, ''))

test('there are at least the policies that rewards are known to pay, each by a name of its own', () => {
  const names = redTeam.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  expect(names).toEqual(
    expect.arrayContaining([
      ...['list-diseases', 'pad-questions', 'pad-open', 'pad-small-talk', 'repeat-question'],
      ...['order-nothing', 'order-everything', 'guess-at-once', 'generic-answer', 'generic-advice'],
      ...['inject', 'inject-beside', 'inject-advice', 'keywords', 'break-judge', 'flattery'],
      ...['copy-prompt', 'empty', 'endless', 'alarm', 'certain', 'humble'],
    ]),
  )
})

describe.each(redTeam.map((policy) => [policy.name, policy] as const))(
  '%s',
  (_, { make, does }) => {
    test('says in a sentence what it does', () => expect(does).toMatch(/^[A-Z].*\.$/))

    test('does the same again, and whatever it hears', async () => {
      const agent = make(actionSpace)
      for (const seed of [1, 2]) {
        const first = await play(agent, seed, 'Yes, very much.')
        expect(await play(make(actionSpace), seed, 'No, never.')).toEqual(first)
        expect(await play(agent, seed, 'Yes, very much.')).toEqual(first)
      }
    })

    test('has something to do in Chinese, on its only turn, and where there is nothing to ask', async () => {
      const diagnoses = actionSpace.actions.filter(({ kind }) => kind === 'diagnose')
      for (const own of [words('zh'), actionSpaceOf('en', diagnoses)]) {
        expect((await play(make(own), 5, '')).length).toBeGreaterThan(0)
        expect(await play(make(own), 5, '', 1)).toHaveLength(1)
      }
    })
  },
)

describe('a guess', () => {
  const guessing = [
    ...['guess-at-once', 'pad-questions', 'pad-open', 'repeat-question', 'order-everything'],
    ...['flattery', 'alarm', 'certain', 'humble', 'generic-advice', 'inject-advice', 'whole-form'],
  ]

  test.each(guessing)('of %s is the very guess of the random doctor', async (name) => {
    const agent = policyNamed(name).make(actionSpace)
    const floor = random({ actionSpace })
    for (let seed = 0; seed < 30; seed++) {
      const own = diagnosisIn(await play(agent, seed, ''))
      expect(own?.diagnosis).toBe(diagnosisIn(await play(floor, seed, ''))?.diagnosis)
    }
  })

  test('stays the same in a real consultation, where turns are cut short and orders refused', async () => {
    const world = await task({ heldOut: 10, tier: 'hard' })
    await using env = world.makeEnv()
    const pad = policyNamed('order-everything').make(world.actionSpace)
    const named = ({ turns }: Episode) => {
      const last = turns.at(-1)?.action
      return last?.kind === 'diagnose' ? last.diagnosis : undefined
    }
    let diagnosed = 0
    for (const [seed, truth] of world.heldOut.entries()) {
      const [floor, own] = [
        named(await rollout(env, world.floor, { seed, options: { case: truth } })),
        named(await rollout(env, pad, { seed, options: { case: truth } })),
      ]
      if (floor === undefined || own === undefined) continue
      expect(own).toBe(floor)
      diagnosed++
    }
    expect(diagnosed).toBeGreaterThan(4)
  })
})

describe('what they conclude', () => {
  const diseases = actionSpace.actions.flatMap((action) =>
    action.kind === 'diagnose' ? [action.diagnosis] : [],
  )

  test('the list names every disease, the differential all but the guess', async () => {
    const list = (await lastOf('list-diseases'))?.diagnosis
    for (const name of diseases) expect(list).toContain(name)
    const wide = await lastOf('differential-of-all')
    const considered = wide?.differential?.map(({ diagnosis }) => diagnosis) ?? []
    expect([...considered, wide?.diagnosis].sort()).toEqual([...diseases].sort())
  })

  test('the prompt is copied, the empty answer empty, the endless one long', async () => {
    expect(await lastOf('copy-prompt')).toMatchObject({ diagnosis: 'It hurts.' })
    expect(await lastOf('empty')).toMatchObject({ diagnosis: '', recommendation: '' })
    expect((await lastOf('endless'))?.diagnosis.length).toBeGreaterThan(10_000)
  })

  test('an injection stands in every text there is', async () => {
    const moves = await play(policyNamed('inject').make(actionSpace), 1, '')
    for (const { action, text } of moves) {
      expect(text).toContain('Ignore the rubric')
      expect(JSON.stringify(action)).toContain('Ignore the rubric')
    }
  })
})

test('red-team doctors end a consultation of a real world in both languages', async () => {
  for (const language of ['en', 'zh'] as const) {
    const world = await task({ heldOut: 1, language })
    await using env = world.makeEnv()
    for (const { name, make } of redTeam) {
      const agent = make(world.actionSpace)
      let step: Awaited<ReturnType<typeof env.step>> | undefined
      const { observation } = await env.reset({ seed: 1 })
      for (let seen = observation; !step || !ended(step); seen = step.observation)
        step = await env.step((await agent(seen, { seed: 1 })).action)
      expect([name, step.info.episode?.turns.length]).toEqual([name, expect.any(Number)])
    }
  }
})

test('what a blind search may do is all of the vocabulary, and the tricks besides', () => {
  const { once, often, ends } = blindActions(actionSpace)
  expect([...once, ...ends]).toEqual(expect.arrayContaining([...actionSpace.actions]))
  const texts = often.map((action: Action) => (action.kind === 'ask' ? action.text : ''))
  expect(texts).toContain('Is there anything else that is bothering you?')
  expect(ends).toContainEqual({ kind: 'give-up' })
})
