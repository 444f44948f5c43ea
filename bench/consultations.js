/**
 * Puts the doctors' turns of twenty played consultations (`test/fixtures/consultations.jsonl`: case, language, turns) to
 * today's patient and prints the transcripts as Markdown, to be judged by hand. A changed knowledge base draws other
 * patients: then play them anew. Run after `npm run build`: `node bench/consultations.js [name...]`.
 */
import { readFileSync } from 'node:fs'
import { generateCase } from '../dist/exports/cases.js'
import { rulePatient } from '../dist/exports/envs.js'
import { loadKnowledge } from '../dist/exports/knowledge.js'
import { doctorView, patientView } from '../dist/index.js'

const wanted = process.argv.slice(2)
const knowledge = loadKnowledge()
const patient = rulePatient({ knowledge })
const played = readFileSync(
  new URL('../test/fixtures/consultations.jsonl', import.meta.url),
  'utf8',
)
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))

for (const { name, tier, seed, n, language, turns } of played) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  const truth = generateCase(knowledge, { tier, seed, n })
  const { demographics, complaint } = doctorView(truth)
  const { age, sex, speaker } = demographics
  console.log(
    `### ${name}: ${tier}, ${age.v} ${age.unit} ${sex}, ${speaker}: ${complaint[language]}\n\n| | doctor | patient |\n| --- | --- | --- |`,
  )
  const dialogue = []
  for (const utterance of turns) {
    const context = { view: patientView(truth), dialogue: [...dialogue], seed: 5, language }
    const reply = await patient(utterance, context)
    dialogue.push({ utterance, reply })
    console.log(`| ${dialogue.length} | ${utterance} | ${reply.text} |`)
  }
  console.log('')
}
