/**
 * Makes what the smoke recipes read: the questions to verify in the file that is named, and the answers to imitate in
 * `demonstrations.jsonl` beside it. Synthetic files in the published formats (make-data.js), read by the importers.
 *
 *     node examples/doctor-agent/make-questions.js [file] [questions to reason about] [questions to verify]
 */
import { dirname, join } from 'node:path'
import { importers, writeCases } from 'bedside/cases'
import { episodeWriter } from 'bedside/evaluation'

const [file = 'doctor-agent-data/questions.jsonl', ...counts] = process.argv.slice(2)
const folder = dirname(file)
process.argv.splice(2, Number.POSITIVE_INFINITY, folder, ...counts)
await import('./make-data.js')
const { episodes = [] } = await importers['huatuo-sft'](join(folder, 'sft.json'))
const writer = episodeWriter(join(folder, 'demonstrations.jsonl'))
for (const saved of episodes) await writer.write(saved)
await writer.close()
const { cases } = await importers['huatuo-rl'](join(folder, 'rl.json'))
await writeCases(file, cases)
console.log(`${episodes.length} answers to imitate and ${cases.length} questions in ${folder}`)
