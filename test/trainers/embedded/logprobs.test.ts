import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { TokenSegment } from '../../../src/batch.js'
import { embedded } from '../../../src/trainers/embedded/embedded.js'
import { batchOf, played, segmentsOf, train } from './batches.js'
import { words } from './play.js'

const open = () => embedded({ actionSpace: words })
const sampled = (segments: readonly TokenSegment[]) => segments.map(({ logprobs }) => logprobs)

describe('log-probs', () => {
  test.each([1, 0.7])(
    'are the sampler’s to the bit on fresh samples, temperature %d',
    async (t) => {
      const backend = open()
      await train(backend, 5)
      const segments = segmentsOf(await played(backend, 6, { temperature: t }))
      expect(segments.some(({ mask }) => mask.includes(0))).toBe(true)
      expect(await backend.logprobs?.(segments)).toEqual(sampled(segments))
    },
  )

  test('are those that the next step sees of older samples', async () => {
    const backend = open()
    const segments = segmentsOf(await played(backend, 6))
    await train(backend, 3)
    const now = (await backend.logprobs?.(segments)) ?? []
    // The k1 estimate of a step is log p_sampler - log p, averaged over drawn tokens.
    let [sum, drawn] = [0, 0]
    segments.forEach(({ mask, logprobs }, s) => {
      mask.forEach((one, t) => {
        if (one === 0) return
        sum += (logprobs[t] ?? Number.NaN) - (now[s]?.[t] ?? Number.NaN)
        drawn++
      })
    })
    const report = await backend.step(batchOf(backend, segments))
    expect(Math.abs(report.kl)).toBeGreaterThan(0.01)
    expect(sum / drawn).toBeCloseTo(report.kl, 6)
  })

  test('asked of segments nobody trained on leave no row behind', async () => {
    const [asked, quiet] = [open(), open()]
    // Other patients first, so that rows made on the way would stand in another order.
    const strange = segmentsOf(await played(asked, 5, { seed: 77 })).reverse()
    await asked.logprobs?.(strange)
    await asked.values?.(strange)
    const episodes = await played(quiet, 6, { seed: 5 })
    const reports = []
    for (const backend of [asked, quiet])
      reports.push(await backend.step(batchOf(backend, segmentsOf(episodes))))
    expect(reports[0]).toEqual(reports[1])
    expect(await weightsOf(asked)).toBe(await weightsOf(quiet))
  })

  test('of the same tokens under another mask are of that mask', async () => {
    const backend = open()
    await train(backend, 3)
    const segments = segmentsOf(await played(backend, 6))
    await backend.logprobs?.(segments)
    const first = segments.map((segment) => ({
      ...segment,
      mask: segment.mask.map((one, t) => (t === 0 ? one : 0)),
    }))
    const got = (await backend.logprobs?.(first)) ?? []
    expect(got.map((row) => [...row])).toEqual(
      sampled(segments).map((row) => [...row].map((value, t) => (t === 0 ? value : 0))),
    )
  })

  test('of a segment drawn without chance are refused', async () => {
    const backend = open()
    const segments = segmentsOf(await played(backend, 1, { temperature: 0 }))
    await expect(backend.logprobs?.(segments)).rejects.toThrow(
      'segments[0] of rollout 0/0: expected a temperature above 0, got 0',
    )
  })
})

/** The exported weights; the format holds rows in their order. */
async function weightsOf(backend: ReturnType<typeof open>): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), 'embedded-')), 'x.json')
  await backend.export('json', file)
  return readFile(file, 'utf8')
}

describe('the reference', () => {
  test('is at first the policy as opened: every question equally likely', async () => {
    const backend = open()
    await train(backend, 4)
    const segments = segmentsOf(await played(backend, 4))
    const uniform = await backend.logprobs?.(segments, { reference: true })
    expect(uniform).toEqual(await open().logprobs?.(segments))
    expect(uniform?.[0]?.[0]).toBeCloseTo(-Math.log(1 + Math.exp(-3)) - Math.log(3), 6)
  })

  test('kept, stays as it was while the policy moves on', async () => {
    const backend = open()
    await train(backend, 3)
    const segments = segmentsOf(await played(backend, 6))
    backend.keepReference?.()
    await train(backend, 3)
    expect(await backend.logprobs?.(segments, { reference: true })).toEqual(sampled(segments))
    expect(await backend.logprobs?.(segments)).not.toEqual(sampled(segments))
  })

  test('of one checkpoint outlives the loading of another, whose rows stand elsewhere', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'embedded-'))
    const [one, other, backend] = [open(), open(), open()]
    await train(one, 3)
    await one.save(join(folder, 'one'))
    await other.step(batchOf(other, segmentsOf(await played(other, 6)).reverse()))
    await other.save(join(folder, 'other'))
    await backend.load(join(folder, 'one'))
    backend.keepReference?.()
    await backend.load(join(folder, 'other'))
    const segments = segmentsOf(await played(one, 6))
    expect(await backend.logprobs?.(segments, { reference: true })).toEqual(sampled(segments))
    expect(await backend.logprobs?.(segments)).toEqual(await other.logprobs?.(segments))
  })
})
