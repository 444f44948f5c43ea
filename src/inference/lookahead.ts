/** Every way in which a question or an examination may be answered, with its chance and the belief after it. */

import { expandPanel } from '../knowledge/knowledge.js'
import type { Belief, Ground } from './belief.js'
import { supposing } from './belief.js'
import { toldStates } from './generative-model.js'

/** One way in which something may be answered. */
export interface Prospect {
  readonly probability: number
  /** The belief after it; the same where nothing was told. */
  readonly belief: Belief
}

/** Every state in which something not yet known may be told. */
function tellings(ground: Ground, belief: Belief, f: number): readonly Prospect[] {
  if (belief.evidence[f] !== 0) return [{ probability: 1, belief }]
  const node = ground.model.nodes[f]!
  const states = Array.from({ length: toldStates(node) }, (_, state) => {
    const evidence = belief.evidence.slice()
    evidence[f] = 1 + state
    return supposing(ground, belief, evidence, [node.root])
  })
  return states.flatMap((told) => (told ? [{ probability: told.sum, belief: told.belief }] : []))
}

/** What may come of something after what may have come before it. */
const following = (
  prospects: readonly Prospect[],
  next: (belief: Belief) => readonly Prospect[],
): readonly Prospect[] =>
  prospects.flatMap(({ probability, belief }) =>
    next(belief).map((then) => ({ ...then, probability: probability * then.probability })),
  )

/** With a probability what `then` gives, or else nothing new. */
const perhaps = (
  probability: number,
  belief: Belief,
  then: readonly Prospect[],
): readonly Prospect[] =>
  probability === 1
    ? then
    : [
        { probability: 1 - probability, belief },
        ...then.map((one) => ({ ...one, probability: probability * one.probability })),
      ]

export function answers(ground: Ground, belief: Belief, finding: string): readonly Prospect[] {
  const f = ground.model.index.get(finding)
  if (f === undefined) return [{ probability: 1, belief }]
  const patient = ground.model.nodes[f]!.finding.knownBy === 'patient'
  return perhaps(patient ? ground.remembered : 1, belief, tellings(ground, belief, f))
}

export function results(
  ground: Ground,
  belief: Belief,
  exam: string,
  done: ReadonlySet<string> | undefined,
): readonly Prospect[] {
  const { knowledge, model } = ground
  const ordered = knowledge.exam.get(exam)
  let prospects: readonly Prospect[] = [{ probability: 1, belief }]
  for (const member of ordered ? expandPanel(ordered) : []) {
    if (done?.has(member)) continue
    const available = 1 - (knowledge.exam.get(member)?.unavailableP ?? 0)
    prospects = following(prospects, (before) => {
      let told: readonly Prospect[] = [{ probability: 1, belief: before }]
      for (const f of model.yields.get(member) ?? [])
        told = following(told, (after) => tellings(ground, after, f))
      return perhaps(available, before, told)
    })
  }
  return prospects
}
