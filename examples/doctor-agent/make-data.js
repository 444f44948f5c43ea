/**
 * Makes small synthetic data files in the formats that HuatuoGPT-o1 and Doctor-Agent publish, out of this package's
 * own knowledge base: no file of theirs is needed, and no patient is real. Vignettes of generated cases are the
 * questions; their findings the reasoning; their diseases the answers.
 *
 *     node examples/doctor-agent/make-data.js [folder] [questions to reason about] [questions to verify]
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { primaryDiagnosis } from 'bedside'
import { generateCase } from 'bedside/cases'
import { clinic, loadKnowledge } from 'bedside/knowledge'

const [folder = 'doctor-agent-data', reasoned = '2000', verified = '1500'] = process.argv.slice(2)
const knowledge = clinic(loadKnowledge(), ['tiredness', 'upper-abdomen'])

/** The doctor's words for a finding: its name, and its state where it is more than there. */
const inWords = ({ id, state }) => {
  const name = knowledge.finding.get(id)?.name.en.toLowerCase() ?? id
  return state === 'present' ? name : `${name} (${state})`
}
const list = (words) =>
  words.length > 1 ? `${words.slice(0, -1).join(', ')} and ${words.at(-1)}` : words.join('')

/** The n-th question with its findings, the telling ones first, and its answer. */
function vignette(n) {
  const truth = generateCase(knowledge, { tier: 'easy', split: 'train', seed: 0, n })
  const { age, sex } = truth.demographics
  // What the patient can tell: no examination, so that not every question can be answered for certain.
  const telling = truth.findings.filter(
    ({ knownBy, state, weight = 0 }) => knownBy === 'patient' && state !== 'absent' && weight > 0,
  )
  const adult = age?.unit === 'year' && age.v >= 18
  const who = `A ${age?.v}-${age?.unit}-old ${sex === 'M' ? (adult ? 'man' : 'boy') : adult ? 'woman' : 'girl'}`
  return {
    question: `${who} reports: ${list(telling.map(inWords))}. What is the most likely diagnosis?`,
    weighed: telling.toSorted((a, b) => (b.weight ?? 0) - (a.weight ?? 0)).map(inWords),
    answer: primaryDiagnosis(truth.gold).name.en ?? '',
  }
}

const rows = (from, count, row) => Array.from({ length: count }, (_, i) => row(vignette(from + i)))
const files = {
  'sft.json': rows(0, Number(reasoned), ({ question, weighed, answer }) => ({
    Question: question,
    Complex_CoT: `What tells most: ${list(weighed.slice(0, 3))}. Together this fits ${answer}.`,
    Response: `The most likely diagnosis is ${answer}.`,
  })),
  'rl.json': rows(Number(reasoned), Number(verified), ({ question, answer }) => ({
    'Open-ended Verifiable Question': question,
    'Ground-True Answer': answer,
  })),
}
await mkdir(folder, { recursive: true })
for (const [name, made] of Object.entries(files)) {
  await writeFile(join(folder, name), `${JSON.stringify(made, null, 1)}\n`)
  console.log(`${made.length} synthetic questions in ${join(folder, name)}`)
}
