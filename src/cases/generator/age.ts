/** Draws a patient's age. */

import { type DiseasePool, priorWeights } from '../../inference/generative-model.js'
import type { Knowledge } from '../../knowledge/knowledge.js'
import { perKnowledge } from '../../knowledge/per-knowledge.js'
import { uniform, uniformInt } from '../../seed.js'

const childhood = 16
const childShare = 0.12

type AgeGroups = Readonly<Record<'child' | 'adult', boolean>>

function findAgeGroups(knowledge: Knowledge, drawn: DiseasePool): AgeGroups {
  const occurs = (from: number, to: number): boolean => {
    for (let age = from; age < to; age++)
      if (priorWeights(knowledge, { age }, drawn).some((weight) => weight > 0)) return true
    return false
  }
  return { child: occurs(0, childhood), adult: occurs(childhood, 86) }
}

const ageGroups = perKnowledge(() => new Map<DiseasePool, AgeGroups>())

/** Draws an age in years: in whole months below 2. 12 % are children where diseases of both age groups are drawn. */
export function drawAge(knowledge: Knowledge, drawn: DiseasePool, seed: number): number {
  const known = ageGroups(knowledge)
  const { child, adult } = known.get(drawn) ?? findAgeGroups(knowledge, drawn)
  known.set(drawn, { child, adult })
  const young = child && (!adult || uniform(seed, 'child') < childShare)
  if (!young) return childhood + uniformInt(70, seed, 'age')
  const years = uniformInt(childhood, seed, 'child-age')
  return years < 2 ? years + uniformInt(12, seed, 'month') / 12 : years
}
