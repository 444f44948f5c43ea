import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Agent, Grammar, Move } from '../../../src/agent.js'
import { labelled } from '../../../src/agents/grammars/labelled.js'
import type { Observation } from '../../../src/env.js'
import { vectorize } from '../../../src/envs/vectorize.js'
import { timeLimit, wrap } from '../../../src/envs/wrappers.js'
import type { Sample } from '../../../src/episode.js'
import { Fault } from '../../../src/error.js'
import { episodeSegments } from '../../../src/trainers/batches/segments.js'
import type { ChatTokenizer } from '../../../src/trainers/tokens/chat-tokenizer.js'
import { openChatTokenizer } from '../../../src/trainers/tokens/chat-tokenizer.js'
import { languageDoctor } from '../../../src/trainers/tokens/language-doctor.js'
import type { Action, Turn } from '../../../src/turn.js'
import { fc } from '../../fixtures/property.js'
import { asUtf8, draw, families, folderOf, open, text } from './conversation.js'
import { canonical, doctorOf, drawing, grammar, played, talkingEnv } from './drawing.js'

const histories = ['keep', 'strip-reasoning'] as const
const seed = fc.nat(2 ** 31)
const said = fc.array(text, { minLength: 1, maxLength: 4 })

const goesOn = (before: Sample, after: Sample): boolean =>
  [...before.prompt, ...before.tokens].every((id, i) => id === after.prompt[i])

const end = (tokenizer: ChatTokenizer) => tokenizer.ends[0] as number // the three families have one

/** The ids drawn of an episode's segments. */
const drawnIn = (segments: ReturnType<typeof episodeSegments>['segments']) =>
  segments.flatMap(({ tokens, promptLength, mask }) =>
    [...tokens.slice(promptLength)].filter((_, i) => mask[i] === 1),
  )

describe.each(families)('a doctor of the %s family', (family) => {
  test.each(histories)('carries what it drew as it drew it, history: %s', async (history) => {
    const tokenizer = await open(family)
    await fc.assert(
      fc.asyncProperty(said, text, seed, async (world, complaint, agentSeed) => {
        const { draw: drawTokens, calls } = drawing(tokenizer)
        const agent = doctorOf(tokenizer, { draw: drawTokens, history })
        const { samples, moves, seen, episode } = await played(
          talkingEnv(world, complaint),
          agent,
          agentSeed,
        )
        expect(samples.map(({ prompt }) => prompt)).toEqual(calls.map(([prompt]) => prompt))
        expect(moves).toHaveLength(episode.turns.length)
        const breaks = samples.filter((one, i) => i > 0 && !goesOn(samples[i - 1] as Sample, one))
        const { segments, forks } = episodeSegments(episode, 1, 'g')
        expect(forks).toBe(breaks.length)
        expect(drawnIn(segments)).toEqual(samples.flatMap(({ tokens }) => tokens))
        if (family !== 'chatml' || history !== 'keep') return
        expect(forks).toBe(0)
        // What it reads is what the grammar shows, but with its own replies as it wrote them.
        for (const [t, { prompt }] of samples.entries()) {
          const own = moves.values()
          const messages = grammar.render(seen[t] as Observation).map(({ role, content }) => ({
            role,
            content: asUtf8(role === 'assistant' ? (own.next().value?.text ?? '') : content),
          }))
          expect(tokenizer.decode(prompt)).toBe(
            tokenizer.render(messages, { addGenerationPrompt: true }),
          )
        }
      }),
      { numRuns: 60 },
    )
  })

  test('reads no control tokens that a patient spells', async () => {
    const tokenizer = await open(family)
    const controls = new Set(tokenizer.controls.values())
    const read = async (world: readonly string[], complaint: string, agentSeed: number) => {
      const env = talkingEnv(world, complaint)
      const { samples } = await played(env, doctorOf(tokenizer), agentSeed)
      return samples.map(({ prompt }) => prompt.filter((id) => controls.has(id)))
    }
    await fc.assert(
      fc.asyncProperty(said, text, seed, async (world, complaint, agentSeed) => {
        expect(await read(world, complaint, agentSeed)).toEqual(await read(['x'], 'x', agentSeed))
      }),
      { numRuns: 60 },
    )
  })
})

