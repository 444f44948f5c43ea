/** Invariant: no preset pays a degenerate doctor more than the random one and 0.02 of its range. */
import { describe, expect, test } from 'vitest'
import type { PolicyAudit } from '../../../src/evaluation/audit/audit.js'
import { gate, multiply, otherwise, weigh } from '../../../src/rewards/combinators/compose.js'
import { namedReward, presetNames } from '../../../src/rewards/named.js'
import { partialCredit } from '../../../src/rewards/outcome/partial-credit.js'
import { communication } from '../../../src/rewards/process/conduct.js'
import { examF1 } from '../../../src/rewards/process/exam-f1.js'
import { historyCoverage } from '../../../src/rewards/process/history-coverage.js'
import { efficiency } from '../../../src/rewards/process/savings.js'
import { noHarm } from '../../../src/rewards/safety/safety.js'
import { auditRewards } from '../../../src/tasks/audit-rewards.js'

const tolerance = 0.02
const fixed = presetNames.filter((name) => {
  const { parity, pays } = namedReward(name)
  return !parity && !pays
})
const worlds = [
  { tier: 'easy', language: 'en' },
  { tier: 'hard', language: 'zh' },
] as const

/** Policies whose gain is beyond the tolerance, even at the lower end of its interval. */
const beyond = (policies: readonly PolicyAudit[], range: number) =>
  policies
    .filter(({ ci95 }) => ci95 !== null && ci95[0] > tolerance * range)
    .map(({ name, gain }) => [name, gain])

describe.each(worlds)('$tier, $language', async (world) => {
  const audits = await auditRewards({ ...world, rewards: fixed, count: 40 })

  test.each(audits.map((audit) => [audit.reward, audit] as const))('%s', (_, audit) => {
    const { policies, range, random, ceiling } = audit
    expect(beyond(policies, range.high - range.low)).toEqual([])
    expect(policies.every(({ gain }) => gain !== null)).toBe(true)
    // A reward that paid nobody would pass, too.
    expect(ceiling?.mean).toBeGreaterThan((random ?? 1) + 0.2 * (range.high - range.low))
  })
})

test('the audit would have caught the default reward as it was, with process beside the diagnosis', async () => {
  const [diagnosis, history] = [partialCredit(), historyCoverage()]
  const additive = weigh({
    diagnosis: [0.55, diagnosis],
    exams: [0.15, otherwise(examF1(), history)],
    history: [0.15, history],
    efficiency: [0.1, multiply(diagnosis, efficiency())],
    communication: [0.05, otherwise(communication(), 0)],
  })
  // It gains .028 at a tolerance of .02: with 40 cases the interval would reach below.
  const [audit] = await auditRewards({ rewards: [gate(noHarm(), additive)], count: 200 })
  expect(beyond(audit?.policies ?? [], 1).map(([name]) => name)).toContain('pad-open')
  expect(audit?.passed).toBe(false)
})
