/**
 * Makes the patients of the smoke recipes: a clinic of two diseases, as many patients of one as of the other. Generated
 * from this package's own knowledge base; no patient is real.
 *
 *     node examples/takes-two/make-data.js [file] [patients] [disease] [disease]
 */
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { primaryDiagnosis } from 'bedside'
import { generateCase, writeCases } from 'bedside/cases'
import { clinic, loadKnowledge } from 'bedside/knowledge'

const [
  file = 'takes-two-data/cases.jsonl',
  patients = '2000',
  one = 'influenza',
  other = 'common-cold',
] = process.argv.slice(2)
const diseases = [one, other]
const knowledge = clinic(loadKnowledge(), ['upper-airway'])
const share = Math.ceil(Number(patients) / diseases.length)
const made = new Map(diseases.map((id) => [id, []]))
for (let n = 0; [...made.values()].some((cases) => cases.length < share); n++) {
  const truth = generateCase(knowledge, { tier: 'easy', split: 'train', seed: 0, n })
  const cases = made.get(primaryDiagnosis(truth.gold).id)
  if (cases && cases.length < share) cases.push(truth)
}
await mkdir(dirname(file), { recursive: true })
// One of each in turn, so that any beginning of the file is balanced.
await writeCases(
  file,
  Array.from({ length: share }, (_, n) => diseases.map((id) => made.get(id)[n])).flat(),
)
console.log(`${2 * share} generated patients in ${file}`)
