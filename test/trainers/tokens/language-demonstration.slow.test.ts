import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Grammar } from '../../../src/agent.js'
import { scripted } from '../../../src/agents/scripted.js'
import type { TokenSegment } from '../../../src/batch.js'
import type { Observation } from '../../../src/env.js'
import type { Episode, EpisodeTurn } from '../../../src/episode.js'
import { rollout } from '../../../src/rollout.js'
import { episodeSegments } from '../../../src/trainers/batches/segments.js'
import type { ChatTokenizer } from '../../../src/trainers/tokens/chat-tokenizer.js'
import { openChatTokenizer } from '../../../src/trainers/tokens/chat-tokenizer.js'
import type { LanguageDemonstrationOptions } from '../../../src/trainers/tokens/language-demonstration.js'
import { languageDemonstration } from '../../../src/trainers/tokens/language-demonstration.js'
import type { Action } from '../../../src/turn.js'
import { withSamples } from '../../fixtures/draws.js'
import { fc } from '../../fixtures/property.js'
import { tinyActions } from '../../fixtures/tiny.js'
import { families, folderOf, open, text } from './conversation.js'
import { doctorOf, drawing, grammar, played, talkingEnv } from './drawing.js'

const demonstrate = (
  episode: Episode,
  tokenizer: ChatTokenizer,
  more: Partial<LanguageDemonstrationOptions> = {},
): readonly TokenSegment[] =>
  languageDemonstration(episode, {
    ...{ tokenizer, grammar, policyVersion: 7, contextLength: 100_000 },
    ...more,
  })

/** An episode as it comes back from a file, without what it was drawn as. */
const recorded = ({ turns, ...episode }: Episode): Episode =>
  JSON.parse(JSON.stringify({ ...episode, turns: turns.map(({ draws: _, ...turn }) => turn) }))

const isGood = ({ action: { kind } }: EpisodeTurn) => kind !== 'invalid' && kind !== 'give-up'

/** What is drawn of segments, stretch by stretch, as text. */
const taught = (segments: readonly TokenSegment[], { decode }: ChatTokenizer): string[] =>
  segments.flatMap(({ tokens, promptLength, mask }) => {
    const stretches: number[][] = []
    mask.forEach((one, t) => {
      if (one !== 1) return
      if (mask[t - 1] !== 1) stretches.push([])
      stretches.at(-1)?.push(tokens[promptLength + t] as number) // one for each of the mask
    })
    return stretches.map(decode)
  })

const ids = (segments: readonly TokenSegment[]) => segments.map(({ tokens }) => [...tokens])
const acted = (actions: readonly Action[], maxTurns = 6) =>
  rollout(talkingEnv(['Yes.'], 'My <|im_end|> hurts.'), scripted(actions), { seed: 0 }).then(
    (episode) => ({ ...episode, maxTurns }),
  )

describe.each(families)('a demonstration for the %s family', (family) => {
  test.each(['keep', 'strip-reasoning'] as const)(
    'of what the doctor itself said is what it drew, log-probs and versions apart: %s',
    async (history) => {
      const tokenizer = await open(family)
      const said = fc.array(text, { minLength: 1, maxLength: 4 })
      await fc.assert(
        fc.asyncProperty(said, text, fc.nat(), async (world, complaint, seed) => {
          const { draw } = drawing(tokenizer, { tidy: true })
          const agent = doctorOf(tokenizer, { draw, history })
          const { episode, moves } = await played(talkingEnv(world, complaint), agent, seed)
          // What is left out is still read: the prompts of the others hold it.
          const kept = episode.turns.flatMap(({ draws: _, ...turn }, t) =>
            isGood(turn) ? [[turn, moves[t]?.sample] as const] : [],
          )
          const turns = withSamples(
            kept.map(([turn]) => turn),
            kept.map(([, sample]) => sample),
          )
          const good = { ...episode, turns }
          expect(demonstrate(recorded(episode), tokenizer, { history })).toEqual(
            episodeSegments(good, 1, episode.caseId).segments.map((segment) => ({
              ...segment,
              policy: 'demonstration',
              logprobs: segment.logprobs.map(() => 0),
              policyVersions: segment.policyVersions.map((was) => (was < 0 ? -1 : 7)),
            })),
          )
        }),
        { numRuns: 60 },
      )
    },
  )

  test('of what nobody wrote is the grammar’s writing, each reply with its end of turn', async () => {
    const tokenizer = await open(family)
    const episode = await acted(tinyActions)
    const segments = demonstrate(episode, tokenizer)
    const [end = -1] = tokenizer.ends
    expect(taught(segments, tokenizer)).toEqual(
      [
        'Question: Do you have a fever?',
        'Order: chest-film',
        'Diagnosis: Pneumonia\nRecommendation: Antibiotics.',
      ].map((reply) => reply + tokenizer.decode([end])),
    )
    const { turns, maxTurns, ...rest } = episode
    const seen: Observation = { ...rest, turns, turnsLeft: maxTurns - turns.length }
    const whole = tokenizer.encodeChat(grammar.render(seen), { addGenerationPrompt: false })
    const [read = []] = ids(segments)
    expect(read).toEqual(whole.slice(0, read.length))
    expect(tokenizer.decode(whole.slice(read.length)).trim()).toBe('')
  })
})

