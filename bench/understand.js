/**
 * How the rule patient takes questions that were written apart from its lexicon (`test/fixtures/questions-*.jsonl`):
 * F1 over finding ids, the share of questions with a wrong finding, that of small talk taken for a question, and, of
 * questions about topics beyond findings (`topics`), how many a plain patient follows (judging/verdict.js).
 * Sets f, g and h also by kind. Then how long the first question and the next ones take.
 * Run after `npm run build`: `node bench/understand.js [set...]`.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { rulePatient, understand } from '../dist/exports/envs.js'
import { loadKnowledge } from '../dist/exports/knowledge.js'
import { clinicOf, plainView } from './judging/cases.js'
import { verdictOn } from './judging/verdict.js'

const folder = new URL('../test/fixtures/', import.meta.url)
const wanted = process.argv.slice(2)
const sets = readdirSync(folder)
  .flatMap((name) => /^questions-(.+)\.jsonl$/.exec(name)?.[1] ?? [])
  .filter((set) => wanted.length === 0 || wanted.includes(set))
  .sort()
const read = (set) =>
  readFileSync(new URL(`questions-${set}.jsonl`, folder), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

const knowledge = loadKnowledge()
const patient = rulePatient({ knowledge, persona: {} })
const clinic = clinicOf(knowledge, { cases: 200 })

/** Whether a patient with a headache, asked first thing, answers about the topic. */
async function followed({ text, lang, topics }) {
  const view = plainView(clinic('headache')[0].truth)
  const reply = await patient(text, { view, dialogue: [], seed: 1, language: lang })
  const label = { findings: [], topics, complaint: 'headache' }
  const { asides } = understand(knowledge, text)
  return ['useful', 'bound'].includes(verdictOn(knowledge, label, reply, asides))
}

async function scored(questions) {
  const sum = { right: 0, said: 0, meant: 0, wrong: 0, chatter: 0, taken: 0, topics: 0, met: 0 }
  for (const question of questions) {
    const { text, kind, findings, topics = [], also = [] } = question
    // Neither right nor wrong: what may be answered too, and a topic that has become a finding of the same name.
    const allowed = [...also, ...topics].filter((id) => !findings.includes(id))
    const got = understand(knowledge, text)
      .topics.map(({ finding }) => finding)
      .filter((id) => !allowed.includes(id))
    const hits = got.filter((id) => findings.includes(id)).length
    sum.right += hits
    sum.said += got.length
    sum.meant += findings.length
    if (hits < got.length) sum.wrong++
    if (topics.length > 0 && findings.length === 0) {
      sum.topics++
      if (await followed(question)) sum.met++
    }
    if (kind !== 'chatter') continue
    sum.chatter++
    if (got.length > 0) sum.taken++
  }
  return sum
}

async function line(name, questions) {
  const { right, said, meant, wrong, chatter, taken, topics, met } = await scored(questions)
  const f1 = meant === 0 ? '  –  ' : ((2 * right) / (said + meant)).toFixed(3)
  const share = ((100 * wrong) / questions.length).toFixed(1)
  console.log(
    `${name.padEnd(16)} ${String(questions.length).padStart(5)}   ${f1}   ${share.padStart(4)} %   ${`${taken} of ${chatter}`.padStart(10)}   ${topics === 0 ? '' : `${met} of ${topics}`}`,
  )
}

for (const [language, text] of [
  ['en', 'Has anything felt a little odd to you of late?'],
  ['zh', '这阵子哪儿有点说不上来的怪吗？'],
]) {
  const start = performance.now()
  understand(knowledge, text)
  console.log(
    `first question out of the ordinary, ${language}: ${(performance.now() - start).toFixed(0)} ms`,
  )
}

console.log('\nset                  n      F1    wrong   small talk   topics followed')
const all = sets.map((set) => [set, read(set)])
const begun = performance.now()
for (const [set, questions] of all)
  for (const language of ['en', 'zh'])
    await line(
      `${set} ${language}`,
      questions.filter(({ lang }) => lang === language),
    )
for (const [set, questions] of all.filter(([name]) => ['f', 'g', 'h'].includes(name)))
  for (const language of ['en', 'zh'])
    for (const kind of new Set(questions.map((question) => question.kind)))
      await line(
        `${set} ${language} ${kind}`,
        questions.filter((question) => question.lang === language && question.kind === kind),
      )
const spent = performance.now() - begun
await line(
  'all',
  all.flatMap(([, questions]) => questions),
)
console.log(
  `\n${(spent / all.reduce((sum, [, { length }]) => sum + length, 0)).toFixed(2)} ms a question`,
)
