import { expect, test } from 'vitest'
import { reportedStateCount } from '../../src/inference/evidence.js'
import { diseaseFamilies, likelihoodFunction } from '../../src/inference/finding-families.js'
import { generativeModel } from '../../src/inference/generative-model.js'
import { informationBatch } from '../../src/inference/information-batch.js'
import { mutualInformation, outcomeTables } from '../../src/inference/outcome-tables.js'
import { familyKnowledge } from '../fixtures/family-knowledge.js'
import { fc } from '../fixtures/property.js'

const knowledge = familyKnowledge()
const model = generativeModel(knowledge, 0.2)
const families = diseaseFamilies(knowledge, model)
const tables = outcomeTables(
  families,
  likelihoodFunction(families, { deny: 0.2, overReport: 0.05 }),
)

/** Little known of most findings, and anything of some. */
const evidences = fc
  .tuple(
    ...model.nodes.map((node) =>
      fc.oneof(
        { weight: 3, arbitrary: fc.constant(0) },
        { weight: 1, arbitrary: fc.integer({ min: -node.closed, max: reportedStateCount(node) }) },
      ),
    ),
    // The patient's band.
    fc.integer({ min: 0, max: model.bandOf({ age: 99, sex: 'M' }) }),
  )
  .map((codes) => Int8Array.from(codes))
const beliefs = fc
  .array(fc.double({ min: 1e-6, max: 1, noNaN: true }), {
    minLength: model.columns,
    maxLength: model.columns,
  })
  .map((weights) => {
    const sum = weights.reduce((total, weight) => total + weight, 0)
    return Float64Array.from(weights, (weight) => weight / sum)
  })

test('all at once is what each finding’s table gives, and nothing of what is known', () => {
  const sweep = informationBatch(model, tables)
  fc.assert(
    fc.property(beliefs, evidences, (p, evidence) => {
      const all = sweep(p, evidence)
      for (const f of model.nodes.keys()) {
        const one = evidence[f] === 0 ? mutualInformation(tables.single(f, evidence), p) : 0
        expect(Math.abs(all[f]! - one)).toBeLessThan(1e-12)
      }
    }),
  )
})
