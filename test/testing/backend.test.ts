import { describe, expect, test } from 'vitest'
import type { Agent, Move } from '../../src/agent.js'
import type { Backend, Capabilities } from '../../src/backend.js'
import { assertSteppable } from '../../src/backend.js'
import type { TrainBatch } from '../../src/batch.js'
import { Fault } from '../../src/error.js'
import { backendChecks } from '../../src/testing/backend.js'
import type { BackendMaterial } from '../../src/testing/backend-bench.js'
import { runChecks } from '../../src/testing/check.js'
import type { BanditHooks, BanditState } from '../fixtures/bandit.js'
import { bandit, freshState } from '../fixtures/bandit.js'
import { material as shared } from './broken-bandit.js'
import { bare, testAll } from './run-checks.js'

const naming =
  (diagnosis: string): Agent =>
  () => ({ action: { kind: 'diagnose', diagnosis } })
const doctors = ['Pneumonia', 'Gastritis', 'Angina'].map(naming)

const material: BackendMaterial = {
  ...shared,
  openOther: async () => bandit(doctors.slice(0, 2)),
}

const failing = async (open: () => Promise<Backend>) =>
  (await runChecks(backendChecks(open, material))).failures.map(({ check }) => check)

/** A bandit with some of its members replaced by ones that know its insides. */
const changed =
  (
    change: (inner: Backend, state: BanditState) => Partial<Backend>,
    hooks?: BanditHooks,
    state = () => freshState(doctors.length),
  ) =>
  async (): Promise<Backend> => {
    const own = state()
    const inner = bandit(doctors, own, hooks)
    const other = change(inner, own)
    return {
      name: inner.name,
      capabilities: inner.capabilities,
      get policyVersion() {
        return inner.policyVersion
      },
      sampler: other.sampler ?? inner.sampler,
      step: other.step ?? inner.step,
      save: other.save ?? inner.save,
      load: other.load ?? inner.load,
      export: other.export ?? inner.export,
      [Symbol.asyncDispose]: other[Symbol.asyncDispose] ?? inner[Symbol.asyncDispose],
    }
  }

/** A bandit whose first moves carry another sample. */
const sampling = (change: (sample: NonNullable<Move['sample']>) => NonNullable<Move['sample']>) =>
  changed((inner) => ({
    sampler: (options) => {
      const agent = inner.sampler(options)
      return async (observation, context) => {
        const move = await agent(observation, context)
        return move.sample ? { ...move, sample: change(move.sample) } : move
      }
    },
  }))

const checking = (check: (batch: TrainBatch, state: BanditState) => void) =>
  changed(() => ({}), { check })

describe('a bandit over scripted doctors keeps the backend contract', () => {
  testAll(
    backendChecks(async () => bandit(doctors), material),
    bare,
  )
})

