import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Backend } from '../../../src/backend.js'
import type { TokenSegment } from '../../../src/batch.js'
import { clockTicks } from '../../../src/trainers/embedded/belief.js'
import { embedded } from '../../../src/trainers/embedded/embedded.js'
import { batchOf, played, segmentsOf, targetsOf, train } from './batches.js'
import { words } from './play.js'

const open = () => embedded({ actionSpace: words })
const folder = async () => join(await mkdtemp(join(tmpdir(), 'critic-')), 'x')

async function filesOf(backend: Backend): Promise<{ manifest: string; weights: Buffer }> {
  const into = await folder()
  await backend.save(into)
  return {
    manifest: await readFile(join(into, 'policy.json'), 'utf8'),
    weights: await readFile(join(into, 'weights.bin')),
  }
}

/** Numbers that a checkpoint holds of a critic that was never trained: its clock, with the optimiser's state. */
const criticClock = 2 * clockTicks + 2

/** The numbers at drawn tokens, one after another. */
const drawnOf = (segments: readonly TokenSegment[], rows: readonly Float32Array[] = []) =>
  segments.flatMap(({ mask }, s) => [...mask].flatMap((one, t) => (one ? [rows[s]![t]!] : [])))

/** Steps that teach the critic, on episodes of the policy; the policy's advantages are 0 unless `moving`. */
async function teach(backend: Backend, steps: number, { moving = false, from = 0 } = {}) {
  const reports = []
  for (let step = from; step < from + steps; step++) {
    const episodes = await played(backend, 8, { seed: step })
    const segments = moving ? segmentsOf(episodes) : segmentsOf(episodes, () => 0)
    const batch = batchOf(backend, segments, targetsOf(segments, episodes))
    const loss = moving ? batch.loss : { ...batch.loss, entropy: 0 }
    reports.push(await backend.step({ ...batch, loss }))
  }
  return reports
}

