/** Conformance checks of a backend (`backend.ts`): steps counted once, refusals before any gradient, exact resumes. */
import type { Backend } from '../backend.js'
import { countDrawnTokens } from '../batch.js'
import type { Episode } from '../episode.js'
import { expectSample } from './agent.js'
import type { BackendMaterial, BenchChecks } from './backend-bench.js'
import { episodeDraws, makeBench, reportNumbers } from './backend-bench.js'
import { checkpointChecks } from './backend-checkpoint.js'
import { criticChecks } from './backend-critic.js'
import { demonstrationChecks } from './backend-demonstration.js'
import { lossChecks } from './backend-losses.js'
import { referenceChecks } from './backend-reference.js'
import { refusalChecks } from './backend-refusals.js'
import type { Check } from './check.js'
import { expectSame, expectThat } from './expect.js'

const samplingChecks: BenchChecks = {
  'moves carry the tokens they were drawn as': async (b, backend) => {
    for (const episode of await b.play(backend)) {
      const draws = episodeDraws([episode])
      expectThat(draws.length > 0, 'a draw in every episode', 'none')
      for (const draw of draws) expectSample({ ...draw, prompt: draw.heard })
    }
  },

  'draws carry the policy version, before and after a step': async (b, backend) => {
    const checkVersions = async () => {
      for (const { policyVersion } of episodeDraws(await b.play(backend)))
        expectSame('draw.policyVersion', policyVersion, backend.policyVersion)
    }
    await checkVersions()
    await backend.step(await b.batch(backend))
    await checkVersions()
  },

  'draws carry the temperature that was asked for': async (b, backend) => {
    for (const temperature of [1, 0.5]) {
      const episode = await b.material.play(backend.sampler({ temperature }), 0)
      for (const draw of episodeDraws([episode]))
        expectSame('draw.temperature', draw.temperature, temperature)
    }
  },

  'a sampler keeps the weights of its moment': async (b, backend) => {
    const old = backend.sampler()
    const before = await b.material.play(old, 0)
    await backend.step(await b.batch(backend, 1))
    const after = await b.material.play(old, 0)
    const drawn = (episode: Episode) =>
      episodeDraws([episode]).map(({ tokens, logprobs, policyVersion }) => [
        policyVersion,
        tokens,
        logprobs,
      ])
    b.expectClose('what an old sampler draws', drawn(after), drawn(before))
  },
}

const stepChecks: BenchChecks = {
  'the policy version grows by one with every step': async (b, backend) => {
    for (let step = 0; step < 3; step++) {
      const before = backend.policyVersion
      const report = await backend.step(await b.batch(backend))
      expectSame('policyVersion after a step', backend.policyVersion, before + 1)
      expectSame('report.policyVersion', report.policyVersion, before + 1)
    }
  },

  'a report is finite and counts the drawn tokens': async (b, backend) => {
    const batch = await b.batch(backend)
    const report = await backend.step(batch)
    expectThat(reportNumbers(report).every(Number.isFinite), 'finite numbers in a report', report)
    const drawn = batch.segments.reduce((sum, segment) => sum + countDrawnTokens(segment), 0)
    expectSame('report.tokens', report.tokens, drawn)
    for (const share of ['clipFraction', 'ess'] as const) {
      const value = report[share]
      expectThat(value >= 0 && value <= 1 + 1e-9, `${share} from 0 to 1`, value)
    }
  },

  'on fresh samples the ratio is 1': async (b, backend) => {
    const report = await backend.step(await b.batch(backend))
    const { mean, max } = report.ratio
    b.expectClose('the ratio (mean, max)', [mean, max], [1, 1])
    b.expectClose('the log-prob gap', report.logprobGap.max, 0)
  },

  'the same batch on the same weights does the same': async (b, one) => {
    await using other = await b.open()
    const batch = await b.batch(one)
    const reports = [await one.step(batch), await other.step(batch)]
    const [first, second] = reports.map((report) => reportNumbers(report))
    b.expectClose('the second report', second, first)
    const after = await b.behaviour(one)
    b.expectClose('the behaviour of the second', await b.behaviour(other), after)
  },

  'two backends share no weights': async (b, one) => {
    await using other = await b.open()
    const before = await b.behaviour(other)
    await one.step(await b.batch(one, 1))
    b.expectClose('the behaviour of the other', await b.behaviour(other), before)
  },
}

/**
 * Lists every promise of the backend contract as a check. A check of an optional part that the backend lacks calls
 * `skip` of the context given to `run`; Vitest and `node:test` then report it as skipped.
 * @param open opens a backend with the same weights at every call
 */
export function backendChecks(
  open: () => Promise<Backend>,
  material: BackendMaterial,
): readonly Check[] {
  const promises: BenchChecks = {
    ...samplingChecks,
    ...stepChecks,
    ...lossChecks,
    ...refusalChecks,
    ...referenceChecks,
    ...criticChecks,
    ...demonstrationChecks,
    ...checkpointChecks(material.openOther),
    // The second time is that of every check.
    'closing twice is harmless': (_, backend) => Promise.resolve(backend[Symbol.asyncDispose]()),
  }
  return Object.entries(promises).map(([name, check]) => ({
    name,
    async run(context) {
      await using backend = await open()
      await check(makeBench(open, material, context), backend)
    },
  }))
}
