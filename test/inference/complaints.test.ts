/** What patients come with, on the shipped knowledge base: the posterior at intake is calibrated. */
import { describe, expect, test } from 'vitest'
import { primaryDiagnosis } from '../../src/case.js'
import { caseSource } from '../../src/cases/generator/generate.js'
import { ageInYears, getPosterior } from '../../src/inference/posterior.js'
import { loadKnowledge } from '../../src/knowledge/load.js'
import { tiers } from '../../src/knowledge/tiers.js'

const knowledge = loadKnowledge()
const cases = 3000

describe.each(['easy', 'hard'] as const)('after the opening words of %s patients', (tier) => {
  const { atypicality, comorbidity, noise } = tiers[tier]
  const posterior = getPosterior(knowledge, { atypicality, comorbidity, noise })
  const make = caseSource(knowledge, { tier, split: 'heldout' })
  const seen = Array.from({ length: cases }, (_, n) => {
    const { demographics, chiefComplaint, gold } = make(n)
    const { probabilities } = posterior.start({
      age: ageInYears(demographics.age),
      sex: demographics.sex,
      complaint: chiefComplaint.findings,
    })
    const truth = knowledge.diseases.findIndex(({ id }) => id === primaryDiagnosis(gold).id)
    return { probabilities, truth }
  })

  test('the first guess is as often right as it is sure: ECE at most .02', () => {
    // Four bins: ten would show more than .02 of mere noise in 3,000 cases.
    const bins = Array.from({ length: 4 }, () => ({ p: 0, right: 0 }))
    for (const { probabilities, truth } of seen) {
      const p = Math.max(...probabilities)
      const bin = bins[Math.min(3, Math.floor(p * 4))]!
      bin.p += p
      bin.right += probabilities.indexOf(p) === truth ? 1 : 0
    }
    const error = bins.reduce((sum, { p, right }) => sum + Math.abs(p - right), 0) / cases
    expect(error).toBeLessThanOrEqual(0.02)
  })

  test('every disease is as frequent as the posterior expects, to 4.5 standard errors', () => {
    for (const [d, { id }] of knowledge.diseases.entries()) {
      let [expected, spread, count] = [0, 0, 0]
      for (const { probabilities, truth } of seen) {
        const p = probabilities[d]!
        expected += p
        spread += p * (1 - p)
        count += truth === d ? 1 : 0
      }
      expect(Math.abs(count - expected), id).toBeLessThanOrEqual(4.5 * Math.sqrt(spread) + 1)
    }
  })
})
