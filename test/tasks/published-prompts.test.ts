/** The prompts of the published environments beside facts of the published ones (`test/golden/generate-environments.py`). */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { namedGrammar } from '../../src/agents/grammars/named.js'
import { intakeText } from '../../src/agents/intake.js'
import { generateCase } from '../../src/cases/generator/generate.js'
import type { Message } from '../../src/chat.js'
import { loadKnowledge } from '../../src/knowledge/load.js'
import { publishedEnvs } from '../../src/tasks/published.js'
import { make } from '../../src/tasks/registry.js'

interface Facts {
  readonly roles: readonly string[]
  readonly characters: readonly number[]
  readonly marks: readonly string[]
  readonly missing: readonly string[]
  readonly codeFences: number
  readonly turns: number | readonly number[]
  readonly report?: string
  readonly turnNotice?: string
  readonly description?: string
}

const facts: Readonly<
  Record<'diagagent' | 'doctoragent-rl' | 'takes-two' | 'grpodx' | 'grpodx-readme', Facts>
> = JSON.parse(readFileSync(new URL('../golden/environments.json', import.meta.url), 'utf8'))

const knowledge = loadKnowledge()
const truth = generateCase(knowledge, { tier: 'easy', split: 'heldout', seed: 0, n: 3 })

/** The prompt before the first turn, and what is added by a reply and its answer. */
async function promptsOf(name: keyof typeof facts, reply: string) {
  const env = make(name, { cases: [truth] })
  const grammar = namedGrammar(publishedEnvs[name].grammar)
  const { observation } = await env.reset({ seed: 5 })
  const first = grammar.render(observation)
  const step = await env.step(reply)
  const next = grammar.render(step.observation)
  expect(next.slice(0, first.length)).toEqual(first)
  const outcome = step.observation.turns[0]?.outcome
  const heard = outcome && 'text' in outcome ? outcome.text : ''
  return { observation, first, added: next.slice(first.length), heard }
}

const inOrder = (messages: readonly Message[], marks: readonly string[]): readonly string[] => {
  const text = messages.map(({ content }) => content).join('\n')
  // As in the script: labels of a reply count where they begin a line.
  const place = (mark: string) =>
    /^(?:Question|Diagnosis|Recommendation):$/.test(mark)
      ? text.indexOf(`\n${mark}`)
      : text.indexOf(mark)
  return marks.filter((mark) => place(mark) >= 0).sort((a, b) => place(a) - place(b))
}

const ask = 'Question: Do you have a fever?'

describe('the prompt', () => {
  test('of DiagAgent has the published roles, templates and report', async () => {
    const { roles, marks, missing, codeFences, turns, report } = facts.diagagent
    const order = marks[1]
    const { first, added, heard } = await promptsOf(
      'diagagent',
      `${marks[0]} flu\n${order} CBC\nReason: x`,
    )
    expect(missing).toEqual([])
    expect(first.map(({ role }) => role)).toEqual([...roles, 'user'])
    expect(inOrder(first.slice(0, 1), marks)).toEqual(marks)
    expect(first[0]?.content.split('```')).toHaveLength(codeFences + 1)
    expect(added).toEqual([
      { role: 'assistant', content: `${marks[0]} undetermined\n${order} CBC` },
      { role: 'user', content: `${report}${heard}` },
    ])
    expect(publishedEnvs.diagagent.maxTurns).toBe(turns)
  })

  test('of DoctorAgent-RL has the published role, sections and turn notice', async () => {
    const { roles, marks, turns, turnNotice = '' } = facts['doctoragent-rl']
    const sections = marks.filter((mark) => !mark.startsWith('<'))
    const { observation, first, added, heard } = await promptsOf(
      'doctoragent-rl',
      `<think>.</think><answer>${ask}</answer>`,
    )
    expect(first.map(({ role }) => role)).toEqual(roles)
    expect(inOrder(first, sections)).toEqual(sections)
    for (const tag of ['<think>', '</think>', '<answer>', '</answer>']) {
      expect(marks).toContain(tag)
      expect(first[0]?.content).toContain(tag)
    }
    // Three line breaks, by which a data script of the release splits.
    expect(first[0]?.content).toContain('\n\n\nDecide next action:')
    const notice = turnNotice.replace('{}', '1').replace('{}', String(observation.turnsLeft))
    expect(added).toEqual([
      { role: 'assistant', content: `<answer>${ask}</answer>` },
      { role: 'user', content: `${heard}\n\n${notice}` },
    ])
    expect(publishedEnvs['doctoragent-rl'].maxTurns).toEqual(turns)
  })

  test('of TakesTwo has the published role and sections, and is read by the published converter', async () => {
    const { roles, marks, turns, description = '' } = facts['takes-two']
    const { observation, first, added, heard } = await promptsOf('takes-two', ask)
    expect(first.map(({ role }) => role)).toEqual(roles)
    expect(inOrder(first, marks)).toEqual(marks)
    expect(first[0]?.content.endsWith('Decide next action:')).toBe(true)
    expect(first[0]?.content).not.toMatch(/<think>|<answer>|Turn \d/)
    const found = new RegExp(description, 's').exec(first[0]?.content ?? '')?.[1]
    expect(found?.trim()).toBe(intakeText(observation.intake, 'en'))
    expect(added).toEqual([
      { role: 'assistant', content: ask },
      { role: 'user', content: heard },
    ])
    expect(publishedEnvs['takes-two'].maxTurns).toBe(turns)
  })

  test.each(['grpodx', 'grpodx-readme'] as const)(
    'of %s has the published role and marks',
    async (name) => {
      const { roles, marks, turns } = facts[name]
      const { first, added, heard } = await promptsOf(
        name,
        '<reason>fever?</reason>Do you have a fever?',
      )
      expect(first.map(({ role }) => role)).toEqual([...roles, 'user'])
      expect(inOrder(first.slice(0, 1), marks)).toEqual(marks)
      expect(first[0]?.content.includes('<reason>')).toBe(name === 'grpodx-readme')
      expect(first[0]?.content).toContain(`at most ${Number(turns) - 1}`)
      // Reasoning is kept from the patient and from later prompts.
      expect(added).toEqual([
        { role: 'assistant', content: 'Do you have a fever?' },
        { role: 'user', content: heard },
      ])
      expect(publishedEnvs[name].maxTurns).toBe(turns)
    },
  )

  test('is no longer than twice the published one', async () => {
    for (const name of Object.keys(facts) as (keyof typeof facts)[]) {
      const env = make(name, { cases: [truth] })
      const { observation } = await env.reset()
      const [rules] = namedGrammar(publishedEnvs[name].grammar).render(observation)
      const {
        characters: [published = 0],
      } = facts[name]
      expect(rules?.content.length).toBeLessThan(2 * published)
      expect(rules?.content.length).toBeGreaterThan(published / 4)
    }
  })
})
