/** The part of a backend's contract about its critic. */
import type { Backend } from '../backend.js'
import type { TokenSegment } from '../batch.js'
import { drawnOf, expectRows, hideFirst, type Rows, withCritic } from './backend-batches.js'
import type { Bench, BenchChecks } from './bench.js'
import { expectAlike, expectUnapplied, numbersOf } from './bench.js'
import { inFolder } from './checkpoint.js'
import { expectSame, expectThat } from './expect.js'

/** Far from what an untrained critic expects, so that no step of a usual size goes beyond it. */
const farReturn = 10

/** A check on a backend with a critic, which says so where there is none. */
const whereCritic =
  (work: (b: Bench, backend: Backend) => Promise<void>) =>
  (b: Bench): Promise<void> =>
    b.with(1, async (backend) => {
      if (!backend.capabilities.critic) return b.skip('the backend declares no critic')
      await work(b, backend)
    })

async function valuesOf(backend: Backend, segments: readonly TokenSegment[]): Promise<Rows> {
  expectThat(backend.values !== undefined, '`values` of a backend with a critic', 'none')
  const rows = await backend.values(segments)
  expectRows('values', rows, segments)
  return rows
}

/** The mean distance from the return at drawn tokens. */
async function distance(backend: Backend, segments: readonly TokenSegment[]): Promise<number> {
  const values = drawnOf(segments, await valuesOf(backend, segments))
  return values.reduce((sum, value) => sum + Math.abs(value - farReturn), 0) / values.length
}

/** The checks of a critic. */
export const criticising: BenchChecks = {
  'it has values exactly where it declares a critic': (b) =>
    b.with(1, async ({ values, capabilities }) => {
      const declared = capabilities.critic ?? false
      expectSame('whether there are `values`', values !== undefined, declared)
    }),

  'values are finite, and 0 where masked': whereCritic(async (b, backend) => {
    const batch = await b.single(backend, 1)
    await backend.step(withCritic(batch, farReturn))
    const before = await b.behaviour(backend)
    await valuesOf(backend, batch.segments)
    await valuesOf(backend, batch.segments.map(hideFirst))
    expectAlike('the behaviour after', await b.behaviour(backend), before, b.tolerance)
  }),

  'values move towards the returns they are shown': whereCritic(async (b, backend) => {
    const batch = withCritic(await b.batch(backend, 0), farReturn)
    const before = await distance(backend, batch.segments)
    for (let step = 0; step < 3; step++) {
      const report = await backend.step({ ...batch, policyVersion: backend.policyVersion })
      const { loss = Number.NaN, explained = Number.NaN } = report.critic ?? {}
      const sound = Number.isFinite(loss) && Number.isFinite(explained)
      expectThat(sound, 'a report with a finite `critic`', report)
    }
    const after = await distance(backend, batch.segments)
    expectThat(after < before, `values closer to the returns than ${before}`, String(after))
  }),

  'a critic does not change the step of the policy': whereCritic((b, plain) =>
    b.with(1, async (having) => {
      for (const advantage of [1, undefined]) {
        const batch = await b.batch(plain, advantage)
        const expected = numbersOf(await plain.step(batch))
        const { critic: _, ...report } = await having.step(withCritic(batch, farReturn))
        expectAlike('the report beside a critic', numbersOf(report), expected, b.tolerance)
        const after = await b.behaviour(plain)
        expectAlike('the behaviour beside it', await b.behaviour(having), after, b.tolerance)
      }
    }),
  ),

  'damaged targets of a critic are refused': whereCritic(async (b, backend) => {
    const batch = await b.batch(backend)
    await expectUnapplied(b, backend, 'NaN returns', withCritic(batch, Number.NaN))
    const { critic, ...rest } = withCritic(batch, 1)
    const short = { ...rest, ...(critic ? { critic: { ...critic, returns: [] } } : {}) }
    await expectUnapplied(b, backend, 'segments without returns', short)
  }),

  'a loaded checkpoint has the critic that was saved': whereCritic((b, one) =>
    b.with(1, (other) =>
      inFolder(async (folder) => {
        const first = withCritic(await b.batch(one, 1), farReturn)
        const { segments } = first
        await one.step(first)
        await one.save(folder)
        await other.load(folder)
        const alike = async (what: string) => {
          const [got, expected] = [await valuesOf(other, segments), await valuesOf(one, segments)]
          expectAlike(what, drawnOf(segments, got), drawnOf(segments, expected), b.tolerance)
        }
        await alike('the values')
        // Other returns, so that a lost optimiser state shows.
        const batch = withCritic(await b.batch(one), -1)
        const expected = numbersOf(await one.step(batch))
        expectAlike('the next report', numbersOf(await other.step(batch)), expected, b.tolerance)
        await alike('the values a step later')
      }),
    ),
  ),
}
