import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Backend } from '../../../src/backend.js'
import { type Loss, makeNormaliser, type TrainBatch } from '../../../src/batch.js'
import type { Episode } from '../../../src/episode.js'
import { actionSpace } from '../../../src/knowledge/action-space.js'
import { drGrpoAdvantages } from '../../../src/trainers/advantages/per-group.js'
import { episodeSegments } from '../../../src/trainers/batches/segments.js'
import { embedded } from '../../../src/trainers/embedded/embedded.js'
import { consult, right, words } from './play.js'

const clip: Loss = { kind: 'ppo-clip', low: 0.2, high: 0.28, entropy: 0 }

const batch = (
  backend: Backend,
  episodes: readonly Episode[],
  advantages: readonly number[],
  loss: Loss = clip,
): TrainBatch => {
  const segments = episodes.flatMap(
    (episode, i) => episodeSegments(episode, advantages[i] as number, 'g').segments,
  )
  return {
    step: 1,
    policyVersion: backend.policyVersion,
    segments,
    normaliser: makeNormaliser('token-mean', segments),
    loss,
    adam: { learningRate: 0.1 },
  }
}

/** One on-policy step over groups of `size` for patients 0 and 1. */
async function learn(backend: Backend, step: number, size = 8): Promise<number> {
  const agent = backend.sampler()
  const episodes: Episode[] = []
  const advantages: number[] = []
  for (const n of [0, 1]) {
    const group = await Promise.all(
      Array.from({ length: size }, (_, member) => consult(agent, n, step * 1000 + member * 2 + n)),
    )
    episodes.push(...group)
    advantages.push(...drGrpoAdvantages()(group.map(right)))
  }
  if (advantages.some((a) => a !== 0)) await backend.step(batch(backend, episodes, advantages))
  return episodes.reduce((sum, episode) => sum + right(episode), 0) / episodes.length
}

describe('learning', () => {
  test('asks before it concludes, and concludes rightly, after 60 steps', async () => {
    const backend = embedded({ actionSpace: words })
    for (let step = 0; step < 60; step++) await learn(backend, step)
    const greedy = backend.sampler({ temperature: 0 })
    for (const n of [0, 1]) {
      const episode = await consult(greedy, n, 0)
      expect(right(episode)).toBe(1)
      expect(episode.turns.length).toBeGreaterThan(1)
    }
  })

  test('a fresh policy finds every question equally likely, and seldom concludes unasked', async () => {
    const agent = embedded({ actionSpace: words }).sampler()
    const first = async (seed: number) => (await consult(agent, 0, seed)).turns[0]
    const turns = await Promise.all(Array.from({ length: 60 }, (_, seed) => first(seed)))
    const odds = Math.exp(-3)
    const [asking, concluding] = [1 / (1 + odds), odds / (1 + odds)].map(Math.log)
    for (const turn of turns) {
      const concludes = turn?.action.kind === 'diagnose'
      const expected = concludes ? concluding! - Math.log(2) : asking! - Math.log(3)
      expect(turn?.draws?.[0]?.logprobs[0]).toBeCloseTo(expected, 12)
    }
    expect(new Set(turns.map((turn) => JSON.stringify(turn?.action))).size).toBeGreaterThan(2)
  })

  test('never makes a move twice, and concludes on the last turn', async () => {
    const agent = embedded({ actionSpace: words }).sampler()
    for (let seed = 0; seed < 200; seed++) {
      const { turns } = await consult(agent, 0, seed, 4)
      const moves = turns.map(({ action }) => JSON.stringify(action))
      expect(new Set(moves).size).toBe(moves.length)
      expect(turns.at(-1)?.action.kind).toBe('diagnose')
    }
  })
})

describe('the gradient', () => {
  const losses: readonly Loss[] = [
    clip,
    { kind: 'policy-gradient', entropy: 0 },
    { kind: 'ppo-clip', low: 0.2, high: 0.28, entropy: 0.05 },
  ]

  /**
   * The Adam step of size lr is sign(g) at the first step, so the loss must fall along it by about
   * lr · Σ|g|; with a tiny rate the second report's loss shows the derivative.
   */
  test.each(losses)(
    'of $kind with entropy $entropy lowers the loss it is the gradient of',
    async (loss) => {
      const backend = embedded({ actionSpace: words })
      for (let step = 0; step < 5; step++) await learn(backend, step)
      const agent = backend.sampler()
      const episodes = await Promise.all([0, 1, 2, 3, 4, 5].map((n) => consult(agent, n, n)))
      const advantages = episodes.map((_, i) => (i % 2 === 0 ? 0.7 : -0.4))
      const made = { ...batch(backend, episodes, advantages, loss), adam: { learningRate: 1e-5 } }
      const first = await backend.step(made)
      const second = await backend.step({ ...made, policyVersion: backend.policyVersion })
      expect(first.gradNorm).toBeGreaterThan(0)
      expect(second.loss).toBeLessThan(first.loss)
    },
  )

  test('is zero for zero advantages', async () => {
    const backend = embedded({ actionSpace: words })
    const episodes = [await consult(backend.sampler(), 0, 3)]
    expect((await backend.step(batch(backend, episodes, [0]))).gradNorm).toBe(0)
  })

  test('does not depend on the order of the segments', async () => {
    const make = async (reverse: boolean) => {
      const backend = embedded({ actionSpace: words })
      const agent = backend.sampler()
      const episodes = await Promise.all([0, 1, 2, 3].map((n) => consult(agent, n, n)))
      const made = batch(backend, episodes, [1, -1, 0.5, -0.5])
      return backend.step(reverse ? { ...made, segments: [...made.segments].reverse() } : made)
    }
    const [forward, backward] = [await make(false), await make(true)]
    expect(backward.gradNorm).toBeCloseTo(forward.gradNorm, 12)
    expect(backward.loss).toBeCloseTo(forward.loss, 12)
  })
})

