/**
 * Follow-up questions in context (`test/fixtures/follow-ups*.jsonl`): the written turns are the dialogue so far, with
 * a generated patient who has the complaint and what was told, and the last question is put to the rule patient.
 *
 * Right: the reply is about one of the gold findings or topics (`bound` or `useful` in judging/verdict.js). F1 counts
 * findings asked for: one gold finding a question, every other one that the reply answers about is one too many.
 * Run after `npm run build`: `node bench/follow-ups.js [set] [--even | --odd] [--show]` (the set `2` is
 * `follow-ups-2.jsonl`; prints what went wrong; every other snippet, for development and for measurement).
 */
import { readFileSync } from 'node:fs'
import { rulePatient, understand } from '../dist/exports/envs.js'
import { loadKnowledge } from '../dist/exports/knowledge.js'
import { changed, clinicOf } from './judging/cases.js'
import { saysTopic } from './judging/said.js'
import { answersBeside, relatives, verdictOn } from './judging/verdict.js'

const show = process.argv.includes('--show')
/** Every other snippet: the even ones are those that are looked at, the odd ones measure what was not looked at. */
const half = ['even', 'odd'].find((name) => process.argv.includes(`--${name}`))
const knowledge = loadKnowledge()
const clinic = clinicOf(knowledge)
const patient = rulePatient({ knowledge, persona: {} })
const set = process.argv.slice(2).find((word) => !word.startsWith('--'))
const file = set === undefined ? 'follow-ups.jsonl' : `follow-ups-${set}.jsonl`
const snippets = readFileSync(new URL(`../test/fixtures/${file}`, import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))
  .filter((_, n) => half === undefined || n % 2 === (half === 'odd' ? 1 : 0))

/** How a written turn was understood: one that tells of no finding may still answer a question, such as that of a job. */
const understoodAs = ({ doctor, told }, turn) => {
  if (turn === 0 && told.length > 0) return 'open'
  const chats = told.length === 0 && understand(knowledge, doctor).kind === 'courtesy'
  return chats ? 'courtesy' : 'answered'
}

/** The written turns as exchanges; a categorical finding was told in the patient's own state. */
const exchanges = (before, view) =>
  before.map(({ doctor, patient: text, told }, turn) => ({
    utterance: doctor,
    reply: {
      text,
      understood: understoodAs({ doctor, told }, turn),
      questions: understoodAs({ doctor, told }, turn) === 'courtesy' ? 0 : 1,
      asked: turn === 0 ? [] : told.map(({ finding }) => finding),
      told: told.map(({ finding, state }) => ({
        finding,
        state: view.findings.get(finding)?.state ?? state,
      })),
    },
  }))

/** The patients with the complaint, first those who had what the topics are about: an operation, a cat. */
function whoCanTell({ complaint, topics = [] }) {
  const slots = topics.flatMap((id) => knowledge.aside.get(id)?.slot ?? [])
  const tells = ({ truth }) => slots.some((slot) => truth.biography?.[slot] !== undefined)
  const all = clinic(complaint)
  return slots.length === 0 ? all : [...all.filter(tells), ...all.filter((one) => !tells(one))]
}

async function answered(snippet) {
  const { complaint, before, text, findings, lang } = snippet
  const told = before.flatMap(({ told: all }) => all)
  const present = { finding: complaint, state: 'present' }
  const parents = findings.flatMap((id) => knowledge.finding.get(id)?.parent ?? [])
  const wanted = [
    present,
    ...parents.map(({ finding, when }) => ({ finding, state: [when].flat()[0] })),
    ...told,
  ]
  const view = changed(knowledge, whoCanTell(snippet), wanted)
  if (!view) return undefined
  // The patient came with what it says it came with, whoever the generated one was made for.
  const complaintOfIt = { ...view.complaint, findings: [complaint] }
  const own = { ...view, complaint: complaintOfIt }
  const dialogue = exchanges(before, view)
  return { view: own, reply: await patient(text, { view: own, dialogue, seed: 3, language: lang }) }
}

/** Topics that answer more of a finding than that it is there: they count for it where the patient understood them. */
const topicsOf = {
  breathlessness: ['exertion'],
  'breathlessness-aggravating': ['exertion', 'sleep-position'],
  'self-harm-thoughts': ['self-harm-plan'],
  smoking: ['smoking-amount', 'duration-habit'],
  'heavy-drinking': ['drinking-amount', 'duration-habit'],
  'regular-medication': ['medicine-dose'],
  'drug-allergy': ['medicine-dose'],
  'previous-episodes': ['ever-before'],
  'missed-period': ['last-period'],
  vomiting: ['vomit-look', 'which-first'],
  'frequent-urination': ['urine-urgency'],
}

/** The verdict, where an answer of a finding's own topic is one about the finding. */
function judge(snippet, { reply, view }) {
  if (saysTopic(knowledge, snippet, reply, view)) return 'useful'
  const verdict = verdictOn(knowledge, snippet, reply)
  if (verdict !== 'empty' || reply.understood === 'courtesy') return verdict
  const { asides } = understand(knowledge, snippet.text)
  const own = snippet.findings.flatMap((id) => topicsOf[id] ?? [])
  return asides.some((aside) => own.includes(aside)) ? 'useful' : verdict
}

const tally = { en: {}, zh: {} }
for (const language of ['en', 'zh']) {
  const sum = {
    n: 0,
    useful: 0,
    bound: 0,
    empty: 0,
    misread: 0,
    unclear: 0,
    said: 0,
    meant: 0,
    right: 0,
  }
  for (const snippet of snippets.filter(({ lang }) => lang === language)) {
    const given = await answered(snippet)
    if (!given) continue
    const { reply } = given
    const verdict = judge(snippet, given)
    const hit = verdict === 'useful' || verdict === 'bound' ? 1 : 0
    const near = relatives(knowledge, snippet.findings)
    sum.n++
    sum[verdict]++
    sum.right += hit
    sum.meant++
    sum.said +=
      hit +
      (!saysTopic(knowledge, snippet, reply, given.view) && answersBeside(knowledge, snippet, reply)
        ? reply.asked.filter((id) => !near.has(id)).length
        : 0)
    if (show && verdict !== 'useful')
      console.log(
        `${verdict}\t${snippet.before.map(({ doctor, patient: said }) => `${doctor} / ${said}`).join(' / ')} / ${snippet.text}\n\t→ ${reply.text} [${reply.asked}] for [${snippet.findings} ${snippet.topics ?? ''}]`,
      )
  }
  tally[language] = sum
}

console.log('follow-ups   n   right     F1   useful  bound  empty  misread  unclear')
for (const [language, sum] of Object.entries(tally)) {
  const share = (count) => `${((100 * count) / sum.n).toFixed(1)} %`.padStart(7)
  const f1 = ((2 * sum.right) / (sum.said + sum.meant)).toFixed(3)
  console.log(
    `${language.padEnd(9)} ${sum.n} ${share(sum.right)}  ${f1}  ${share(sum.useful)} ${share(sum.bound)} ${share(sum.empty)}  ${share(sum.misread)}  ${share(sum.unclear)}`,
  )
}