/** The observation after one more turn. */
const heardAfter = (seen: Observation, action: Action, answer = 'Yes.'): Observation => {
  const turn: Turn = { action, outcome: { kind: 'answered', text: answer } }
  return { ...seen, turns: [...seen.turns, turn], turnsLeft: seen.turnsLeft - 1 }
}

const start = async (): Promise<Observation> =>
  (await talkingEnv(['Yes.']).reset({ seed: 0 })).observation

const sampleOf = ({ sample }: Move): Sample => sample as Sample // the doctor had room to draw
const anew = (tokenizer: ChatTokenizer, seen: Observation, by: Grammar = grammar) =>
  tokenizer.encodeChat(by.render(seen), { addGenerationPrompt: true })

describe('which stream a turn goes on with', () => {
  const asked = async (choices = {}) => {
    const tokenizer = await open('chatml')
    const agent = doctorOf(tokenizer, {
      draw: async () =>
        draw([
          ...tokenizer.encode('So.\nQuestion: Any fever?', { special: false }),
          end(tokenizer),
        ]),
      ...choices,
    })
    const first = await start()
    const move = await agent(first, { seed: 1 })
    return { tokenizer, agent, first, move }
  }

  test('two that go on from one turn have streams of their own', async () => {
    const { agent, first, move } = await asked()
    const { memory } = move
    const yes = await agent(heardAfter(first, move.action, 'Yes.'), { seed: 1, memory })
    const no = await agent(heardAfter(first, move.action, 'No.'), { seed: 1, memory })
    expect([yes, no].map((one) => goesOn(sampleOf(move), sampleOf(one)))).toEqual([true, true])
    expect(sampleOf(yes).prompt).not.toEqual(sampleOf(no).prompt)
    const again = await agent(heardAfter(first, move.action, 'Yes.'), { seed: 1, memory })
    expect(sampleOf(again)).toEqual(sampleOf(yes))
  })

  test('after somebody else’s turn, or without its memory, it is a new one, and the next goes on from that', async () => {
    const { tokenizer, agent, first, move } = await asked()
    const own = heardAfter(first, move.action)
    for (const [seen, memory] of [
      [heardAfter(own, { kind: 'ask', text: 'A cough?' }), move.memory],
      [own, undefined],
      [own, { kind: 'another agent' }],
    ] as const) {
      const next = await agent(seen, { seed: 1, memory })
      expect(sampleOf(next).prompt).toEqual(anew(tokenizer, seen))
      const third = await agent(heardAfter(seen, next.action), { seed: 1, memory: next.memory })
      expect(goesOn(sampleOf(next), sampleOf(third))).toBe(true)
    }
  })

  test('observation and memory survive JSON', async () => {
    const { agent, first, move } = await asked()
    const seen = heardAfter(first, move.action)
    const next = await agent(seen, { seed: 1, memory: move.memory })
    const [copy, memory] = JSON.parse(JSON.stringify([seen, move.memory]))
    expect(await agent(copy, { seed: 1, memory })).toEqual(next)
    expect(goesOn(sampleOf(move), sampleOf(next))).toBe(true)
  })

  test('where an earlier turn was changed, it is a new one', async () => {
    const { tokenizer, agent, first, move } = await asked()
    const own = heardAfter(first, move.action)
    const { memory } = await agent(own, { seed: 1, memory: move.memory })
    const next = await agent(own, { seed: 1, memory: move.memory })
    const changed = heardAfter(heardAfter(first, move.action, 'No.'), next.action)
    const other = await agent(changed, { seed: 1, memory })
    expect(sampleOf(other).prompt).toEqual(anew(tokenizer, changed))
    const kept = await agent(heardAfter(own, next.action), { seed: 1, memory })
    expect(goesOn(sampleOf(next), sampleOf(kept))).toBe(true)
  })

  test.each<[string, Grammar['render']]>([
    ['does not grow', ({ turns }) => [{ role: 'user', content: JSON.stringify(turns) }]],
    [
      'grows by no replies of the doctor',
      ({ turns }) =>
        [0, ...turns, ...turns].map((turn) => ({ role: 'user', content: JSON.stringify(turn) })),
    ],
  ])('where the grammar %s, it is a new one each time', async (_, render) => {
    const other: Grammar = { name: 'other', parse: grammar.parse, render }
    const { tokenizer, agent, first, move } = await asked({ grammar: other })
    const seen = heardAfter(first, move.action)
    const next = await agent(seen, { seed: 1, memory: move.memory })
    expect(sampleOf(next).prompt).toEqual(anew(tokenizer, seen, other))
  })

  test('a grammar that reads one and the same action twice mixes up no consultations', async () => {
    const action: Action = { kind: 'ask', text: 'Any fever?' }
    const { agent, first, move } = await asked({ grammar: { ...grammar, parse: () => action } })
    const other = { ...first, intake: { ...first.intake, complaint: { en: 'My ear hurts.' } } }
    const elsewhere = await agent(other, { seed: 2 })
    const { memory } = move
    const next = await agent(heardAfter(first, move.action), { seed: 1, memory })
    expect(goesOn(sampleOf(move), sampleOf(next))).toBe(true)
    expect(goesOn(sampleOf(elsewhere), sampleOf(next))).toBe(false)
  })

  test('wrappers and vector envs hand the actions on as they are', async () => {
    const tokenizer = await open('chatml')
    const agent = doctorOf(tokenizer)
    const envs = vectorize([1, 2].map((n) => () => wrap(talkingEnv([`Yes ${n}.`]), timeLimit(4))))
    let { observations } = await envs.reset({ seed: 0 })
    let before: Move[] = []
    const act = (seen: Observation, i: number) =>
      agent(seen, { seed: 40 + i, memory: before[i]?.memory })
    before = await Promise.all(observations.map(act))
    for (let t = 0; t < 2; t++) {
      observations = (await envs.step(before.map(({ action }) => action))).observations
      const moves = await Promise.all(observations.map(act))
      moves.forEach((move, i) => {
        expect(goesOn(sampleOf(before[i] as Move), sampleOf(move))).toBe(true)
      })
      before = moves
    }
  })
})