describe('what it reports', () => {
  test('sampler and trainer agree on the log-probs of fresh samples', async () => {
    const backend = embedded({ actionSpace: words })
    for (let step = 0; step < 5; step++) await learn(backend, step)
    const agent = backend.sampler({ temperature: 0.7 })
    const episodes = await Promise.all([0, 1, 2].map((n) => consult(agent, n, n)))
    const report = await backend.step(batch(backend, episodes, [1, -1, 0.5]))
    expect(report.logprobGap.max).toBeLessThan(1e-6)
    expect(report.ratio.mean).toBeCloseTo(1, 6)
    expect(report.ess).toBeCloseTo(1, 6)
  })

  test('a second pass over the same samples has moved ratios', async () => {
    const backend = embedded({ actionSpace: words })
    const agent = backend.sampler()
    const episodes = await Promise.all([0, 1, 2, 3].map((n) => consult(agent, n, n)))
    const advantages = [1, -1, 1, -1]
    await backend.step(batch(backend, episodes, advantages))
    const second = await backend.step(batch(backend, episodes, advantages))
    expect(second.ratio.max).toBeGreaterThan(1)
    expect(second.ess).toBeLessThan(1)
  })
})

describe('checkpoints', () => {
  test.each([1, 2])(
    'of format %i, of earlier policies, are refused with that reason',
    async (format) => {
      const folder = await mkdtemp(join(tmpdir(), 'embedded-'))
      const backend = embedded({ actionSpace: words })
      await backend.save(join(folder, 'x'))
      const file = join(folder, 'x', 'policy.json')
      const manifest = JSON.parse(await readFile(file, 'utf8'))
      await writeFile(file, JSON.stringify({ ...manifest, format: `bedside-embedded/${format}` }))
      await expect(backend.load(join(folder, 'x'))).rejects.toMatchObject({
        code: 'bad-checkpoint',
        message: expect.stringContaining(
          `expected a policy of format bedside-embedded/3, got bedside-embedded/${format}`,
        ),
      })
    },
  )

  test('a run that was saved and loaded makes the same weights as one that was not', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'embedded-'))
    const straight = embedded({ actionSpace: words })
    for (let step = 0; step < 6; step++) await learn(straight, step)
    const broken = embedded({ actionSpace: words })
    for (let step = 0; step < 3; step++) await learn(broken, step)
    await broken.save(join(folder, 'half'))
    const resumed = embedded({ actionSpace: words })
    await resumed.load(join(folder, 'half'))
    for (let step = 3; step < 6; step++) await learn(resumed, step)
    await straight.save(join(folder, 'a'))
    await resumed.save(join(folder, 'b'))
    const bytes = (name: string) => readFile(join(folder, name, 'weights.bin'))
    expect((await bytes('a')).equals(await bytes('b'))).toBe(true)
  })

  test('of another vocabulary is refused, saying which', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'embedded-'))
    await embedded({ actionSpace: words }).save(join(folder, 'ours'))
    const other = embedded({ actionSpace: actionSpace('en', words.actions.slice(1)) })
    await expect(other.load(join(folder, 'ours'))).rejects.toMatchObject({
      code: 'bad-checkpoint',
      message: expect.stringContaining('expected a policy over the 4 utterances'),
    })
    expect(other.policyVersion).toBe(0)
  })

  test('with a flipped byte is refused', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'embedded-'))
    const backend = embedded({ actionSpace: words })
    await learn(backend, 0)
    await backend.save(join(folder, 'x'))
    const file = join(folder, 'x', 'weights.bin')
    const bytes = await readFile(file)
    bytes[20] = (bytes[20] as number) ^ 1
    await writeFile(file, bytes)
    await expect(backend.load(join(folder, 'x'))).rejects.toMatchObject({ code: 'bad-checkpoint' })
  })

  test('save replaces what was there and leaves nothing beside it', async () => {
    const { readdir } = await import('node:fs/promises')
    const folder = await mkdtemp(join(tmpdir(), 'embedded-'))
    const backend = embedded({ actionSpace: words })
    await backend.save(join(folder, 'x'))
    await learn(backend, 0)
    await backend.save(join(folder, 'x'))
    expect(await readdir(folder)).toEqual(['x'])
    const fresh = embedded({ actionSpace: words })
    await fresh.load(join(folder, 'x'))
    expect(fresh.policyVersion).toBe(1)
  })
})

describe('refusals', () => {
  test('a drawn token that is no move', async () => {
    const backend = embedded({ actionSpace: words })
    const made = batch(backend, [await consult(backend.sampler(), 0, 1)], [1])
    const tokens = Int32Array.from(made.segments[0]?.tokens ?? [])
    tokens[made.segments[0]?.promptLength ?? 0] = 99
    const bad = {
      ...made,
      segments: [{ ...(made.segments[0] as TrainBatch['segments'][number]), tokens }],
    }
    await expect(backend.step(bad)).rejects.toThrow(/expected a drawn token below 5, got 99/)
    expect(backend.policyVersion).toBe(0)
  })
})
