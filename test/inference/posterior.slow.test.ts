import { expect, test } from 'vitest'
import { generateCase } from '../../src/cases/generator/generate.js'
import { buildPosterior } from '../../src/inference/posterior.js'
import { loadKnowledge } from '../../src/knowledge/load.js'

const options = { atypicality: 0.2, noise: { forget: 0.1, deny: 0.2, overReport: 0.05 } }

test('what is kept between questions changes no value: a fresh posterior says the same, over the shipped knowledge base', () => {
  const shipped = loadKnowledge()
  const used = buildPosterior(shipped, options)
  const patientKnown = shipped.findings.filter((finding) => finding.knownBy === 'patient')
  for (let n = 0; n < 40; n++) {
    const truth = generateCase(shipped, { tier: 'standard', n })
    const told = truth.findings
      .filter((_, i) => i % 40 === n)
      .map(({ id, state }) => ({ finding: id, state }))
    const fresh = buildPosterior(shipped, options)
    const start = { age: 30, sex: 'F', complaint: truth.chiefComplaint.findings }
    const belief = used.observe(used.start(start), told)
    expect(fresh.observe(fresh.start(start), told)).toEqual(belief)
    // All of the used one's tables fill up; the fresh one is asked a few things only.
    const all = patientKnown.map(({ id }) => used.expectedInformation(belief, id))
    for (const i of [n, n + 20, n + 40])
      expect(fresh.expectedInformation(belief, patientKnown[i]!.id)).toBe(all[i])
    const exams = shipped.exams.map(({ id }) => used.expectedInformationOfExam(belief, id))
    const i = n % shipped.exams.length
    expect(fresh.expectedInformationOfExam(belief, shipped.exams[i]!.id)).toBe(exams[i])
  }
})