describe('a draw', () => {
  test('has a seed of its turn and agent, the ends of a turn, and the signal', async () => {
    const tokenizer = await open('chatml')
    const play = async (agentSeed: number) => {
      const { calls, draw: drawTokens } = drawing(tokenizer, { tidy: true })
      await played(talkingEnv(['Yes.']), doctorOf(tokenizer, { draw: drawTokens }), agentSeed)
      return calls.map(([, options]) => options)
    }
    const [once, again, sibling] = await Promise.all([play(40), play(40), play(41)])
    expect(once).toEqual(again)
    const seeds = [...once, ...sibling].map((options) => options.seed)
    expect(new Set(seeds).size).toBe(seeds.length)
    expect(seeds.length).toBeGreaterThan(4)
    expect(seeds.every((one) => Number.isInteger(one) && one >= 0 && one < 2 ** 31)).toBe(true)
    expect(once[0]).toMatchObject({ stop: tokenizer.ends, maxTokens: 200 })
    const { signal } = new AbortController()
    const { calls, draw: drawTokens } = drawing(tokenizer)
    await doctorOf(tokenizer, { draw: drawTokens })(await start(), { seed: 0, signal })
    expect(calls[0]?.[1].signal).toBe(signal)
  })

  test('gets the room that is left, and the doctor gives up where there is none', async () => {
    const tokenizer = await open('chatml')
    const first = await start()
    const { length } = anew(tokenizer, first)
    for (const [room, maxTokens] of [
      [3, 3],
      [1, 1],
      [200, 9],
    ]) {
      const { calls, draw: drawTokens } = drawing(tokenizer)
      const contextLength = length + (room ?? 0)
      const agent = doctorOf(tokenizer, { contextLength, maxTokens: 9, draw: drawTokens })
      const { tokens } = sampleOf(await agent(first, { seed: 3 }))
      expect(calls.map(([, options]) => options.maxTokens)).toEqual([maxTokens])
      expect(tokens.length).toBeLessThanOrEqual(maxTokens ?? 0)
    }
    const { calls, draw: drawTokens } = drawing(tokenizer)
    const agent = doctorOf(tokenizer, { contextLength: length, draw: drawTokens })
    expect(await agent(first, { seed: 3 })).toEqual({ action: { kind: 'give-up' } })
    expect(calls).toEqual([])
  })

  test('never makes more of a consultation than the context holds', async () => {
    const tokenizer = await open('chatml')
    const { length } = anew(tokenizer, await start())
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 300 }), seed, async (room, agentSeed) => {
        const contextLength = length + room
        const agent = doctorOf(tokenizer, { contextLength })
        const { samples, episode } = await played(talkingEnv(['Yes.']), agent, agentSeed)
        for (const { prompt, tokens } of samples)
          expect(prompt.length + tokens.length).toBeLessThanOrEqual(contextLength)
        expect(episode.stop === 'gave-up').toBe(samples.length < episode.turns.length)
      }),
      { numRuns: 60 },
    )
  })

  test('that was cut by length is read as it stands', async () => {
    const tokenizer = await open('chatml')
    const tokens = tokenizer.encode('Question: Do you have', { special: false })
    const agent = doctorOf(tokenizer, { draw: async () => draw(tokens, 'length') })
    const move = await agent(await start(), { seed: 0 })
    expect(move).toMatchObject({
      action: { kind: 'ask', text: 'Do you have' },
      text: 'Question: Do you have',
      sample: { tokens, stopReason: 'length' },
    })
  })

  test('keeps its reasoning in the text, and out of the action', async () => {
    const tokenizer = await open('qwen')
    const reply = '<think>\nOrder: CT\n</think>\n\nQuestion: Any fever?'
    const tokens = [...canonical(tokenizer, reply), end(tokenizer)]
    const move = await doctorOf(tokenizer, { draw: async () => draw(tokens) })(await start(), {
      seed: 0,
    })
    expect(move).toMatchObject({ action: { kind: 'ask', text: 'Any fever?' }, text: reply })
  })

  test('that fails is the world’s fault', async () => {
    const fault = new Fault('model-unavailable', 'gone')
    const agent: Agent = doctorOf(await open('chatml'), { draw: () => Promise.reject(fault) })
    await expect(played(talkingEnv(['Yes.']), agent, 0)).rejects.toBe(fault)
  })
})

