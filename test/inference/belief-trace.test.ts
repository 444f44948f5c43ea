import { describe, expect, test } from 'vitest'
import type { Case } from '../../src/case.js'
import { graderView } from '../../src/case.js'
import { generateCase } from '../../src/cases/generator/generate.js'
import {
  beliefTrace,
  beliefTraceEnds,
  logProbabilityGains,
} from '../../src/inference/belief-trace.js'
import { getPosterior } from '../../src/inference/posterior.js'
import { tiers } from '../../src/knowledge/tiers.js'
import { familyKnowledge } from '../fixtures/family-knowledge.js'
import { fc } from '../fixtures/property.js'
import { ask, diagnose, episodeOf, present } from '../fixtures/reward-episodes.js'

const knowledge = familyKnowledge()
const posterior = getPosterior(knowledge, tiers.standard)

/** A woman of 30 with pneumonia, who came for her cough. */
const intake = {
  view: 'doctor',
  demographics: { age: { v: 30, unit: 'year' }, sex: 'F', speaker: 'self' },
  complaint: { en: 'I keep coughing.' },
} as const
const gold = (id: string): Case['gold'] => ({
  ...generateCase(knowledge, { tier: 'standard' }).gold,
  dx: [{ id, name: { en: id }, aliases: [], codes: [], role: 'primary' }],
})
const truth = (id: string) => ({
  ...graderView(generateCase(knowledge, { tier: 'standard' })),
  complaint: { text: { en: 'I keep coughing.' }, findings: ['cough'] },
  gold: gold(id),
})
const told = [present('opacity'), [], present('crackles', 'fever')]
const episode = episodeOf([...told.map((list) => ask(list)), diagnose('pneumonia')], { intake })

describe('the track of an episode', () => {
  test('holds the belief before the first turn and after every turn, from what was told', () => {
    const track = beliefTrace(posterior, episode, truth('pneumonia'))
    expect(track).toHaveLength(5)
    const start = posterior.start({ age: 30, sex: 'F', complaint: ['cough'] })
    expect(track[0]).toEqual(start)
    let belief = start
    told.forEach((list, t) => {
      belief = posterior.observe(belief, list)
      expect(track[t + 1]).toEqual(belief)
    })
    expect(track[2]).toBe(track[1])
    expect(track[4]).toBe(track[3])
  })

  test('says how many nats were gained on the diagnosis after every turn', () => {
    const gained = logProbabilityGains(knowledge, posterior, episode, truth('pneumonia'))
    const d = knowledge.diseases.findIndex(({ id }) => id === 'pneumonia')
    const p = beliefTrace(posterior, episode, truth('pneumonia')).map(
      (one) => one.probabilities[d]!,
    )
    expect(gained).toHaveLength(4)
    gained?.forEach((nats, t) => void expect(nats).toBeCloseTo(Math.log(p[t + 1]! / p[0]!), 12))
    expect(gained?.[3]).toBeGreaterThan(0.5)
  })

  test('loses no more than there is to lose on a diagnosis that was all but ruled out', () => {
    const all = logProbabilityGains(knowledge, posterior, episode, truth('gastritis'))
    expect(all?.at(-1)).toBeLessThan(-1)
    const many = Array.from({ length: 6 }, () =>
      ask(present('opacity', 'crackles', 'fever', 'breathless')),
    )
    const ruled = episodeOf(many, { intake })
    const d = knowledge.diseases.findIndex(({ id }) => id === 'gastritis')
    const [first] = beliefTrace(posterior, ruled, truth('gastritis'))
    const least = Math.log(1e-6) - Math.log(first.probabilities[d]!)
    for (const nats of logProbabilityGains(
      knowledge,
      getPosterior(knowledge),
      ruled,
      truth('gastritis'),
    ) ?? [])
      expect(nats).toBeGreaterThanOrEqual(least - 1e-9)
  })

  test('says nothing of a disease that is not in the knowledge base', () => {
    expect(logProbabilityGains(knowledge, posterior, episode, truth('scurvy'))).toBeUndefined()
  })

  test('has the ends that are computed at once, whatever is told, contradictions too', () => {
    const state = fc
      .constantFrom(...knowledge.findings)
      .chain(({ id, states }) =>
        fc.constantFrom(...states, 'absent', 'unknown').map((one) => ({ finding: id, state: one })),
      )
    const turns = fc.array(fc.array(state, { maxLength: 4 }), { maxLength: 6 })
    fc.assert(
      fc.property(turns, fc.constantFrom(undefined, tiers.standard, tiers.hard), (lists, tier) => {
        const any = episodeOf(
          lists.map((list) => ask(list)),
          { intake },
        )
        const given = [getPosterior(knowledge, tier), any, truth('pneumonia')] as const
        const [track, [first, last]] = [beliefTrace(...given), beliefTraceEnds(...given)]
        expect(first.probabilities).toEqual(track[0].probabilities)
        const stepped = track.at(-1)?.probabilities ?? []
        stepped.forEach((p, d) => void expect(last.probabilities[d]).toBeCloseTo(p, 9))
      }),
      { numRuns: 200 },
    )
  })
})
