/** Backends broken in their critic or their demonstrations: the checks of those promises fail, and no other. */
import { describe, expect, test } from 'vitest'
import type { Backend } from '../../src/backend.js'
import type { TokenSegment } from '../../src/batch.js'
import { backendChecks } from '../../src/testing/backend.js'
import { runChecks } from '../../src/testing/check.js'
import { noFacts } from '../../src/turn.js'
import {
  changed,
  diagnoses,
  lacking,
  material,
  stepping,
  withEach,
  without,
} from './broken-bandit.js'
import { wholeState } from './whole-bandit.js'

const only = (what: string, checks: string | readonly string[], open: () => Promise<Backend>) =>
  test(what, async () => {
    const { failures } = await runChecks(backendChecks(open, material))
    expect(failures.map(({ check }) => check)).toEqual([checks].flat())
  })

describe('exactly the broken promises are reported when a backend', () => {
  const undeclared = 'what is not among the capabilities is refused'
  const declared = 'it has values exactly where it declares a critic'
  const finite = 'values are finite, and 0 where masked'
  const moving = 'values move towards the returns they are shown'
  const saved = 'a loaded checkpoint has the critic that was saved'
  only('has values and no critic', declared, lacking({ critic: false }))
  only(
    'takes a critic it does not declare',
    undeclared,
    without('values', lacking({ critic: false }, { critic: true })),
  )
  only(
    'has a critic and no values',
    [declared, finite, moving, saved],
    without(
      'values',
      changed(() => ({})),
    ),
  )
  only(
    'has values of what it only read',
    finite,
    changed((_, state) => ({
      values: async (segments) =>
        segments.map(({ mask }) =>
          Float32Array.from(mask, (m, t) => (m || t > 0 ? 1 : 0.5) * state.critic.weights[0]!),
        ),
    })),
  )
  only(
    'always expects the same',
    moving,
    changed(() => ({ values: async (all) => all.map(({ mask }) => Float32Array.from(mask)) })),
  )
  only(
    'hurries where a critic learns',
    'a critic does not change the step of the policy',
    stepping((batch) => (batch.critic ? { ...batch, adam: { learningRate: 0.3 } } : batch)),
  )
  only(
    'takes returns that are no numbers for 0',
    'damaged targets of a critic are refused',
    stepping(({ critic, ...batch }) =>
      critic
        ? {
            ...batch,
            critic: { ...critic, returns: critic.returns.map((r) => r.map((x) => x || 0)) },
          }
        : batch,
    ),
  )
  only(
    'loads no critic',
    saved,
    changed((inner, state) => ({
      load: async (folder) => {
        await inner.load(folder)
        state.critic = wholeState(diagnoses.length).critic
      },
    })),
  )
  only(
    'loses the state of its critic’s optimiser',
    saved,
    changed((inner, state) => ({
      load: async (folder) => {
        await inner.load(folder)
        state.critic.adam.mean[0]?.fill(0)
      },
    })),
  )

  const shown = 'a demonstration is segments as this policy would have drawn them'
  const learnt = 'what is demonstrated becomes likelier'
  const demonstrating = (change: (segment: TokenSegment) => object) =>
    changed((inner) => ({
      demonstrate: (episode) =>
        (inner.demonstrate?.(episode) ?? []).map((one) => ({ ...one, ...change(one) })),
    }))
  only(
    'claims to have sampled a demonstration',
    shown,
    demonstrating(() => ({ logprobs: Float32Array.of(-1) })),
  )
  only(
    'demonstrates for version 0 for ever',
    shown,
    demonstrating(() => ({ policyVersions: Int32Array.of(0) })),
  )
  only(
    'demonstrates what not to do',
    [shown, learnt],
    demonstrating(({ advantages }) => ({ advantages: advantages.map((a) => -a) })),
  )
  only(
    'sees no move it could make',
    [shown, learnt],
    changed(() => ({ demonstrate: () => [] })),
  )
  only(
    'draws a move where there was none',
    'a demonstration without a move is none',
    changed((inner) => ({
      demonstrate: ({ turns, ...episode }) =>
        inner.demonstrate?.({
          ...episode,
          turns:
            turns.length > 0
              ? turns
              : [
                  {
                    action: { kind: 'diagnose', diagnosis: 'Angina' },
                    outcome: { kind: 'closed' },
                    facts: noFacts,
                  },
                ],
        }) ?? [],
    })),
  )
  only(
    'unlearns what it did not sample',
    learnt,
    stepping((batch) =>
      withEach(batch, ({ logprobs, advantages }) =>
        logprobs.every((logprob) => logprob === 0) ? { advantages: advantages.map((a) => -a) } : {},
      ),
    ),
  )
})
