/** Conformance checks of a backend's critic. */
import type { Backend } from '../backend.js'
import type { TokenSegment } from '../batch.js'
import {
  addCritic,
  drawnValues,
  expectRows,
  maskFirstDrawn,
  type SegmentRows,
} from './backend-batches.js'
import {
  type BenchCheck,
  type BenchChecks,
  expectUnapplied,
  reportNumbers,
} from './backend-bench.js'
import { makeFolder } from './backend-checkpoint.js'
import { expectSame, expectThat } from './expect.js'

/** A return far from an untrained critic's values, so that no step of a usual size overshoots it. */
const farReturn = 10

/** Makes a check of a backend's critic, skipped where the backend has none. */
const requireCritic =
  (work: BenchCheck): BenchCheck =>
  async (b, backend) =>
    backend.capabilities.critic ? work(b, backend) : b.skip('the backend declares no critic')

/** The critic's values, checked to be well-formed. */
async function getValues(
  backend: Backend,
  segments: readonly TokenSegment[],
): Promise<SegmentRows> {
  expectThat(backend.values !== undefined, '`values` of a backend with a critic', 'none')
  const rows = await backend.values(segments)
  expectRows('values', rows, segments)
  return rows
}

/** Mean absolute error of the values at drawn tokens, against `farReturn`. */
async function valueError(backend: Backend, segments: readonly TokenSegment[]): Promise<number> {
  const values = drawnValues(segments, await getValues(backend, segments))
  return values.reduce((sum, value) => sum + Math.abs(value - farReturn), 0) / values.length
}

/** Checks of a critic. */
export const criticChecks: BenchChecks = {
  'it has values exactly where it declares a critic': async (_, { values, capabilities }) => {
    const declared = capabilities.critic ?? false
    expectSame('whether there are `values`', values !== undefined, declared)
  },

  'values are finite, and 0 where masked': requireCritic(async (b, backend) => {
    const batch = await b.single(backend, 1)
    await backend.step(addCritic(batch, farReturn))
    const before = await b.behaviour(backend)
    await getValues(backend, batch.segments)
    await getValues(backend, batch.segments.map(maskFirstDrawn))
    b.expectClose('the behaviour after', await b.behaviour(backend), before)
  }),

  'values move towards the returns they are shown': requireCritic(async (b, backend) => {
    const batch = addCritic(await b.batch(backend, 0), farReturn)
    const before = await valueError(backend, batch.segments)
    for (let step = 0; step < 3; step++) {
      const report = await backend.step({ ...batch, policyVersion: backend.policyVersion })
      const { loss = Number.NaN, explained = Number.NaN } = report.critic ?? {}
      const sound = Number.isFinite(loss) && Number.isFinite(explained)
      expectThat(sound, 'a report with a finite `critic`', report)
    }
    const after = await valueError(backend, batch.segments)
    expectThat(after < before, `values closer to the returns than ${before}`, String(after))
  }),

  'a critic does not change the step of the policy': requireCritic(async (b, plain) => {
    await using criticised = await b.open()
    for (const advantage of [1, undefined]) {
      const batch = await b.batch(plain, advantage)
      const expected = reportNumbers(await plain.step(batch))
      const { critic: _, ...report } = await criticised.step(addCritic(batch, farReturn))
      b.expectClose('the report beside a critic', reportNumbers(report), expected)
      const after = await b.behaviour(plain)
      b.expectClose('the behaviour beside it', await b.behaviour(criticised), after)
    }
  }),

  'damaged targets of a critic are refused': requireCritic(async (b, backend) => {
    const batch = await b.batch(backend)
    await expectUnapplied(b, backend, 'NaN returns', addCritic(batch, Number.NaN))
    const { critic, ...rest } = addCritic(batch, 1)
    const short = { ...rest, ...(critic ? { critic: { ...critic, returns: [] } } : {}) }
    await expectUnapplied(b, backend, 'segments without returns', short)
  }),

  'a loaded checkpoint has the critic that was saved': requireCritic(async (b, one) => {
    await using folder = await makeFolder()
    await using other = await b.open()
    const first = addCritic(await b.batch(one, 1), farReturn)
    const drawn = async (backend: Backend) =>
      drawnValues(first.segments, await getValues(backend, first.segments))
    await one.step(first)
    await one.save(folder.path)
    await other.load(folder.path)
    b.expectClose('the values', await drawn(other), await drawn(one))
    // Different returns, so that a lost optimiser state shows.
    const batch = addCritic(await b.batch(one), -1)
    const expected = reportNumbers(await one.step(batch))
    const got = reportNumbers(await other.step(batch))
    b.expectClose('the next report', got, expected)
    b.expectClose('the values a step later', await drawn(other), await drawn(one))
  }),
}
