import { describe, expect, test } from 'vitest'
import type { Env } from '../../../src/env.js'
import { consultation } from '../../../src/envs/consultation.js'
import { Fault } from '../../../src/error.js'
import type { Patient } from '../../../src/patient.js'
import type { Reward } from '../../../src/reward.js'
import { episodeSegments } from '../../../src/trainers/batches/segments.js'
import type { ChatTokenizer } from '../../../src/trainers/tokens/chat-tokenizer.js'
import type {
  SessionEnd,
  TokenSession,
  TokenSessionOptions,
  ToRead,
} from '../../../src/trainers/tokens/token-session.js'
import {
  openTokenSession,
  restoreTokenSession,
} from '../../../src/trainers/tokens/token-session.js'
import { fc } from '../../fixtures/property.js'
import { tinyCase } from '../../fixtures/tiny-case.js'
import { open } from './conversation.js'
import { drawing, grammar } from './drawing.js'

const half: Reward = Object.assign(async () => ({ total: 0.5, parts: {} }), {
  rewardName: 'half',
  bounds: [0, 1] as const,
  source: 'test',
})

/** Answers with what it has heard, or fails when told to. */
function world() {
  let down = false
  const patient: Patient = async (utterance, { dialogue }) => {
    if (down) throw new Error('503')
    return {
      text: `${dialogue.length}: ${utterance}`,
      understood: 'answered',
      questions: 1,
      asked: [],
      told: [],
    }
  }
  const env: Env = consultation({ cases: [tinyCase()], patient, maxTurns: 5, reward: half })
  return {
    ...{ env, patient },
    fail(now: boolean) {
      down = now
    },
  }
}

const optionsOf = (
  tokenizer: ChatTokenizer,
  env: Env,
  over: Partial<TokenSessionOptions> = {},
): TokenSessionOptions => ({
  ...{ env, tokenizer, grammar, maxTokens: 60, contextLength: 10_000 },
  ...over,
})

/** What a model with this seed draws of a prompt. */
async function drawOf(tokenizer: ChatTokenizer, seed: number, read: ToRead) {
  const { tokens, logprobs, policyVersion, stopReason } = await drawing(tokenizer, {
    tidy: true,
  }).draw(read.prompt, {
    seed: (seed * 31 + read.index) >>> 0,
    maxTokens: read.maxTokens,
    stop: read.stop,
  })
  return { index: read.index, tokens, logprobs, policyVersion, stopReason }
}

async function playOn(
  tokenizer: ChatTokenizer,
  session: TokenSession,
  seed: number,
): Promise<SessionEnd> {
  let { next } = session
  while (!next.done) next = await session.drawn(await drawOf(tokenizer, seed, next))
  return next
}

const begun = async (tokenizer: ChatTokenizer, over: Partial<TokenSessionOptions> = {}) =>
  openTokenSession(optionsOf(tokenizer, world().env, over), { seed: 3 })

describe('a token session', () => {
  test('plays a consultation in ids, whose segments hold what was drawn', async () => {
    const tokenizer = await open('chatml')
    const session = await begun(tokenizer)
    const { next } = session
    expect(next).toMatchObject({ done: false, index: 0, stop: tokenizer.ends, maxTokens: 60 })
    const end = await playOn(tokenizer, session, 7)
    expect(end.score).toEqual({ total: 0.5, parts: {} })
    const { segments, forks } = episodeSegments(end.episode, 1, 'g')
    expect(forks).toBe(end.forks)
    const drawn = segments.reduce((sum, { mask }) => sum + mask.reduce((a, b) => a + b, 0), 0)
    const draws = end.episode.turns.flatMap((turn) => turn.draws ?? [])
    expect(drawn).toBe(draws.reduce((sum, { tokens }) => sum + tokens.length, 0))
    expect(end.episode.turns.map(({ text }) => typeof text)).toEqual(draws.map(() => 'string'))
  })

  test('goes on in another process, from JSON, as if nothing had happened', async () => {
    const tokenizer = await open('chatml')
    const whole = await playOn(tokenizer, await begun(tokenizer), 11)
    for (let at = 0; at < whole.episode.turns.length; at++) {
      const first = await begun(tokenizer)
      let { next } = first
      while (!next.done && next.index < at)
        next = await first.drawn(await drawOf(tokenizer, 11, next))
      const saved = JSON.parse(JSON.stringify(first.save()))
      const second = await restoreTokenSession(optionsOf(tokenizer, world().env), saved)
      expect(second.next).toEqual(next)
      expect(await playOn(tokenizer, second, 11)).toEqual(whole)
    }
  })

  test('has the same end whatever is repeated, fails, comes wrong or moves house in between', async () => {
    const tokenizer = await open('chatml')
    const trouble = fc.constantFrom('again', 'fails', 'malformed', 'late', 'moves', 'beside')
    await fc.assert(
      fc.asyncProperty(fc.nat(1e6), fc.array(trouble, { maxLength: 8 }), async (seed, script) => {
        const whole = await playOn(tokenizer, await begun(tokenizer), seed)
        let place = world()
        let session = await openTokenSession(optionsOf(tokenizer, place.env), { seed: 3 })
        let last: Awaited<ReturnType<typeof drawOf>> | undefined
        const troubles = [...script]
        let { next } = session
        while (!next.done) {
          const draw = await drawOf(tokenizer, seed, next)
          switch (troubles.shift()) {
            case 'again':
              if (last) expect(await session.drawn(last)).toEqual(next)
              break
            case 'fails':
              place.fail(true)
              await session.drawn(draw).catch(() => undefined)
              place.fail(false)
              break
            case 'malformed':
              await expect(session.drawn({ ...draw, logprobs: [] })).rejects.toThrow(RangeError)
              await expect(session.drawn({ ...draw, tokens: [-1] })).rejects.toThrow(RangeError)
              break
            case 'late':
              await expect(session.drawn({ ...draw, index: next.index + 1 })).rejects.toThrow(
                TypeError,
              )
              break
            case 'moves': {
              const saved = JSON.parse(JSON.stringify(session.save()))
              place = world()
              session = await restoreTokenSession(optionsOf(tokenizer, place.env), saved)
              break
            }
            case 'beside': {
              if (!session.next.done && session.next.index === draw.index) {
                const one = session.drawn(draw)
                await expect(session.drawn(draw)).rejects.toThrow('under way')
                await one
              }
              break
            }
          }
          next = await session.drawn(draw)
          last = draw
        }
        expect(next).toEqual(whole)
      }),
      { numRuns: 150 },
    )
  })
})

