/** The checks of what a backend may have and need not: a whole one keeps them, and one without is told so. */
import { describe, expect, test } from 'vitest'
import type { Backend } from '../../src/backend.js'
import { backendChecks } from '../../src/testing/backend.js'
import { runChecks } from '../../src/testing/check.js'
import { bandit } from '../fixtures/bandit.js'
import { changed, diagnoses, lacking, material, without } from './broken-bandit.js'
import { testAll } from './run-checks.js'
import { wholeBandit } from './whole-bandit.js'

describe('a bandit with everything keeps the backend contract', () => {
  testAll(backendChecks(async () => wholeBandit(diagnoses), material))
})

/** What every check of a backend said when asked to skip. */
async function skipped(open: () => Promise<Backend>): Promise<Record<string, string>> {
  const said: Record<string, string> = {}
  for (const { name, run } of backendChecks(open, material))
    await run({
      skip: (why) => {
        said[name] = why
      },
    })
  return said
}

describe('what does not apply says so', () => {
  const [noLogprobs, noKeep] = ['no `logprobs`', 'no `keepReference`'].map(
    (what) => `the backend has ${what}`,
  )
  const noCritic = 'the backend declares no critic'
  const noKl = 'the backend declares no KL penalty'
  const noDemonstrate = 'the backend has no `demonstrate`'

  test('of a backend that has nothing', async () => {
    const doctors = diagnoses.map((diagnosis) => () => ({
      action: { kind: 'diagnose', diagnosis } as const,
    }))
    expect(await skipped(async () => bandit(doctors))).toEqual({
      'a correction that masks leaves out what another policy drew':
        'the backend declares no correction',
      'log-probs of fresh samples are the sampler’s': noLogprobs,
      'log-probs are 0 where masked': noLogprobs,
      'the reference is the policy as it was opened': noLogprobs,
      'keepReference takes the weights of its moment': noLogprobs,
      'a KL penalty pulls the policy back to the reference': noKl,
      'a KL penalty without log-probs of the reference is refused': noKl,
      'values are finite, and 0 where masked': noCritic,
      'values move towards the returns they are shown': noCritic,
      'a critic does not change the step of the policy': noCritic,
      'damaged targets of a critic are refused': noCritic,
      'a loaded checkpoint has the critic that was saved': noCritic,
      'a demonstration is segments as this policy would have drawn them': noDemonstrate,
      'a demonstration without a move is none': noDemonstrate,
      'what is demonstrated becomes likelier': noDemonstrate,
    })
  })

  test('of a backend that has everything: nothing', async () => {
    expect(await skipped(changed(() => ({})))).toEqual({})
  })

  test('of one that keeps no reference, and of one that is not taught by likelihood', async () => {
    const fixed = without(
      'keepReference',
      changed(() => ({})),
    )
    expect(Object.values(await skipped(fixed))).toEqual([noKeep])
    const unlike = lacking({ losses: ['policy-gradient'] })
    expect(Object.values(await skipped(unlike))).toEqual(['the backend declares no cross-entropy'])
  })

  test('and without anybody to say it to resolves', async () => {
    const fixed = without(
      'logprobs',
      changed(() => ({})),
    )
    expect((await runChecks(backendChecks(fixed, material))).failures).toEqual([])
  })
})