describe('the critic', () => {
  test('expects nothing at first', async () => {
    const backend = open()
    const segments = segmentsOf(await played(backend, 4))
    expect(await backend.values?.(segments)).toEqual(
      segments.map(({ mask }) => new Float32Array(mask.length)),
    )
  })

  test('learns what follows: its loss falls and what it explains grows', async () => {
    const backend = open()
    // Of a policy that guesses there is nothing to foresee; of one that asks first, there is.
    await train(backend, 30)
    const reports = await teach(backend, 60)
    const mean = (of: 'loss' | 'explained', part: typeof reports) =>
      part.reduce((sum, { critic }) => sum + (critic?.[of] ?? Number.NaN), 0) / part.length
    const [early, late] = [reports.slice(0, 5), reports.slice(-20)]
    expect(reports[0]?.critic?.explained).toBeCloseTo(0, 12)
    expect(mean('loss', late)).toBeLessThan(mean('loss', early) / 2)
    expect(mean('explained', late)).toBeGreaterThan(mean('explained', early))
  })

  test('finds a return that its features hold: how often the patient said yes', async () => {
    const backend = open()
    const episodes = await played(backend, 40)
    const segments = segmentsOf(episodes, () => 0)
    const returns = segments.map(({ mask, tokens, promptLength, rolloutId }) => {
      const yes = Number(rolloutId.split('/')[0]) % 2 === 0
      let heard = 0
      return Float32Array.from(mask, (one, t) => {
        const before = heard
        const token = tokens[promptLength + t] ?? Number.NaN
        if (one === 1 && yes && words.actions[token]?.kind === 'ask') heard++
        return one * before
      })
    })
    const targets = targetsOf(segments, episodes, { returns })
    for (let step = 0; step < 200; step++) await backend.step(batchOf(backend, segments, targets))
    const values = drawnOf(segments, await backend.values?.(segments))
    const wanted = drawnOf(segments, returns)
    expect(new Set(wanted)).toEqual(new Set([0, 1, 2]))
    const errors = values.map((value, i) => Math.abs(value - (wanted[i] ?? Number.NaN)))
    expect(Math.max(...errors)).toBeLessThan(0.1)
  })

  test('its gradient is that of the loss it reports', async () => {
    const backend = open()
    // An optimiser without momentum of other batches.
    await train(backend, 10)
    const episodes = await played(backend, 6, { seed: 99 })
    const segments = segmentsOf(episodes, () => 0)
    const adam = { learningRate: 1e-5 }
    const targets = targetsOf(segments, episodes, { adam })
    const first = (await backend.step(batchOf(backend, segments, targets))).critic
    const second = (await backend.step(batchOf(backend, segments, targets))).critic
    expect(second?.loss).toBeLessThan(first?.loss ?? Number.NaN)
  })

  test('reports the mean loss of a token, and the share of variance explained', async () => {
    const backend = open()
    await teach(backend, 10)
    const episodes = await played(backend, 8, { seed: 50 })
    const segments = segmentsOf(episodes)
    const targets = targetsOf(segments, episodes, { coefficient: 0.3 })
    const values = drawnOf(segments, await backend.values?.(segments))
    const returns = drawnOf(segments, targets.returns)
    const report = await backend.step(batchOf(backend, segments, targets))
    const average = (of: readonly number[]) => of.reduce((sum, x) => sum + x, 0) / of.length
    const variance = (of: readonly number[]) => average(of.map((x) => (x - average(of)) ** 2))
    const errors = returns.map((x, i) => x - (values[i] ?? Number.NaN))
    expect(report.critic?.loss).toBeCloseTo(average(errors.map((x) => x ** 2 / 2)), 6)
    expect(report.critic?.explained).toBeCloseTo(1 - variance(errors) / variance(returns), 6)
  })

  test('held by a range, does not follow beyond it', async () => {
    const [free, held] = [open(), open()]
    const episodes = await played(free, 8)
    const segments = segmentsOf(episodes)
    const largest = async (backend: Backend, range?: number) => {
      const targets = targetsOf(segments, episodes, {
        adam: { learningRate: 0.01 },
        ...(range === undefined ? {} : { range }),
      })
      for (let step = 0; step < 100; step++) await backend.step(batchOf(backend, segments, targets))
      return Math.max(...drawnOf(segments, await backend.values?.(segments)))
    }
    expect(await largest(free)).toBeGreaterThan(0.6)
    // Adam's momentum carries a prediction somewhat past the bound where its gradient is cut off.
    expect(await largest(held, 0.1)).toBeLessThan(0.4)
  })

  test('learns of each segment as much as the normaliser gives it', async () => {
    const [both, one] = [open(), open()]
    const episodes = await played(both, 2)
    const segments = segmentsOf(episodes)
    for (const [backend, weights] of [
      [both, [1, 1]],
      [one, [1, 0]],
    ] as const) {
      const batch = batchOf(
        backend,
        segments,
        targetsOf(segments, episodes, {
          returns: segments.map(({ mask }) => Float32Array.from(mask)),
        }),
      )
      const perSegment = Float64Array.from(weights)
      await backend.step({ ...batch, normaliser: { ...batch.normaliser, perSegment } })
    }
    // Patient 1 answers in other words than patient 0: what only the second segment holds stays unknown.
    const told = async (backend: Backend) => (await backend.values?.(segments))?.[1]?.at(-1)
    expect(await told(one)).toBeLessThan((await told(both)) ?? Number.NaN)
  })

  test('says 0 of equal returns, which leave nothing to explain', async () => {
    const backend = open()
    const episodes = await played(backend, 4)
    const segments = segmentsOf(episodes)
    const returns = segments.map(({ mask }) => Float32Array.from(mask, (one) => one * 0.1))
    const batch = batchOf(backend, segments, targetsOf(segments, episodes, { returns }))
    expect((await backend.step(batch)).critic?.explained).toBe(0)
  })
})

