/** How old a drawn patient is. */

import type { Drawn } from '../../inference/generative-model.js'
import { priorWeights } from '../../inference/generative-model.js'
import type { Knowledge } from '../../knowledge/knowledge.js'
import { below, uniform } from '../../seed.js'

const childhood = 16
const childShare = 0.12

/** Whether anybody younger, and anybody older than 16, can have one of the diseases drawn. */
function agesOf(
  knowledge: Knowledge,
  drawn: Drawn,
): { readonly child: boolean; readonly adult: boolean } {
  const some = (from: number, to: number): boolean => {
    for (let age = from; age < to; age++)
      if (priorWeights(knowledge, { age }, drawn).some((weight) => weight > 0)) return true
    return false
  }
  return { child: some(0, childhood), adult: some(childhood, 86) }
}

const possible = new WeakMap<Knowledge, Map<Drawn, ReturnType<typeof agesOf>>>()

/** Months below 2 years, whole years above; one in eight is a child where there are diseases of both. */
export function drawAge(knowledge: Knowledge, drawn: Drawn, seed: number): number {
  const known = possible.get(knowledge) ?? new Map<Drawn, ReturnType<typeof agesOf>>()
  const { child, adult } = known.get(drawn) ?? agesOf(knowledge, drawn)
  possible.set(knowledge, known.set(drawn, { child, adult }))
  const young = child && (!adult || uniform(seed, 'child') < childShare)
  if (!young) return childhood + below(70, seed, 'age')
  const years = below(childhood, seed, 'child-age')
  return years < 2 ? years + below(12, seed, 'month') / 12 : years
}
