/**
 * The record patient on recorded consultations.
 *
 * `everyday`: the share of everyday questions (`test/fixtures/everyday-questions.json`) that cases of a file answer.
 * `replay`: the questions of the recorded doctors of a file of dialogues, put to a patient that holds only the written
 * profile, or, without one, all other exchanges of the dialogue; its replies against what the recorded patient said.
 *
 * Run after `npm run build`:
 *
 *     node bench/recorded-patients.js everyday CASES.jsonl [en|zh] [most cases]
 *     node bench/recorded-patients.js replay DIALOGUES.jsonl [example lines]
 */
import { readFileSync } from 'node:fs'
import { importers } from '../dist/exports/cases.js'
import { recordPatient } from '../dist/exports/envs.js'
import { patientView } from '../dist/index.js'

const [mode, file, third, fourth] = process.argv.slice(2)
const percent = (part, whole) => `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`
const followed = ({ understood }) => understood !== 'unknown' && understood !== 'unclear'
const patient = recordPatient()
const ask = (truth, utterance, language, dialogue = []) =>
  patient(utterance, { view: patientView(truth), dialogue, seed: 0, language })

function everyday(language = 'en', most = 50) {
  const url = new URL('../test/fixtures/everyday-questions.json', import.meta.url)
  const questions = JSON.parse(readFileSync(url, 'utf8'))[language]
  const cases = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .slice(0, Number(most))
    .map((line) => JSON.parse(line))
  const counts = new Map()
  const silent = new Map(questions.map((question) => [question, 0]))
  for (const truth of cases)
    for (const question of questions) {
      const { understood } = ask(truth, question, language)
      counts.set(understood, (counts.get(understood) ?? 0) + 1)
      if (understood === 'unknown' || understood === 'unclear')
        silent.set(question, silent.get(question) + 1)
    }
  const all = cases.length * questions.length
  console.log(`${cases.length} cases × ${questions.length} questions, ${language}`)
  for (const [understood, count] of counts) console.log(understood.padEnd(10), percent(count, all))
  const never = [...silent].filter(([, count]) => count === cases.length)
  console.log(`questions that no case answers: ${never.length}`)
  if (process.env.LIST) for (const [question] of never) console.log(`  ${question}`)
}

const yes =
  /^(?:um+|uh+|er+|well|so|oh|yeah|哦|嗯|啊|唉|[,，. ])*(?:yes|yeah|yep|yup|i (?:do|have|am|did)\b|是|对|有(?!没)|会|嗯)/i
const no =
  /^(?:um+|uh+|er+|well|so|oh|哦|嗯|啊|唉|[,，. ])*(?:no\b|nope|not\b|none|never|i (?:do|have|did|am)(?:n't| not)|没|不|无|也没|都没|倒没)|(?:没有|都没|倒没|没)[。，.]?$/i
const polarity = (text) => (no.test(text) ? 'no' : yes.test(text) ? 'yes' : undefined)

const stop = new Set(
  'the a an and or but so of to in on at for with it is was be been have has had do did i my me you your that this just like um uh er yeah yes no not really'.split(
    ' ',
  ),
)
/** Words with content: English words, Chinese pairs of characters. */
function contentWords(text) {
  const words = (text.toLowerCase().match(/[a-z']+|\d+/g) ?? []).filter((w) => !stop.has(w))
  for (const [run] of text.matchAll(/\p{Script=Han}+/gu))
    for (let i = 0; i + 1 < run.length; i++) words.push(run.slice(i, i + 2))
  return new Set(words)
}
const overlap = (said, reply) => {
  const [a, b] = [contentWords(said), contentWords(reply)]
  const shared = [...a].filter((word) => b.has(word)).length
  return shared === 0 ? 0 : (2 * shared) / (a.size + b.size)
}

/** What the patient may answer from: the profile, or every other exchange. */
function without(truth, exchange) {
  const profile = truth.findings.filter(({ topic }) => topic !== undefined)
  const findings =
    profile.length > 0 ? profile : truth.findings.filter(({ id }) => id !== exchange.id)
  return { ...truth, findings }
}

async function replay(examples = 0) {
  const { cases } = await importers.dialogues(file)
  const sum = { asked: 0, followed: 0, both: 0, agree: 0, shared: 0, overlap: 0, own: 0 }
  const lines = []
  for (const truth of cases) {
    const language = truth.chiefComplaint.text.zh === undefined ? 'en' : 'zh'
    for (const exchange of truth.findings.filter(({ question }) => question)) {
      const question = exchange.question[language]
      const said = exchange.utterance[language]
      sum.asked++
      if (ask(truth, question, language).text === said) sum.own++
      const reply = ask(without(truth, exchange), question, language)
      const is = followed(reply)
      const [then, now] = [polarity(said), polarity(reply.text)]
      if (is) {
        sum.followed++
        const shared = overlap(said, reply.text)
        sum.overlap += shared
        if (shared > 0) sum.shared++
        if (then && now) {
          sum.both++
          if (then === now) sum.agree++
        }
      }
      lines.push(`${is ? '+' : '-'} ${question}\n    said:  ${said}\n    reply: ${reply.text}`)
    }
  }
  console.log(`${cases.length} consultations, ${sum.asked} questions`)
  console.log('its own recorded answer     ', percent(sum.own, sum.asked))
  console.log('followed without it         ', percent(sum.followed, sum.asked))
  console.log(
    'of these, yes-no agrees     ',
    `${sum.agree} of ${sum.both}`,
    percent(sum.agree, sum.both),
  )
  console.log('of these, shares a content word', percent(sum.shared, sum.followed))
  console.log(
    'mean overlap of content words (F1)',
    (sum.overlap / Math.max(1, sum.followed)).toFixed(3),
  )
  for (const line of lines.slice(0, Number(examples))) console.log(line)
}

if (mode === 'everyday' && file) everyday(third, fourth)
else if (mode === 'replay' && file) await replay(third)
else throw new Error('expected `everyday CASES.jsonl` or `replay DIALOGUES.jsonl`')
