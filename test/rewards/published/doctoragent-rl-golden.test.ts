/** The three environments of DoctorAgent-RL and its evaluation: parity equals what they gave for our consultations. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { GraderView } from '../../../src/case.js'
import type { EpisodeTurn } from '../../../src/episode.js'
import type { DoctorAgentRlJudgeOptions } from '../../../src/rewards/published/doctoragent-rl.js'
import { deiMetric } from '../../../src/rewards/published/doctoragent-rl-dei.js'
import type { Language } from '../../../src/turn.js'
import { noFacts } from '../../../src/turn.js'
import { presets } from '../../fixtures/doctoragent.js'
import { judgeOf, replying } from '../../fixtures/influenza-consultations.js'
import { episodeOf, finding, truthOf, withGold } from '../../fixtures/reward-episodes.js'

interface GoldenStep {
  readonly reply: string
  readonly repeat: string
  readonly patient: string
  readonly match: string
}

interface GoldenCase {
  readonly name: string
  readonly language: 'en' | 'zh'
  readonly gold: { readonly diagnosis: string; readonly recommendation: string }
  readonly budget: number
  readonly alone: boolean
  readonly recorded: readonly {
    readonly question: readonly string[]
    readonly response: readonly string[] | null
  }[]
  readonly steps: readonly GoldenStep[]
  readonly scores: readonly [string, string]
  readonly outputs: Readonly<
    Record<
      'match' | 'patient' | 'judge',
      {
        readonly reward?: number
        readonly error?: string
        readonly heard?: readonly { readonly question: string; readonly earlier: string[] }[]
      }
    >
  >
}

interface GoldenEvaluation {
  readonly name: string
  readonly gold: GoldenCase['gold']
  readonly diagnosis: string
  readonly recommendation: string
  readonly judged: readonly [string, string]
  readonly tokens: readonly number[]
  readonly outputs: { readonly dei: number }
}

// The generator writes this shape; every field is used below.
const golden = JSON.parse(
  readFileSync(new URL('../../golden/doctoragent.json', import.meta.url), 'utf8'),
) as { readonly cases: readonly GoldenCase[]; readonly evaluated: readonly GoldenEvaluation[] }

/** A case with these gold texts, and what was recorded of it. */
function truthWith(
  { gold, recorded }: Pick<GoldenCase, 'gold' | 'recorded'>,
  language: Language,
): GraderView {
  const findings = recorded
    .filter(({ response }) => response !== null)
    .map(({ question, response }, i) =>
      finding(`recorded-${i}`, {
        question: { [language]: question.join(' ') },
        utterance: { [language]: response?.join(' ') },
      }),
    )
  return withGold(truthOf({ findings }), gold, language)
}

describe.each(['match', 'patient', 'judge'] as const)('parity equals the released %s', (preset) => {
  test.each(golden.cases.map((one) => [one.name, one] as const))('%s', async (_, one) => {
    const turns = one.steps.map(({ reply, patient }) => replying(reply, patient))
    const step = new Map(turns.map((turn, i) => [turn, one.steps[i]]))
    const heard: unknown[] = []
    const options: DoctorAgentRlJudgeOptions = {
      parity: true,
      alone: one.alone,
      repeats: (question, earlier, turn) => {
        heard.push({ question, earlier })
        return step.get(turn)?.repeat ?? 'OK.'
      },
      matches: (_question, _recorded, turn) => step.get(turn)?.match ?? '',
      judge: judgeOf(...one.scores),
    }
    const episode = episodeOf(turns, { language: one.language, maxTurns: one.budget })
    const truth = truthWith(one, one.language)
    const { total } = await presets[preset](options)(episode, truth)
    const { reward, error, heard: shown } = one.outputs[preset]
    if (error !== undefined) expect(total).toBeNull()
    else expect(Math.abs((total ?? Number.NaN) - (reward ?? 0))).toBeLessThan(1e-9)
    if (shown) expect(heard).toEqual(shown)
  })
})

describe('parity equals the released evaluation', () => {
  test.each(golden.evaluated.map((one) => [one.name, one] as const))('%s', async (_, one) => {
    const turns = one.tokens.map((_count, i): EpisodeTurn => {
      if (i < one.tokens.length - 1) return replying('Question: Where?', 'Here.')
      const { diagnosis, recommendation } = one
      return {
        action: { kind: 'diagnose', diagnosis, recommendation },
        outcome: { kind: 'closed' },
        facts: noFacts,
      }
    })
    const tokens = new Map(turns.map((turn, i) => [turn, one.tokens[i] ?? 0]))
    const dei = deiMetric({
      parity: true,
      judge: judgeOf(...one.judged),
      tokensOf: (turn) => tokens.get(turn) ?? 0,
    })
    const language = /\p{Script=Han}/u.test(one.gold.diagnosis) ? 'zh' : 'en'
    const { total } = await dei(
      episodeOf(turns, { language }),
      withGold(truthOf(), one.gold, language),
    )
    expect(Math.abs((total ?? Number.NaN) - one.outputs.dei)).toBeLessThan(1e-9)
  })
})