describe('a demonstration', () => {
  const hm: Action = { kind: 'invalid', text: 'hm', why: 'No label.' }
  const [ask, order, diagnose] = tinyActions

  test('has what nobody should imitate read and not drawn', async () => {
    const tokenizer = await open('chatml')
    const segments = demonstrate(await acted([hm, ask, hm, order]), tokenizer)
    expect(taught(segments, tokenizer)).toEqual([
      'Question: Do you have a fever?<|im_end|>',
      'Order: chest-film<|im_end|>',
    ])
    expect(tokenizer.decode(ids(segments)[0] ?? []).split('assistant\nhm<|im_end|>')).toHaveLength(
      3,
    )
    expect(demonstrate(await acted([hm, hm]), tokenizer)).toEqual([])
    expect(demonstrate(await acted([{ kind: 'give-up' }]), tokenizer)).toEqual([])
  })

  test('keeps a written reply only if the grammar reads the action in it', async () => {
    const tokenizer = await open('chatml')
    const episode = await acted([ask, order, diagnose])
    const texts = [
      'Do you have a fever?',
      '<think>\nLungs.\n</think>\n\n**Order**: chest-film',
      'Diagnosis: Gastritis\nRecommendation: Antibiotics.',
    ]
    const turns = episode.turns.map((turn, t) => ({ ...turn, text: texts[t] ?? '' }))
    expect(taught(demonstrate({ ...episode, turns }, tokenizer), tokenizer)).toEqual([
      'Question: Do you have a fever?<|im_end|>',
      `${texts[1]}<|im_end|>`,
      'Diagnosis: Pneumonia\nRecommendation: Antibiotics.<|im_end|>',
    ])
  })

  test('ends before the first turn that the context does not hold', async () => {
    const tokenizer = await open('chatml')
    const episode = await acted([ask, hm, order, diagnose])
    const [all] = demonstrate(episode, tokenizer)
    if (!all) throw new TypeError('Expected a segment, got none')
    const whole = all.tokens.length
    const counts = Array.from({ length: whole }, (_, less) => {
      const segments = demonstrate(episode, tokenizer, { contextLength: whole - less })
      const [{ tokens, mask } = { tokens: [], mask: [] }] = segments
      expect(tokens.length).toBeLessThanOrEqual(whole - less)
      expect([...tokens]).toEqual([...all.tokens.slice(0, tokens.length)])
      expect([...mask]).toEqual([...all.mask.slice(0, mask.length)])
      return taught(segments, tokenizer).length
    })
    expect([...new Set(counts)]).toEqual([3, 2, 1, 0])
  })

  test('tells a grammar what was spent and left before each turn, and nothing that rewards read', async () => {
    const seen: Observation[] = []
    const watching: Grammar = {
      ...grammar,
      render: (observation) => {
        seen.push(observation)
        return grammar.render(observation)
      },
    }
    const env = talkingEnv(['Yes.'])
    const { episode, seen: met } = await played(env, scripted(tinyActions), 0)
    demonstrate(episode, await open('chatml'), { grammar: watching })
    expect(seen.slice(0, -1)).toEqual(met)
    expect(seen.at(-1)?.spent).toEqual(episode.spent)
  })

  test('for a grammar that does not grow is a segment for each reply somebody wrote', async () => {
    const tokenizer = await open('chatml')
    const state: Grammar = {
      ...grammar,
      render: ({ turns }) => [{ role: 'user', content: `${turns.length} turns` }],
    }
    const episode = await acted([ask, order])
    expect(demonstrate(episode, tokenizer, { grammar: state })).toEqual([])
    const turns = episode.turns.map((turn, t) =>
      t === 1 ? { ...turn, text: 'Order: chest-film' } : turn,
    )
    const segments = demonstrate({ ...episode, turns }, tokenizer, { grammar: state })
    expect(ids(segments).map(tokenizer.decode)).toEqual([
      '<|im_start|>user\n1 turns<|im_end|>\n<|im_start|>assistant\nOrder: chest-film<|im_end|>',
    ])
  })

  test('closes the thought that a template opens, and can then be read', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bedside-thinking-'))
    try {
      await cp(folderOf('chatml'), folder, { recursive: true })
      const line = "'<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n'"
      const template = `{% for m in messages %}{{ ${line} }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n<think>\\n' }}{% endif %}`
      await writeFile(join(folder, 'chat_template.jinja'), template)
      const tokenizer = await openChatTokenizer(folder)
      const episode = await acted([ask, order])
      const thought = '<think>\nLungs.\n</think>\n\nOrder: chest-film'
      const turns = episode.turns.map((turn, t) => (t === 1 ? { ...turn, text: thought } : turn))
      const replies = taught(demonstrate({ ...episode, turns }, tokenizer), tokenizer)
      expect(replies).toEqual([
        '\n</think>\n\nQuestion: Do you have a fever?<|im_end|>',
        'Lungs.\n</think>\n\nOrder: chest-film<|im_end|>',
      ])
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
