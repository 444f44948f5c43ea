/** Conformance checks of a backend's losses: every objective that it declares, and importance corrections. */
import type { Loss, Objective } from '../batch.js'
import { addCorrection } from './backend-batches.js'
import { type BenchCheck, type BenchChecks, reportNumbers } from './backend-bench.js'
import { expectAnswer, expectSame, expectThat } from './expect.js'

/** One objective of each kind, with the papers' bounds; a new kind is a compile error here. */
const objectives: { readonly [K in Objective['kind']]: Extract<Objective, { kind: K }> } = {
  'policy-gradient': { kind: 'policy-gradient' },
  'importance-sampling': { kind: 'importance-sampling' },
  'cross-entropy': { kind: 'cross-entropy' },
  'ppo-clip': { kind: 'ppo-clip', low: 0.2, high: 0.28 },
  cispo: { kind: 'cispo', low: 1, high: 2 },
  gspo: { kind: 'gspo', low: 3e-4, high: 4e-4 },
  sapo: { kind: 'sapo', tauPositive: 1, tauNegative: 1.05 },
}

/** Makes a loss of a kind, without entropy bonus or KL penalty. */
export const makeLoss = (kind: Objective['kind']): Loss => ({ ...objectives[kind], entropy: 0 })

/** Makes a check that a step with any loss moves the mean ratio of the next step to the advantage's side of 1. */
const expectRatioSide =
  (advantage: 1 | -1): BenchCheck =>
  async (b, { capabilities }) => {
    const { losses } = capabilities
    expectThat(losses.length > 0, 'at least one loss among the capabilities', losses)
    for (const own of [undefined, ...losses]) {
      await using backend = await b.open()
      const given = await b.single(backend, advantage)
      const batch = { ...given, loss: own ? makeLoss(own) : given.loss }
      const what = `a step with \`${batch.loss.kind}\` and advantage ${advantage}`
      const report = await expectAnswer(what, () => backend.step(batch))
      expectThat(reportNumbers(report).every(Number.isFinite), `finite numbers of ${what}`, report)
      const { ratio } = await backend.step({ ...batch, policyVersion: backend.policyVersion })
      const expected = `a mean ratio ${advantage > 0 ? 'above' : 'below'} 1 after ${what}`
      expectThat(advantage * (ratio.mean - 1) > 0, expected, String(ratio.mean))
    }
  }

/** Checks of the effect of advantages under each loss, and of importance corrections. */
export const lossChecks: BenchChecks = {
  'a positive advantage makes the drawn tokens likelier, under every loss declared':
    expectRatioSide(1),

  'a negative advantage makes the drawn tokens less likely, under every loss declared':
    expectRatioSide(-1),

  'zero advantages leave the policy as it was': async (b, backend) => {
    const before = await b.behaviour(backend)
    await backend.step(await b.batch(backend, 0))
    b.expectClose('the behaviour', await b.behaviour(backend), before)
  },

  'a correction that masks leaves out what another policy drew': async (b, backend) => {
    if (!backend.capabilities.correction) return b.skip('the backend declares no correction')
    const before = await b.behaviour(backend)
    for (const level of ['token', 'sequence'] as const) {
      for (const off of [5, -5]) {
        const what = `${off} nats off at ${level} level`
        const batch = addCorrection(await b.single(backend, 1), level, off)
        const { droppedFraction } = await backend.step(batch)
        expectSame(`droppedFraction ${what}`, droppedFraction, 1)
        b.expectClose(`the behaviour ${what}`, await b.behaviour(backend), before)
      }
      const within = addCorrection(await b.single(backend, 0), level)
      const { droppedFraction } = await backend.step(within)
      expectSame('droppedFraction on fresh samples', droppedFraction, 0)
    }
  },
}