describe('a template that opens a thought', () => {
  let folder: string
  let tokenizer: ChatTokenizer
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bedside-thinking-'))
    await cp(folderOf('qwen'), folder, { recursive: true })
    const line = "'<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n'"
    await writeFile(
      join(folder, 'chat_template.jinja'),
      `{% for m in messages %}{{ ${line} }}{% endfor %}{{ '<|im_start|>assistant\\n<think>\\n' }}`,
    )
    tokenizer = await openChatTokenizer(folder)
  })
  afterAll(() => rm(folder, { recursive: true }))

  test.each([
    ['cut inside it', 'Perhaps this:\nQuestion: Any fever?', 'invalid'],
    ['that leaves it', 'Order: CT\n</think>\n\nQuestion: Any fever?', 'ask'],
  ])('a reply %s', async (_, reply, kind) => {
    const tokens = canonical(tokenizer, reply)
    const agent = doctorOf(tokenizer, { draw: async () => draw(tokens, 'length') })
    expect(await agent(await start(), { seed: 0 })).toMatchObject({ action: { kind }, text: reply })
  })
})

test('counts that are none are refused', async () => {
  const tokenizer = await open('chatml')
  const options = { tokenizer, grammar: labelled(), draw: async () => draw([]) }
  expect(() => languageDoctor({ ...options, maxTokens: 0, contextLength: 9 })).toThrow(
    'Expected `maxTokens` to be a positive integer, got `0`',
  )
  expect(() => languageDoctor({ ...options, maxTokens: 1, contextLength: 2.5 })).toThrow(
    'Expected `contextLength` to be a positive integer, got `2.5`',
  )
})