describe('beside the policy', () => {
  test('it changes no bit of the policy or of the report', async () => {
    const [plain, criticised] = [open(), open()]
    for (let step = 0; step < 5; step++) {
      const episodes = await played(plain, 6, { seed: step })
      const segments = segmentsOf(episodes)
      const report = await plain.step(batchOf(plain, segments))
      const targets = targetsOf(segments, episodes)
      const { critic, ...rest } = await criticised.step(batchOf(criticised, segments, targets))
      expect(critic).toBeDefined()
      expect(rest).toEqual(report)
    }
    const [without, having] = [(await filesOf(plain)).weights, (await filesOf(criticised)).weights]
    expect(having.length).toBeGreaterThan(without.length)
    // The critic's rows come last; without one there is only its clock.
    const policy = without.length - 8 * criticClock
    expect(having.subarray(0, policy).equals(without.subarray(0, policy))).toBe(true)
  })

  test('wrong targets are refused and nothing is applied', async () => {
    const backend = open()
    await teach(backend, 2)
    const episodes = await played(backend, 2)
    const segments = segmentsOf(episodes)
    const good = targetsOf(segments, episodes)
    const before = await filesOf(backend)
    const nan = good.returns.map((row) => row.map(() => Number.NaN))
    const wrong = [
      [{ ...good, returns: good.returns.slice(1) }, /`critic.returns` of 2 segments, got 1/],
      [{ ...good, oldValues: [new Float32Array(0)] }, /`critic.oldValues` of 2 segments, got 1/],
      [{ ...good, returns: nan }, /`critic.returns\[0\]` to be finite where drawn, got NaN/],
      [{ ...good, range: -1 }, /`critic.range` to be >= 0, got `-1`/],
      [{ ...good, coefficient: Number.NaN }, /`critic.coefficient` to be >= 0, got `NaN`/],
    ] as const
    for (const [targets, message] of wrong)
      await expect(backend.step(batchOf(backend, segments, targets))).rejects.toThrow(message)
    expect(await filesOf(backend)).toEqual(before)
  })
})

describe('its checkpoint', () => {
  test('goes on as if nothing had happened', async () => {
    const straight = open()
    await teach(straight, 6, { moving: true })
    const broken = open()
    await teach(broken, 3, { moving: true })
    const half = await folder()
    await broken.save(half)
    const resumed = open()
    await resumed.load(half)
    await teach(resumed, 3, { moving: true, from: 3 })
    expect(await filesOf(resumed)).toEqual(await filesOf(straight))
  })

  test('holds rows that joined after the critic was last trained', async () => {
    const backend = open()
    const episodes = (await played(backend, 8)).slice(0, 1)
    const segments = segmentsOf(episodes)
    await backend.step(batchOf(backend, segments, targetsOf(segments, episodes)))
    await train(backend, 3)
    const half = await folder()
    await backend.save(half)
    const loaded = open()
    await loaded.load(half)
    const some = segmentsOf(await played(backend, 8))
    expect(await loaded.values?.(some)).toEqual(await backend.values?.(some))
    expect(await filesOf(loaded)).toEqual(await filesOf(backend))
  })

  test('without a critic loads as a critic that expects nothing', async () => {
    const plain = open()
    await train(plain, 3)
    const { manifest, weights } = await filesOf(plain)
    expect(JSON.parse(manifest)).toMatchObject({ format: 'bedside-embedded/3', critic: 1 })
    const half = await folder()
    await plain.save(half)
    const backend = open()
    await teach(backend, 2)
    await backend.load(half)
    const segments = segmentsOf(await played(backend, 4))
    expect(drawnOf(segments, await backend.values?.(segments)).every((v) => v === 0)).toBe(true)
    expect(await filesOf(backend)).toEqual({ manifest, weights })
  })

  test('of which the critic was cut off is refused', async () => {
    const backend = open()
    await teach(backend, 2)
    const half = await folder()
    await backend.save(half)
    const file = join(half, 'policy.json')
    const manifest = JSON.parse(await readFile(file, 'utf8'))
    await writeFile(file, JSON.stringify({ ...manifest, critic: 1 }))
    await expect(open().load(half)).rejects.toMatchObject({
      code: 'bad-checkpoint',
      message: expect.stringContaining('expected weights.bin of'),
    })
    await rm(half, { recursive: true })
  })
})
