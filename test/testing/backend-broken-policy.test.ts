/** Backends broken in their losses, log-probs or penalties: the check of that promise fails, and no other. */
import { describe, expect, test } from 'vitest'
import type { Backend } from '../../src/backend.js'
import type { TokenSegment } from '../../src/batch.js'
import { backendChecks } from '../../src/testing/backend.js'
import { runChecks } from '../../src/testing/check.js'
import { changed, lacking, material, stepping, withEach, withLoss } from './broken-bandit.js'
import { everything } from './whole-bandit.js'

const only = (what: string, checks: string | readonly string[], open: () => Promise<Backend>) =>
  test(what, async () => {
    const { failures } = await runChecks(backendChecks(open, material))
    expect(failures.map(({ check }) => check)).toEqual([checks].flat())
  })

describe('exactly the broken promises are reported when a backend', () => {
  const likelier = 'a positive advantage makes the drawn tokens likelier, under every loss declared'
  const unlikelier =
    'a negative advantage makes the drawn tokens less likely, under every loss declared'
  only(
    'refuses a loss that it declares',
    likelier,
    changed((inner) => ({
      step: async (batch) => {
        const positive = batch.segments.every(({ advantages }) => advantages[0] === 1)
        if (batch.loss.kind === 'sapo' && positive) throw new RangeError('not sapo')
        return inner.step(batch)
      },
    })),
  )
  only(
    'reports no number under one loss',
    likelier,
    changed((inner) => ({
      step: async (batch) => {
        const report = await inner.step(batch)
        const broken = batch.loss.kind === 'gspo' && batch.segments[0]?.advantages[0] === 1
        return broken ? { ...report, loss: Number.NaN } : report
      },
    })),
  )
  only(
    'learns nothing of failures under one loss',
    unlikelier,
    stepping((batch) =>
      batch.loss.kind === 'cispo'
        ? withEach(batch, ({ advantages }) => ({
            advantages: advantages.map((a) => Math.max(a, 0)),
          }))
        : batch,
    ),
  )

  const undeclared = 'what is not among the capabilities is refused'
  only(
    'takes a loss that it does not declare',
    undeclared,
    lacking({ losses: ['cross-entropy'] }, { losses: everything.losses.slice(0, 4) }),
  )
  only('takes a KL penalty it does not declare', undeclared, lacking({ kl: false }, { kl: true }))
  only(
    'takes a correction it does not declare',
    undeclared,
    lacking({ correction: false }, { correction: true }),
  )

  const correction = 'a correction that masks leaves out what another policy drew'
  only(
    'drops nothing',
    correction,
    stepping((batch) => {
      const { correction: _, ...loss } = batch.loss
      return { ...batch, loss }
    }),
  )
  only(
    'says that it dropped what it learnt from',
    correction,
    changed((inner) => ({
      step: async (batch) => {
        const { correction: asked, ...loss } = batch.loss
        const report = await inner.step({ ...batch, loss })
        const far = ({ oldLogprobs, logprobs }: TokenSegment) => oldLogprobs?.[0] !== logprobs[0]
        return { ...report, droppedFraction: asked && batch.segments.some(far) ? 1 : 0 }
      },
    })),
  )
  only(
    'has no lower bound',
    correction,
    stepping((batch) => {
      const { correction: asked } = batch.loss
      return asked ? withLoss(batch, { correction: { ...asked, min: 0 } }) : batch
    }),
  )

  const fresh = 'log-probs of fresh samples are the sampler’s'
  const masked = 'log-probs are 0 where masked'
  only(
    'asks for log-probs at temperature 1 always',
    fresh,
    changed((inner) => ({
      logprobs: async (segments, options) =>
        (await inner.logprobs?.(
          segments.map((one) => ({ ...one, temperature: 1 })),
          options,
        )) ?? [],
    })),
  )
  only(
    'learns from being asked',
    fresh,
    changed((inner, { policy }) => ({
      logprobs: async (segments, options) => {
        const rows = (await inner.logprobs?.(segments, options)) ?? []
        // After a step only, so that no other promise is touched.
        if (segments[0]?.temperature === 0.5) policy.weights[0] = policy.weights[0]! + 0.1
        return rows
      },
    })),
  )
  only(
    'has log-probs of what it only read',
    masked,
    changed((inner) => ({
      logprobs: async (segments, options) =>
        ((await inner.logprobs?.(segments, options)) ?? []).map((row, s) =>
          row.map((value, t) => (segments[s]?.mask[t] ? value : -1)),
        ),
    })),
  )

  const opened = 'the reference is the policy as it was opened'
  const keeps = 'keepReference takes the weights of its moment'
  only(
    'has no reference but itself',
    [opened, keeps],
    changed((inner) => ({
      logprobs: async (segments) => (await inner.logprobs?.(segments)) ?? [],
    })),
  )
  only(
    'keeps nothing',
    keeps,
    changed(() => ({ keepReference: () => {} })),
  )
  only(
    'keeps what it goes on training',
    keeps,
    changed((inner) => {
      let live = false
      return {
        logprobs: async (segments, { reference = false } = {}) =>
          (await inner.logprobs?.(segments, { reference: reference && !live })) ?? [],
        keepReference: () => {
          live = true
        },
      }
    }),
  )

  const pulls = 'a KL penalty pulls the policy back to the reference'
  only(
    'reports a penalty and does not feel it',
    pulls,
    changed((inner) => ({
      step: async (batch) => {
        const { kl, ...loss } = batch.loss
        const whole = kl && batch.segments.every(({ refLogprobs }) => refLogprobs)
        if (!whole) return inner.step(batch)
        return { ...(await inner.step({ ...batch, loss })), klReference: 0.1 }
      },
    })),
  )
  only(
    'flees its reference',
    pulls,
    stepping((batch) => {
      const { kl } = batch.loss
      return kl ? withLoss(batch, { kl: { ...kl, coefficient: -kl.coefficient } }) : batch
    }),
  )
  only(
    'does not report its penalty',
    pulls,
    changed((inner) => ({
      step: async (batch) => {
        const { klReference: _, ...report } = await inner.step(batch)
        return report
      },
    })),
  )
  only(
    'takes the sampler for the reference it was not given',
    'a KL penalty without log-probs of the reference is refused',
    stepping((batch) =>
      withEach(batch, ({ refLogprobs, logprobs }) => ({ refLogprobs: refLogprobs ?? logprobs })),
    ),
  )
})
