import { describe, expect, test } from 'vitest'
import {
  type Evidence,
  familyLikelihood,
  reportedStateCount,
} from '../../src/inference/evidence.js'
import {
  diseaseFamilies,
  likelihoodFunction,
  memoizeByEvidence,
} from '../../src/inference/finding-families.js'
import { generativeModel } from '../../src/inference/generative-model.js'
import { buildHypotheses } from '../../src/inference/hypotheses.js'
import { familyKnowledge } from '../fixtures/family-knowledge.js'
import { fc } from '../fixtures/property.js'

const knowledge = familyKnowledge()
const model = generativeModel(knowledge, 0.2)
const channel = { deny: 0.2, overReport: 0.05 }
const merged = diseaseFamilies(knowledge, model)

/** Anything that may be known of each finding. */
const evidences = fc
  .tuple(
    ...model.nodes.map((node) => fc.integer({ min: -node.closed, max: reportedStateCount(node) })),
    // The patient's band: of no age and sex, or a woman, man or neither of some age.
    fc.integer({ min: 0, max: model.bandOf({ age: 99, sex: 'M' }) }),
  )
  .map((codes): Evidence => Int8Array.from(codes))

describe('merged columns', () => {
  test('have the likelihood of each of theirs, whatever is known of a family', () => {
    const likelihood = likelihoodFunction(merged, channel)
    fc.assert(
      fc.property(evidences, (evidence) => {
        for (const [f, { root }] of model.nodes.entries()) {
          if (f !== root) continue
          const whole = familyLikelihood(model, root, evidence, channel)
          const { classOf } = merged.of[root]!
          whole.forEach((p, d) => void expect(likelihood(root, evidence)[classOf[d]!]).toBe(p))
        }
      }),
    )
  })

  test('are few, and every disease that lists something of a family stands alone', () => {
    for (const { members, classes, classOf } of merged.of) {
      const ids = members.map((f) => model.nodes[f]!.finding.id)
      const listed = knowledge.diseases.filter(({ findings }) => ids.some((id) => findings[id]))
      expect(classes).toBe(listed.length + 1)
      const alone = knowledge.diseases.flatMap((disease, d) =>
        listed.includes(disease) ? [classOf[d]] : [],
      )
      expect(alone).toEqual(listed.map((_, i) => i + 1))
    }
  })

  test('of hypotheses keep apart what the finding tells apart', () => {
    const options = { atypicality: 0.2, comorbidity: 0, drawn: 'common' } as const
    const { families, disease } = buildHypotheses(knowledge, options)
    for (const { members, classOf } of families.of) {
      const likelihoods = new Map<number, Set<number>>()
      disease.forEach((d, c) => {
        const own = likelihoods.get(classOf[c]!) ?? new Set()
        likelihoods.set(classOf[c]!, own.add(model.nodes[members[0]!]!.chance[d]!))
      })
      for (const chances of likelihoods.values()) expect(chances.size).toBe(1)
    }
  })
})

test('a keeper makes a thing once for what is known of a family, and another for anything else', () => {
  let made = 0
  const kept = memoizeByEvidence(merged, () => ++made)
  const seen = new Map<string, number>()
  fc.assert(
    fc.property(evidences, fc.nat({ max: model.nodes.length - 1 }), (evidence, f) => {
      const { members, banded } = merged.of[f]!
      const known = members.map((member) => evidence[member])
      const key = `${f} ${known} ${banded ? evidence.at(-1) : ''}`
      const thing = kept(f, evidence)
      expect(thing).toBe(seen.get(key) ?? thing)
      seen.set(key, thing)
      expect(new Set(seen.values()).size).toBe(seen.size)
    }),
  )
})
