import { expect, test } from 'vitest'
import { primaryDiagnosis } from '../../../src/case.js'
import { caseSource } from '../../../src/cases/generator/generate.js'
import { loadKnowledge } from '../../../src/knowledge/load.js'

test('the written differential is calibrated: the diagnosis comes true as often as it says', () => {
  let [expected, right, variance] = [0, 0, 0]
  const generate = caseSource(loadKnowledge(), { tier: 'hard' })
  for (let n = 0; n < 2000; n++) {
    const truth = generate(n)
    const best = truth.gold.differential![0]!
    expected += best.p
    variance += best.p * (1 - best.p)
    if (best.id === primaryDiagnosis(truth.gold).id) right++
  }
  expect(Math.abs(right - expected)).toBeLessThan(4 * Math.sqrt(variance))
})
