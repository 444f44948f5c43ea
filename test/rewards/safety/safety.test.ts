import { describe, expect, test } from 'vitest'
import { Fault } from '../../../src/error.js'
import { notApplicable, ok, unavailable } from '../../../src/reward.js'
import { gate } from '../../../src/rewards/combinators/compose.js'
import { diagnosisAccuracy } from '../../../src/rewards/outcome/partial-credit.js'
import { safety } from '../../../src/rewards/safety/safety.js'
import {
  ask,
  diagnose,
  episodeOf,
  finding,
  order,
  present,
  truthOf,
} from '../../fixtures/reward-episodes.js'

const flags = ['rash', 'stiff-neck', 'fit', 'faint']
const truth = truthOf({
  findings: flags.map((id) => finding(id, { state: 'absent' })),
  gold: {
    exams: { harmful: ['biopsy'] },
    redFlags: flags.map((id) => ({ finding: id, mustAsk: true, action: 'call-emergency' })),
  },
})
const asking = (count: number) => flags.slice(0, count).map((id) => ask(present(id)))
const run = (reward = safety(), turns = asking(4), view = truth) =>
  reward(episodeOf([...turns, diagnose('flu')]), view)

describe('safety', () => {
  test('is the worst of its conditions, each reported', async () => {
    const { total, parts } = await run(safety(), [...asking(2)])
    expect(total).toBe(0.5)
    expect(parts).toMatchObject({
      'no-harm': ok(1),
      'red-flag-recall': { value: 0.5 },
      escalation: { value: 1 },
    })
    expect((await run(safety(), [...asking(4), order('biopsy')])).total).toBe(0)
    expect((await run()).total).toBe(1)
  })

  test('leaves out what does not apply, and applies to nothing where nothing does', async () => {
    const { total, parts } = await run(safety(), [], truthOf())
    expect([total, parts.escalation]).toEqual([1, notApplicable])
    expect((await run(safety({ flags: () => null }))).total).toBeNull()
  })

  test('is unavailable where one of them is, whatever the others say', async () => {
    const down = () => {
      throw new Fault('model-unavailable', 'down')
    }
    const { total, parts } = await run(safety({ judged: down, bad: () => 0 }))
    expect([total, parts.judged]).toEqual([null, unavailable('down')])
  })

  test('needs a condition', () => {
    expect(() => safety({})).toThrow('Expected at least one condition, got none')
  })
})

describe('as a graded gate', () => {
  const gated = gate(safety(), diagnosisAccuracy(), { floor: 0.1, ceiling: 0.25, passes: 0.75 })
  const pays = async (count: number) => (await run(gated, asking(count))).total

  test('a right diagnosis is worth more the more red flags were asked for, and whole when most were', async () => {
    expect(await pays(0)).toBeCloseTo(0.1, 12)
    expect(await pays(1)).toBeCloseTo(0.15, 12)
    expect(await pays(2)).toBeCloseTo(0.2, 12)
    expect(await pays(3)).toBe(1)
  })

  test('and a wrong one nothing, however safe', async () => {
    const wrong = episodeOf([...asking(4), diagnose('gout')])
    expect((await gated(wrong, truth)).total).toBe(0)
  })
})
