/**
 * Replays the doctors' turns of recorded consultations (JSONL of `id`, `turns` of `speaker` and `text`, optional
 * `profile`; the recordings are not part of the repository) against rule patients with the nearest complaint, and
 * reports how the questions are taken. Run after `npm run build`:
 *
 *     node bench/real-doctors.js FILE.jsonl... [--patients 3] [--show KIND|all] [--labels FILE]
 *
 * The patient hears every doctor's turn in order and remembers its own replies. Its complaint is the label's, or, for
 * a consultation without labels, the first symptom that is understood in what the recorded patient said. Personas are
 * plain and memory perfect, so that what is measured is understanding.
 *
 * With labels (test/fixtures/real-questions-labels.jsonl; no text of the recordings), each labelled turn gets a
 * verdict, defined in judging/verdict.js. Followed: `useful` or `bound`. Not followed: `unclear`, `empty` or `misread`.
 * Wrong: `misread`, or a contradiction of what was told before or of the case. Beside: the right answer, and one about
 * something not asked for.
 *
 * SPBench's eight criteria, as far as a rule can judge each (share of replies that pass, over all doctors' turns
 * unless a label is needed):
 * - query comprehension: labelled turns that are followed.
 * - case consistency: replies in which no finding has another state than in the case.
 * - controlled disclosure: replies that reveal at most two findings that were not asked for (any number to an open
 *   question) and name no diagnosis of the case.
 * - response completeness: labelled and followed turns that are `useful`, so that nothing asked for stays open.
 * - logical coherence: replies that tell a detail only of a complaint that was not denied.
 * - language naturalness: replies in the doctor's language, at most 60 words or 120 characters, no sentence of which
 *   was in the three replies before. Grammar and tone are not judged.
 * - conversational consistency: replies that contradict no earlier one, and if not understood, not in words used
 *   before in the same consultation.
 * - demeanour: labelled courtesies, explanations and technicalities (kinds chatter and admin) that are not met with
 *   "I don't understand" or with a symptom. Warmth is not judged.
 */
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { rulePatient, understand } from '../dist/exports/envs.js'
import { loadKnowledge } from '../dist/exports/knowledge.js'
import { clinicOf, plainView } from './judging/cases.js'
import { criteria, criteriaOf } from './judging/criteria.js'
import { answersBeside, contradicts, verdictOn } from './judging/verdict.js'

const { values: flags, positionals: files } = parseArgs({
  allowPositionals: true,
  options: {
    patients: { type: 'string', default: '3' },
    show: { type: 'string' },
    labels: {
      type: 'string',
      default: fileURLToPath(
        new URL('../test/fixtures/real-questions-labels.jsonl', import.meta.url),
      ),
    },
  },
})

function parsed(line, where) {
  try {
    return JSON.parse(line)
  } catch {
    throw new Error(`${where}: expected JSON, got \`${line.slice(0, 60)}\``)
  }
}

/** Lines of a JSONL file, each an object with `keys`. */
function jsonl(path, keys) {
  if (!existsSync(path)) throw new Error(`${path}: expected a JSONL file, found none`)
  return readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line, index) => {
      const where = `${path}:${index + 1}`
      const row = parsed(line, where)
      for (const key of keys)
        if (row[key] === undefined) throw new Error(`${where}: expected \`${key}\`, found none`)
      return row
    })
}

if (files.length === 0)
  throw new Error('Expected files of recorded consultations: node bench/real-doctors.js FILE.jsonl')
const perConsultation = Number(flags.patients)
if (!(Number.isInteger(perConsultation) && perConsultation > 0))
  throw new Error(`--patients: expected a whole number above 0, got \`${flags.patients}\``)

const knowledge = loadKnowledge()
const clinic = clinicOf(knowledge)
const patient = rulePatient({ knowledge, persona: {} })
const labels = new Map()
for (const label of jsonl(flags.labels, ['id', 'turn', 'lang', 'kind', 'findings']))
  labels.set(`${label.lang}/${label.id}/${label.turn}`, label)

/** A consultation's turns, each with a speaker and a text; a label must be of one of its doctor's turns. */
function checkConsultation({ id, turns }, language, file) {
  for (const [turn, { speaker, text }] of turns.entries())
    if ((speaker !== 'doctor' && speaker !== 'patient') || typeof text !== 'string')
      throw new Error(
        `${file}: ${id}: turns[${turn}]: expected a speaker (doctor or patient) and a text, got \`${JSON.stringify(turns[turn]).slice(0, 60)}\``,
      )
  for (const label of labels.values())
    if (label.lang === language && label.id === id && turns[label.turn]?.speaker !== 'doctor')
      throw new Error(
        `${flags.labels}: ${id}: turn ${label.turn} is no doctor's turn of ${file}: labels and file differ`,
      )
}

