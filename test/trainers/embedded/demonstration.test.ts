import { describe, expect, test } from 'vitest'
import { scripted } from '../../../src/agents/scripted.js'
import { episodeSegments } from '../../../src/trainers/batches/segments.js'
import { embedded } from '../../../src/trainers/embedded/embedded.js'
import { tokenizer } from '../../../src/trainers/embedded/tokenizer.js'
import type { Action } from '../../../src/turn.js'
import { fc } from '../../fixtures/property.js'
import { batchOf, played, train } from './batches.js'
import { consult, words } from './play.js'

const open = () => embedded({ actionSpace: words })
const [fever, chest, count, influenza] = words.actions as [Action, Action, Action, Action, Action]
const elsewhere: Action = { kind: 'ask', text: 'How is your mother?' }

/** What was drawn of an episode: token and turns left by the clock before it. */
const taught = async (moves: readonly Action[], maxTurns: number) => {
  const episode = await consult(scripted(moves), 0, 0, maxTurns)
  const segments = open().demonstrate?.(episode) ?? []
  return {
    episode,
    segments,
    drawn: segments.flatMap(({ tokens, promptLength, mask }) =>
      [...mask].flatMap((one, t) => (one ? [tokens[promptLength + t]] : [])),
    ),
  }
}

describe('a demonstration', () => {
  test('of the policy’s own episode is what it drew, log-probs and versions apart', async () => {
    const backend = open()
    await train(backend, 2)
    for (const episode of await played(backend, 6)) {
      const own = episodeSegments(episode, 1, episode.caseId).segments
      await train(backend, 1)
      const version = backend.policyVersion
      expect(backend.demonstrate?.(episode)).toEqual(
        own.map((segment) => ({
          ...segment,
          policy: 'embedded',
          logprobs: segment.logprobs.map(() => 0),
          policyVersions: segment.policyVersions.map((was) => (was < 0 ? -1 : version)),
        })),
      )
    }
  })

  test('draws nothing of moves outside the vocabulary, but reads the replies', async () => {
    const { drawn, segments, episode } = await taught([elsewhere, fever, influenza], 4)
    expect(drawn).toEqual([0, 3])
    expect(segments).toHaveLength(1)
    const { encode } = tokenizer(words)
    const { intake, spent, budget, language, turns } = episode
    const stream = encode({
      ...{ intake, spent, budget, language },
      turns: turns.slice(0, 2),
      turnsLeft: 2,
    })
    expect([...(segments[0]?.tokens ?? [])]).toEqual([...stream, 3])
  })

  test('reads a move made twice, and one on the last turn that is no diagnosis', async () => {
    const { drawn, segments } = await taught([fever, fever, chest, count], 4)
    expect(drawn).toEqual([0, 1])
    // The second question of fever stands in the stream, not drawn.
    const { tokens, promptLength, mask } = segments[0] as (typeof segments)[number]
    const zeros = [...tokens].flatMap((token, at) => (token === 0 ? [mask[at - promptLength]] : []))
    expect(zeros).toEqual([1, 0])
  })

  test('of which it could make no move is none', async () => {
    expect((await taught([elsewhere, elsewhere], 2)).segments).toEqual([])
  })

  test('takes a diagnosis whatever is recommended with it', async () => {
    const advised: Action = { kind: 'diagnose', diagnosis: 'Influenza', recommendation: 'Rest.' }
    expect((await taught([advised], 4)).drawn).toEqual([3])
  })

  test('of any moves has a finite log-prob at every drawn token', async () => {
    const moves = fc.array(fc.constantFrom(...words.actions, elsewhere), {
      minLength: 1,
      maxLength: 5,
    })
    await fc.assert(
      fc.asyncProperty(moves, async (list) => {
        const { segments, drawn } = await taught([...list, influenza], list.length + 1)
        const logprobs = (await open().logprobs?.(segments)) ?? []
        expect(logprobs.flatMap((row) => [...row]).every(Number.isFinite)).toBe(true)
        expect(drawn.at(-1)).toBeGreaterThanOrEqual(3)
      }),
      { numRuns: 60 },
    )
  })

  test('taught by likelihood is what the policy then does', async () => {
    const backend = open()
    const moves = [chest, count, influenza]
    const episode = await consult(scripted(moves), 0, 0, 4)
    const segments = backend.demonstrate?.(episode) ?? []
    for (let step = 0; step < 60; step++)
      await backend.step({
        ...batchOf(backend, segments),
        loss: { kind: 'cross-entropy', entropy: 0 },
      })
    const { turns } = await consult(backend.sampler({ temperature: 0 }), 0, 0, 4)
    expect(turns.map(({ action }) => action)).toEqual(moves)
  })
})