describe('a context that is full', () => {
  /** A session whose second prompt has no room, with a reward that fails once. */
  async function overflowing() {
    const tokenizer = await open('chatml')
    const { next: wide } = await begun(tokenizer)
    let failures = 1
    const reward: Reward = Object.assign(
      async () => {
        if (failures-- > 0) throw new Fault('component-failed', 'the judge: 503')
        return { total: 0.25, parts: {} }
      },
      { rewardName: 'quarter', bounds: [0, 1] as const, source: 'test' },
    )
    const env = consultation({ cases: [tinyCase()], patient: world().patient, maxTurns: 5, reward })
    const contextLength = (wide as ToRead).prompt.length + 40
    const options = optionsOf(tokenizer, env, { contextLength, maxTokens: 40 })
    const session = await openTokenSession(options, { seed: 3 })
    const read = session.next as ToRead
    const draw = { ...(await drawOf(tokenizer, 5, read)), index: 0 }
    return { session, draw, options }
  }

  test('ends the episode; if that fails, the same draw ends it when given again', async () => {
    const { session, draw } = await overflowing()
    await expect(session.drawn(draw)).rejects.toThrow('503')
    const end = await session.drawn(draw)
    expect(end).toMatchObject({ done: true, score: { total: 0.25 } })
    expect((end as SessionEnd).episode.turns.map(({ action }) => action.kind)).toEqual([
      'ask',
      'give-up',
    ])
    expect(await session.drawn(draw)).toBe(end)
  })

  test('ends it in another process too', async () => {
    const { session, draw, options } = await overflowing()
    await expect(session.drawn(draw)).rejects.toThrow('503')
    const saved = JSON.parse(JSON.stringify(session.save()))
    const { next } = await restoreTokenSession({ ...options, env: world().env }, saved)
    expect(next).toMatchObject({ done: true, score: { total: 0.5 } })
  })

  test('at the first prompt ends it before anything is drawn', async () => {
    const tokenizer = await open('chatml')
    const { next } = await begun(tokenizer, { contextLength: 20 })
    expect(next).toMatchObject({ done: true, forks: 0, episode: { stop: 'gave-up' } })
  })
})

describe('what is wrong is refused, and nothing has happened', () => {
  const refused = async (change: object, error: string | RegExp) => {
    const tokenizer = await open('chatml')
    const session = await begun(tokenizer)
    const { next } = session
    const draw = await drawOf(tokenizer, 1, next as ToRead)
    await expect(session.drawn({ ...draw, ...change })).rejects.toThrow(error)
    expect(session.next).toBe(next)
  }

  test('a draw of nothing, of too much, with a log-prob above 0 or too few', async () => {
    await refused({ tokens: [] }, 'Expected 1 to 60 `tokens`, got 0')
    await refused({ tokens: Array(61).fill(5) }, 'Expected 1 to 60 `tokens`, got 61')
    await refused({ tokens: [5], logprobs: [0.1] }, 'Expected `logprobs[0]` to be finite')
    await refused({ tokens: [5, 6], logprobs: [-1] }, 'Expected 2 `logprobs`')
    await refused({ tokens: [5.5], logprobs: [-1] }, 'Expected `tokens[0]` to be a token id')
  })

  test('another draw at an index that was answered', async () => {
    const tokenizer = await open('chatml')
    const session = await begun(tokenizer)
    const draw = await drawOf(tokenizer, 2, session.next as ToRead)
    await session.drawn(draw)
    await expect(session.drawn({ ...draw, policyVersion: 9 })).rejects.toThrow(
      'Expected the draw of turn 1, got that of turn 0',
    )
  })

  test('a draw that read other ids, where forks are refused; else it is counted', async () => {
    const tokenizer = await open('chatml')
    const strict = await begun(tokenizer, { forks: 'refuse' })
    const first = await drawOf(tokenizer, 4, strict.next as ToRead)
    await expect(strict.drawn({ ...first, prompt: [1, 2, 3] })).rejects.toThrow(
      `got one whose \`prompt[0]\` is \`1\`, not \`${(strict.next as ToRead).prompt[0]}\``,
    )
    const lax = await begun(tokenizer)
    await lax.drawn(first)
    const { next } = lax
    if (next.done) throw new Error('Expected a second turn')
    await lax.drawn({ ...(await drawOf(tokenizer, 4, next)), prompt: [1, 2, 3] })
    const end = await playOn(tokenizer, lax, 4)
    expect(end.forks).toBeGreaterThanOrEqual(1)
    expect(end.episode.turns[1]?.draws?.[0]).toMatchObject({ stream: 1, heard: [1, 2, 3] })
  })

  test('something else than a saved session', async () => {
    const tokenizer = await open('chatml')
    await expect(
      restoreTokenSession(optionsOf(tokenizer, world().env), { schema: 'x' }),
    ).rejects.toThrow('Expected a saved session (bedside-token-session/1), got `x`')
  })
})