const languageOf = ({ turns }) =>
  turns.filter(({ text }) => /\p{Script=Han}/u.test(text)).length * 2 > turns.length ? 'zh' : 'en'

/** Complaint of a consultation: as labelled, else the first symptom understood in the recorded patient's words. */
function complaintOf({ id, turns }, language) {
  for (const { lang, id: of, complaint } of labels.values())
    if (lang === language && of === id && complaint) return complaint
  for (const { text } of turns.filter(({ speaker }) => speaker === 'patient').slice(0, 5))
    for (const { finding } of understand(knowledge, text).topics)
      if (clinic(finding).length > 0) return finding
  return 'fatigue'
}

/** All replies of one patient to the doctor's turns of one consultation. */
async function replay(turns, truth, language, seed) {
  const view = plainView(truth)
  const dialogue = []
  const replies = []
  for (const [turn, { speaker, text }] of turns.entries()) {
    if (speaker !== 'doctor') continue
    const reply = await patient(text, { view, dialogue: [...dialogue], seed, language })
    replies.push({ turn, text, reply, view, truth, language, before: [...dialogue] })
    dialogue.push({ utterance: text, reply })
  }
  return replies
}

const judged = []
let profiles = 0
for (const file of files)
  for (const consultation of jsonl(file, ['id', 'turns'])) {
    const language = languageOf(consultation)
    checkConsultation(consultation, language, file)
    if (consultation.profile) profiles++
    const people = clinic(complaintOf(consultation, language)).slice(0, perConsultation)
    for (const [seed, { truth }] of people.entries())
      for (const row of await replay(consultation.turns, truth, language, seed)) {
        const label = labels.get(`${language}/${consultation.id}/${row.turn}`)
        const { asides } = understand(knowledge, row.text)
        const verdict = label && verdictOn(knowledge, label, row.reply, asides, row.text)
        const contradiction = contradicts(row.reply, row.before, row.view)
        judged.push({ ...row, id: consultation.id, label, asides, verdict, contradiction })
      }
  }

const percent = (part, whole) =>
  (whole === 0 ? '–' : `${((100 * part) / whole).toFixed(1)} %`).padStart(8)
const count = (rows, test) => rows.filter(test).length

function line(name, rows) {
  const verdicts = (...names) => count(rows, ({ verdict }) => names.includes(verdict))
  const wrong = count(rows, ({ verdict, contradiction }) => verdict === 'misread' || contradiction)
  const beside = count(
    rows,
    ({ verdict, label, reply, asides }) =>
      verdict !== 'misread' && answersBeside(knowledge, label, reply, asides),
  )
  const n = rows.length
  console.log(
    `${name.padEnd(14)}${String(n).padStart(5)} ${percent(verdicts('useful', 'bound'), n)} ${percent(verdicts('useful'), n)} ${percent(verdicts('unclear', 'empty', 'misread'), n)} ${percent(verdicts('unclear'), n)} ${percent(verdicts('empty'), n)} ${percent(wrong, n)} ${percent(beside, n)}`,
  )
}

if (profiles > 0)
  console.log(
    `${profiles} consultations carry a written profile: a patient that answers from it is the better partner there; these rows are of generated patients.\n`,
  )
for (const language of ['en', 'zh']) {
  const rows = judged.filter((row) => row.language === language)
  if (rows.length === 0) continue
  const labelled = rows.filter(({ label }) => label)
  console.log(
    `${language}: ${rows.length} doctors' turns, ${labelled.length} of them labelled (${new Set(labelled.map(({ id, turn }) => `${id}/${turn}`)).size} questions)`,
  )
  console.log(
    'kind              n  followed   useful  not foll.  unclear    empty    wrong   beside',
  )
  for (const kind of [...new Set(labelled.map(({ label }) => label.kind))].sort())
    line(
      kind,
      labelled.filter(({ label }) => label.kind === kind),
    )
  line('all', labelled)
  const unclear = count(rows, ({ reply }) => reply.understood === 'unclear')
  console.log(`all turns, labelled or not: "I don't understand" ${percent(unclear, rows.length)}`)
  for (const criterion of criteria) {
    const votes = rows
      .map((row) => criteriaOf(knowledge, row)[criterion])
      .filter((vote) => vote !== undefined)
    console.log(
      `  ${criterion.padEnd(27)}${percent(
        count(votes, (vote) => vote),
        votes.length,
      )} of ${votes.length}`,
    )
  }
  console.log('')
}

if (flags.show)
  for (const { label, verdict, contradiction, language, id, turn, text, reply } of judged)
    if (label && (flags.show === 'all' || flags.show === label.kind))
      if (verdict !== 'useful' || contradiction)
        console.log(
          `${language} ${id}/${turn} ${verdict}${contradiction ? ' contradiction' : ''}: ${text}\n    → ${reply.text}   [${reply.asked}] for [${[...label.findings, ...(label.topics ?? [])]}]`,
        )
