import { describe, expect, test } from 'vitest'
import type { Case } from '../../../src/case.js'
import { consultation } from '../../../src/envs/consultation.js'
import { drawVersions } from '../../../src/episode.js'
import { Fault } from '../../../src/error.js'
import type { Patient } from '../../../src/patient.js'
import type { Reward } from '../../../src/reward.js'
import { embedded } from '../../../src/trainers/embedded/embedded.js'
import type { StepMetrics } from '../../../src/trainers/events.js'
import { trainingEmitter } from '../../../src/trainers/events.js'
import { trainGrpo } from '../../../src/trainers/loops/grpo.js'
import type { GrpoOptions } from '../../../src/trainers/loops/grpo-options.js'
import { markedCase, markOf } from '../../fixtures/tiny-training.js'
import { words } from '../embedded/play.js'

const caseAt = (n: number): Case => markedCase(`flu-${n}`)
const yes: Patient = () => ({
  text: 'Yes, I do.',
  understood: 'answered',
  questions: 1,
  asked: [],
  told: [],
})
/** Pays the sooner end. */
const reward: Reward = Object.assign(
  async (...[episode]: Parameters<Reward>) => ({ total: 1 / episode.turns.length, parts: {} }),
  { rewardName: 'short', bounds: [0, 1] as const, source: 'test' },
)

async function run(
  patient: Patient,
  over: Partial<GrpoOptions> = {},
): Promise<readonly StepMetrics[]> {
  const { metrics } = await trainGrpo({
    ...{ backend: embedded({ actionSpace: words }), caseAt, reward },
    makeEnv: () => consultation({ cases: caseAt, patient, maxTurns: 4 }),
    normaliser: 'token-mean',
    ...{ steps: 6, groupsPerStep: 4, groupSize: 4, maxStaleness: 2, concurrency: 8 },
    ...over,
  })
  return metrics
}

describe('consultations played ahead', () => {
  test('fill every step with groups no older than the bound', async () => {
    const ages: number[] = []
    const backend = embedded({ actionSpace: words })
    const events = trainingEmitter()
    events.on('group-formed', ({ episodes }) => {
      for (const { turns } of episodes)
        for (const { draws = [] } of turns)
          for (const draw of draws)
            for (const version of drawVersions(draw)) ages.push(backend.policyVersion - version)
    })
    const told = await run(yes, { backend, events })
    expect(told.map(({ step }) => step)).toEqual([1, 2, 3, 4, 5, 6])
    expect(told.every(({ groups }) => groups.formed === 4)).toBe(true)
    expect(Math.min(...ages)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...ages)).toBeLessThanOrEqual(2)
    // A step whose groups do not vary makes no gradient step.
    const learnt = told.filter(({ update }) => update !== undefined).length
    expect(learnt).toBeGreaterThan(2)
    expect(backend.policyVersion).toBe(learnt)
  })

  test('do not hold up a step when one of them hangs', async () => {
    let release: () => void = () => undefined
    const hung = new Promise<void>((resolve) => {
      release = resolve
    })
    // The case of the first group waits for the end of the run, longer than all six steps.
    const slow: Patient = async (utterance, context) => {
      if (markOf(context.view) === 'flu-0') await hung
      return yes(utterance, context)
    }
    const seen: string[] = []
    const events = trainingEmitter()
    events.on('group-formed', ({ caseId }) => seen.push(caseId))
    events.on('step-end', ({ step }) => {
      if (step === 6) release()
    })
    const told = await run(slow, { events })
    expect(told).toHaveLength(6)
    expect(seen).not.toContain('flu-0')
  })

  test('are dropped and counted when they come back too old', async () => {
    let release: () => void = () => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const slow: Patient = async (utterance, context) => {
      if (markOf(context.view) === 'flu-0') await held
      return yes(utterance, context)
    }
    const events = trainingEmitter()
    // Let go when its policy is four versions old.
    events.on('step-end', ({ step }) => {
      if (step === 4) release()
    })
    const seen: string[] = []
    events.on('group-formed', ({ caseId }) => seen.push(caseId))
    const told = await run(slow, { events, maxStaleness: 1, steps: 12 })
    const stale = told.reduce((sum, { groups }) => sum + groups.reasons.stale, 0)
    expect(stale).toBeGreaterThanOrEqual(1)
    expect(told.reduce((sum, { samples }) => sum + samples.stale, 0)).toBe(4 * stale)
    expect(seen).not.toContain('flu-0')
  })

  test('end the run with the fault of a world that stays down', async () => {
    const down: Reward = Object.assign(
      async () => {
        throw new Fault('model-unavailable', 'the judge is down')
      },
      { rewardName: 'down', bounds: [0, 1] as const, source: 'test' },
    )
    await expect(run(yes, { reward: down })).rejects.toThrow('the judge is down')
  })

  test('stop when the run is aborted', async () => {
    const stop = new AbortController()
    const events = trainingEmitter()
    events.on('step-end', ({ step }) => {
      if (step === 2) stop.abort()
    })
    await expect(run(yes, { events, signal: stop.signal })).rejects.toThrow(/abort/i)
  })

  test("have no greedy baseline, which is the step's own", async () => {
    await expect(run(yes, { advantages: { per: 'greedy' } })).rejects.toThrow(/maxStaleness/)
  })
})
