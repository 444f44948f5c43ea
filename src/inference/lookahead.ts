/** One-step lookahead: every outcome of a question or examination, with its probability and the belief after it. */

import { expandPanel } from '../knowledge/knowledge.js'
import { type Belief, type BeliefContext, conditionBelief } from './belief.js'
import { reportedStateCount } from './evidence.js'
import { isUnforgettable } from './generative-model.js'

/** One possible outcome of a question or an examination. */
export interface PredictedOutcome {
  readonly probability: number
  /** The belief after it; the same object where nothing is revealed. */
  readonly belief: Belief
}

/** Outcomes of revealing one finding (node index): one per state it may be reported in. */
function revealedStates(
  context: BeliefContext,
  belief: Belief,
  f: number,
): readonly PredictedOutcome[] {
  if (belief.evidence[f] !== 0) return [{ probability: 1, belief }]
  const node = context.model.nodes[f]!
  const states = Array.from({ length: reportedStateCount(node) }, (_, state) => {
    const evidence = belief.evidence.slice()
    evidence[f] = 1 + state
    return conditionBelief(context, belief, evidence, [node.root])
  })
  return states.flatMap((one) => (one ? [{ probability: one.sum, belief: one.belief }] : []))
}

/** Composes outcomes: those of `next` after each of `outcomes`, probabilities multiplied. */
const chain = (
  outcomes: readonly PredictedOutcome[],
  next: (belief: Belief) => readonly PredictedOutcome[],
): readonly PredictedOutcome[] =>
  outcomes.flatMap(({ probability, belief }) =>
    next(belief).map((then) => ({ ...then, probability: probability * then.probability })),
  )

/** With `probability` one of the outcomes `then`, otherwise `belief` unchanged. */
const withProbability = (
  probability: number,
  belief: Belief,
  then: readonly PredictedOutcome[],
): readonly PredictedOutcome[] =>
  probability === 1
    ? then
    : [
        { probability: 1 - probability, belief },
        ...then.map((one) => ({ ...one, probability: probability * one.probability })),
      ]

/** Outcomes of asking the patient about a finding; probabilities sum to 1. */
export function predictAnswers(
  context: BeliefContext,
  belief: Belief,
  finding: string,
): readonly PredictedOutcome[] {
  const f = context.model.index.get(finding)
  if (f === undefined) return [{ probability: 1, belief }]
  const { finding: definition } = context.model.nodes[f]!
  const patient = definition.knownBy === 'patient' && !isUnforgettable(definition)
  const states = revealedStates(context, belief, f)
  return withProbability(patient ? context.remembered : 1, belief, states)
}

/** Outcomes of an examination or panel, members in `done` left out; probabilities sum to 1. */
export function predictResults(
  context: BeliefContext,
  belief: Belief,
  exam: string,
  done: ReadonlySet<string> | undefined,
): readonly PredictedOutcome[] {
  const { knowledge, model } = context
  const ordered = knowledge.exam.get(exam)
  let outcomes: readonly PredictedOutcome[] = [{ probability: 1, belief }]
  for (const member of ordered ? expandPanel(ordered) : []) {
    if (done?.has(member)) continue
    const available = 1 - (knowledge.exam.get(member)?.unavailableP ?? 0)
    outcomes = chain(outcomes, (before) => {
      let shown: readonly PredictedOutcome[] = [{ probability: 1, belief: before }]
      for (const f of model.yields.get(member) ?? [])
        shown = chain(shown, (after) => revealedStates(context, after, f))
      return withProbability(available, before, shown)
    })
  }
  return outcomes
}
