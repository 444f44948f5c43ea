/** MrlX-TakesTwo: parity equals what its own reward classes and rollout gave for our consultations. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { EpisodeTurn } from '../../../src/episode.js'
import type { Judge } from '../../../src/rewards/judges/judge.js'
import { takestwoDoctor } from '../../../src/rewards/published/takestwo.js'
import { takestwoPatient } from '../../../src/rewards/published/takestwo-patient.js'
import { replying } from '../../fixtures/influenza-consultations.js'
import { episodeOf, truthOf, withGold } from '../../fixtures/reward-episodes.js'

interface GoldenTurn {
  readonly doctor: string
  readonly patient: string | null
}

interface GoldenCase {
  readonly name: string
  readonly language: 'en' | 'zh'
  readonly gold: { readonly diagnosis: string; readonly recommendation: string }
  readonly turns: readonly GoldenTurn[]
  readonly outputs: Readonly<Record<'accuracy' | 'information' | 'compliance' | 'score', number>>
}

interface GoldenJudged {
  readonly name: string
  readonly turns: readonly GoldenTurn[]
  readonly judged: string
  readonly outputs: {
    readonly score?: number | 'NaN'
    readonly error?: string
    readonly dialogue?: readonly object[]
  }
}

interface GoldenAborted {
  readonly name: string
  readonly replies: readonly string[]
  readonly finish: 'stop' | 'abort'
  readonly outputs: { readonly reward: number }
}

// The generator writes this shape; every field is used below.
const golden = JSON.parse(
  readFileSync(new URL('../../golden/takestwo.json', import.meta.url), 'utf8'),
) as {
  readonly maxTurns: number
  readonly cases: readonly GoldenCase[]
  readonly judged: readonly GoldenJudged[]
  readonly aborted: readonly GoldenAborted[]
}

const turnsOf = (turns: readonly GoldenTurn[]): readonly EpisodeTurn[] =>
  turns.map(({ doctor, patient }) =>
    patient === null
      ? { ...replying(doctor, ''), outcome: { kind: 'closed' } }
      : replying(doctor, patient),
  )

describe('the doctor', () => {
  const parity = takestwoDoctor({ parity: true, maxTurns: golden.maxTurns })
  test.each(golden.cases.map((one) => [one.name, one] as const))('%s', async (_, one) => {
    const episode = episodeOf(turnsOf(one.turns), { language: one.language })
    const { total, parts } = await parity(episode, withGold(truthOf(), one.gold, one.language))
    const { score, ...released } = one.outputs
    expect(Math.abs((total ?? Number.NaN) - score)).toBeLessThan(1e-9)
    for (const [name, value] of Object.entries(released))
      expect(parts[name]).toMatchObject({ value: expect.closeTo(value, 9) })
  })
})

describe('the patient', () => {
  test.each(golden.judged.map((one) => [one.name, one] as const))('%s', async (_, one) => {
    let shown: unknown
    const judge: Judge = Object.assign(
      async (request: Parameters<Judge>[0]) => {
        shown = request.task === 'patient-conduct' ? request.dialogue : undefined
        return one.judged
      },
      { judgeName: 'test' },
    )
    const parity = takestwoPatient({ parity: true, judge })
    const { total } = await parity(episodeOf(turnsOf(one.turns)), truthOf())
    const { score, dialogue } = one.outputs
    // What the released code raises at, or calls no number, is unavailable.
    expect(total).toBe(typeof score === 'number' ? score : null)
    if (dialogue) expect(shown).toEqual(dialogue)
  })
})

describe('a sample that is given up', () => {
  // One that the server gave up is no episode of ours.
  const silent = golden.aborted.filter(({ finish }) => finish === 'stop')
  test.each(silent.map((one) => [one.name, one] as const))('%s', async (_, one) => {
    const turns = one.replies.map((reply) => replying(reply, 'Under my ribs.'))
    const { total } = await takestwoDoctor({ parity: true })(episodeOf(turns), truthOf())
    expect(total).toBe(one.outputs.reward)
  })
})
