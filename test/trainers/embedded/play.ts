/** A world small enough to check by hand: two diseases, one telling question, replies in plain words. */

import type { Agent } from '../../../src/agent.js'
import type { TrainBatch } from '../../../src/batch.js'
import { makeNormaliser } from '../../../src/batch.js'
import type { Observation } from '../../../src/env.js'
import type { Episode } from '../../../src/episode.js'
import { encodeDraw } from '../../../src/episode.js'
import { actionSpace } from '../../../src/knowledge/action-space.js'
import { episodeSegments } from '../../../src/trainers/batches/segments.js'
import { type Action, noFacts, type Turn } from '../../../src/turn.js'

export const words = actionSpace('en', [
  { kind: 'ask', text: 'Do you have a fever?' },
  { kind: 'ask', text: 'Does your chest hurt?' },
  { kind: 'order', exam: 'Blood count' },
  { kind: 'diagnose', diagnosis: 'Influenza' },
  { kind: 'diagnose', diagnosis: 'Angina' },
])

const intake: Observation['intake'] = {
  view: 'doctor',
  demographics: { speaker: 'self', sex: 'F', age: { v: 34, unit: 'year' } },
  complaint: { en: 'I feel awful.' },
}

const replyTo = (action: Action, ill: boolean): Turn['outcome'] =>
  action.kind === 'ask'
    ? { kind: 'answered', text: ill ? 'Yes, I do.' : 'No, not at all.' }
    : action.kind === 'order'
      ? { kind: 'examined', text: 'White cells normal.' }
      : { kind: 'closed' }

/** Plays one consultation of at most `maxTurns` with patient number `n`: even ones say yes, odd ones no. */
export async function consult(
  agent: Agent,
  n: number,
  seed: number,
  maxTurns = 4,
): Promise<Episode> {
  const turns: Episode['turns'][number][] = []
  const budget = { money: 100, minutes: 100 }
  for (;;) {
    const seen: Turn[] = turns.map(({ action, outcome }) => ({ action, outcome }))
    const move = await agent(
      {
        intake,
        turns: seen,
        turnsLeft: maxTurns - turns.length,
        spent: { money: 0, minutes: 0 },
        budget,
        language: 'en',
      },
      { seed },
    )
    const { action, sample } = move
    const drawn = turns.flatMap(({ draws = [] }) => draws)
    turns.push({
      action,
      outcome: replyTo(action, n % 2 === 0),
      facts: noFacts,
      ...(sample ? { draws: [encodeDraw(drawn, 'doctor', sample, 'test')] } : {}),
    })
    if (action.kind === 'diagnose' || turns.length === maxTurns) break
  }
  return {
    id: `${n}/${seed}`,
    caseId: `case-${n}`,
    seed: n,
    agent: 'test',
    language: 'en',
    intake,
    turns,
    end: 'terminated',
    stop: 'diagnosed',
    maxTurns,
    spent: { money: 0, minutes: 0 },
    budget,
  }
}

/** 1 for the right diagnosis: influenza where the patient says yes. */
export const right = (episode: Episode): number => {
  const last = episode.turns.at(-1)?.action
  const wanted = episode.seed % 2 === 0 ? 'Influenza' : 'Angina'
  return last?.kind === 'diagnose' && last.diagnosis === wanted ? 1 : 0
}

/** Makes batches of episodes, one advantage each, for checks of a backend. */
export const batchWith =
  (learningRate: number) =>
  (
    episodes: readonly Episode[],
    advantages: readonly number[],
    policyVersion: number,
  ): TrainBatch => {
    const segments = episodes.flatMap(
      (episode, i) => episodeSegments(episode, advantages[i] as number, 'g').segments,
    )
    return {
      step: 1,
      policyVersion,
      segments,
      normaliser: makeNormaliser('token-mean', segments),
      loss: { kind: 'ppo-clip', low: 0.2, high: 0.28, entropy: 0 },
      adam: { learningRate },
    }
  }