describe('exactly the broken promise is reported when a backend', () => {
  const only = (what: string, check: string, open: () => Promise<Backend>) =>
    test(what, async () => expect(await failing(open)).toEqual([check]))

  only(
    'gives a log-prob too many',
    'moves carry the tokens they were drawn as',
    sampling((sample) => ({ ...sample, logprobs: [...sample.logprobs, -1] })),
  )
  only(
    'names version 0 for ever',
    'draws carry the policy version, before and after a step',
    sampling((sample) => ({ ...sample, policyVersion: 0 })),
  )
  only(
    'does not hear of temperature',
    'draws carry the temperature that was asked for',
    changed((inner) => ({ sampler: () => inner.sampler() })),
  )
  only(
    'samples from the weights of the day',
    'a sampler keeps the weights of its moment',
    changed((inner) => ({
      sampler: (options) => (observation, context) => inner.sampler(options)(observation, context),
    })),
  )
  only(
    'doubles a step',
    'the policy version grows by one with every step',
    changed((inner, state) => ({
      step: async (batch) => {
        const report = await inner.step(batch)
        const { policyVersion } = await inner.step({ ...batch, policyVersion: state.version })
        return { ...report, policyVersion }
      },
    })),
  )
  only(
    'counts more tokens than were drawn',
    'a report is finite and counts the drawn tokens',
    changed((inner) => ({
      step: async (batch) => ({ ...(await inner.step(batch)), tokens: 99 }),
    })),
  )
  only(
    'recomputes other log-probs than it sampled',
    'on fresh samples the ratio is 1',
    changed((inner) => ({
      step: async (batch) => ({
        ...(await inner.step(batch)),
        logprobGap: { mean: 0.1, max: 0.4 },
      }),
    })),
  )

  let opened = 0
  only(
    'opens other weights each time',
    'the same batch on the same weights does the same',
    changed(
      () => ({}),
      {},
      () => ({ ...freshState(3), logits: [0.01 * opened++, 0, 0] }),
    ),
  )
  only(
    'never learns from a success',
    'a positive advantage makes the drawn tokens likelier, under every loss declared',
    changed(() => ({}), { advantage: (a) => -Math.abs(a) }),
  )
  only(
    'takes every failure for a success',
    'a negative advantage makes the drawn tokens less likely, under every loss declared',
    changed(() => ({}), { advantage: (a) => Math.abs(a) }),
  )
  only(
    'forgets a little with every step',
    'zero advantages leave the policy as it was',
    changed((inner, state) => ({
      step: async (batch) => {
        const report = await inner.step(batch)
        state.logits[0] = state.logits[0]! + 0.01
        return report
      },
    })),
  )

  const { capabilities } = bandit(doctors)
  only(
    'takes a batch of another version',
    'a batch of another policy version is refused',
    checking((batch) => {
      assertSteppable({ capabilities, policyVersion: batch.policyVersion }, batch)
    }),
  )
  only(
    'refuses another version after it was applied',
    'a batch of another policy version is refused',
    checking((batch, state) => {
      assertSteppable({ capabilities, policyVersion: batch.policyVersion }, batch)
      if (batch.policyVersion === state.version) return
      state.logits[1] = 3
      throw new RangeError('too late')
    }),
  )
  only(
    'refuses another version with any error',
    'a batch of another policy version is refused',
    checking((batch, state) => {
      assertSteppable({ capabilities, policyVersion: batch.policyVersion }, batch)
      if (batch.policyVersion !== state.version) throw new Error('no')
    }),
  )
  only(
    'takes any loss',
    'what is not among the capabilities is refused',
    checking((batch, { version }) => {
      const any: Capabilities = { ...capabilities, losses: [batch.loss.kind] }
      assertSteppable({ capabilities: any, policyVersion: version }, batch)
    }),
  )
  only(
    'takes any normaliser',
    'what is not among the capabilities is refused',
    checking((batch, { version }) => {
      const any: Capabilities = { ...capabilities, normalisers: [batch.normaliser.kind] }
      assertSteppable({ capabilities: any, policyVersion: version }, batch)
    }),
  )
  only(
    'takes an entropy bonus it does not have',
    'what is not among the capabilities is refused',
    checking((batch, { version }) => {
      const any: Capabilities = { ...capabilities, entropy: true }
      assertSteppable({ capabilities: any, policyVersion: version }, batch)
    }),
  )
  only(
    'takes a damaged batch',
    'an empty or damaged batch is refused',
    checking((batch, { version }) => {
      const [first] = batch.segments
      const whole =
        first && first.mask.length > 0 && Number.isFinite(batch.normaliser.perSegment[0])
      // Damage other than a NaN advantage is refused as it should be.
      if (whole && Number.isNaN(first.advantages[0])) return
      assertSteppable({ capabilities, policyVersion: version }, batch)
    }),
  )

  only(
    'loses the state of its optimiser',
    'a loaded checkpoint goes on as if nothing had happened',
    changed((inner, state) => ({
      load: async (folder) => {
        await inner.load(folder)
        state.mean = state.mean.map(() => 0)
      },
    })),
  )
  only(
    'comes back at version 0',
    'a loaded checkpoint goes on as if nothing had happened',
    changed((inner, state) => ({
      load: async (folder) => {
        await inner.load(folder)
        state.version = 0
      },
    })),
  )
  only(
    'changes its weights to save them',
    'saving does not change the policy',
    changed((inner, state) => ({
      save: async (folder) => {
        state.logits = state.logits.map((logit, i) => logit + i * 0.1)
        await inner.save(folder)
      },
    })),
  )
  only(
    'loses its weights to a damaged checkpoint',
    'a damaged checkpoint is refused and the weights stay',
    changed((inner, state) => ({
      load: async (folder) => {
        try {
          await inner.load(folder)
        } catch (error) {
          // Another policy shape leaves them alone, so that only the damage is at fault.
          if (Fault.is(error) && error.cause) state.logits = [1, 2, 3]
          throw error
        }
      },
    })),
  )
  only(
    'reports a damaged checkpoint as any error',
    'a damaged checkpoint is refused and the weights stay',
    changed((inner) => ({
      load: (folder) =>
        inner.load(folder).catch((error) => {
          throw Fault.is(error) && error.cause ? error.cause : error
        }),
    })),
  )
  only(
    'loads any shape',
    'a checkpoint of another policy shape is refused',
    changed((inner) => ({
      load: (folder) =>
        inner.load(folder).catch((error) => {
          if (Fault.is(error) && error.cause === undefined) return
          throw error
        }),
    })),
  )
  only(
    'writes no export',
    'every export format declared writes a file, and no other',
    changed((inner) => ({
      export: async (format, file) => {
        if (format !== 'json') await inner.export(format, file)
      },
    })),
  )
  only(
    'writes any format as JSON',
    'every export format declared writes a file, and no other',
    changed((inner) => ({ export: (_, file) => inner.export('json', file) })),
  )
  only(
    'cannot be closed twice',
    'closing twice is harmless',
    changed(() => {
      let open = true
      return {
        [Symbol.asyncDispose]: async () => {
          if (!open) throw new Error('closed already')
          open = false
        },
      }
    }),
  )
})

test('two backends on the same weights are found out', async () => {
  const common = freshState(doctors.length)
  const names = await failing(
    changed(
      () => ({}),
      {},
      () => common,
    ),
  )
  expect(names).toContain('two backends share no weights')
})

test('without another shape there is no check of it to pass', () => {
  const { openOther: _, ...rest } = material
  const names = backendChecks(async () => bandit(doctors), rest).map(({ name }) => name)
  expect(names).not.toContain('a checkpoint of another policy shape is refused')
})
