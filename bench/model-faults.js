/**
 * Consultations in which models play doctor, patient, examiner and judge at a server that fails: a share of all requests
 * (default .3) meets one of eleven faults. Says how many consultations were lost and to what, whether everything in an
 * episode and its score traces to the case or to a reply that the server sent, and what is left open at the end. Then
 * everything is played again from the cassette, without the server. Run after `npm run build`:
 * `node bench/model-faults.js [2000 0.3]`.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { chatDoctor } from '../dist/exports/agents.js'
import { diagGym, freePatient, recordExams } from '../dist/exports/envs.js'
import { loadKnowledge } from '../dist/exports/knowledge.js'
import {
  modelFaultKind,
  openaiChat,
  openaiCompletion,
  openCassette,
  openLedger,
  shareReplies,
  usageLine,
} from '../dist/exports/models.js'
import { askJudge, chatJudge } from '../dist/exports/rewards.js'
import { ok, task } from '../dist/index.js'
import { importSource } from './bundled.js'

const [count = 2000, share = 0.3] = process.argv.slice(2).map(Number)
const { uniform } = await importSource('seed.ts')
const { playCases } = await importSource('evaluation/play-cases.ts')
const unhandled = []
process.on('unhandledRejection', (reason) => unhandled.push(reason))

const send =
  (status, body, headers = {}) =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
const usage = { prompt_tokens: 100, completion_tokens: 10 }
/** A choice in the form of chats and of completions. */
const choice = (text) => ({
  message: { role: 'assistant', content: text },
  text,
  finish_reason: 'stop',
})
const reply = (text) => send(200, { choices: [choice(text)], usage })
const begin = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.write('{"choices":')
}
const faults = {
  500: send(500, { error: { message: 'oops' } }),
  '429, wait': send(429, { error: { message: 'busy' } }, { 'retry-after': '0.05' }),
  429: send(429, { error: { message: 'busy' } }),
  reset: (response) => response.socket.destroy(),
  stall: begin,
  drip(response) {
    begin(response)
    const timer = setInterval(() => response.write(' '), 20)
    response.on('close', () => clearInterval(timer))
  },
  'torn JSON': send(200, '{"choices":[{"message":{"content":"Yes, I ha'),
  'empty choice': reply(null),
  'no choice': send(200, { choices: [] }),
  '200 with an error': send(200, { error: { message: 'overloaded' } }),
  'wrong schema': send(200, { output: 'Yes, a fever.' }),
}
const names = Object.keys(faults)

/** An examination that every case records, or whose place the record knows, and one that nobody knows. */
const orders = ['Order: complete blood count', 'Order: serum moonlight level']
const turns = ['Question: Do you cough?', orders[0], 'Question: Since when?', orders[1]]
/** What the server said, by role; no two replies are the same. */
const said = { patient: new Set(), examiner: new Set(), judge: new Set() }
const lines = {
  patient: (n) => `No, nothing like that (${n}).`,
  examiner: (n) => `Value: ${n}; Units: lx`,
  judge: (n) => ((n % 999_983) / 999_983).toFixed(9),
}
let asked = 0
const hit = {}
const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  const n = asked++
  const { model, messages = [] } = JSON.parse(body)
  if (uniform(n, 'fails') < share) {
    hit[model] = (hit[model] ?? 0) + 1
    return faults[names[Math.floor(uniform(n, 'how') * names.length)]](response)
  }
  const turn = messages.filter(({ role }) => role === 'assistant').length
  if (model === 'doctor') return reply(turns[turn] ?? 'Diagnosis: Influenza')(response)
  const text = lines[model](n)
  said[model].add(text)
  reply(text)(response)
})
await new Promise((resolve) => server.listen(0, '127.0.0.1', 4096, resolve))
const baseURL = `http://127.0.0.1:${server.address().port}/v1`
const folder = mkdtempSync(join(tmpdir(), 'bedside-faults-'))
const knowledge = loadKnowledge()

/** Plays all cases with models behind a cassette of this mode. */
async function playAll(mode) {
  const cassette = openCassette({ file: join(folder, 'replies.jsonl'), mode })
  const ledger = openLedger()
  const limits = { concurrency: 64, timeoutMs: 2000, backoffMs: 20, deadlineMs: 60_000 }
  const open = (role, make = openaiChat) => {
    const model = make({ model: role, baseURL, ...limits })
    return ledger.meter(role, role, shareReplies(model, { role, model: role }, cassette))
  }
  const judge = chatJudge({ chat: open('judge'), name: 'judge' })
  const reward = async ({ turns }, { gold }, context = {}) => {
    const dialogue = turns.flatMap(({ action, outcome }) => [
      ...(action.text ? [{ role: 'doctor', text: action.text }] : []),
      ...(outcome.text ? [{ role: 'patient', text: outcome.text }] : []),
    ])
    const disease = gold.dx[0].name.en
    const request = {
      task: 'consultation',
      grade: 'all',
      disease,
      diagnosis: 'Influenza',
      dialogue,
    }
    const value = await askJudge(judge, request, context)
    return { total: value, parts: { judge: ok(value, 'as the judge said') } }
  }
  const complete = open('examiner', openaiCompletion)
  const { heldOut, makeEnv, measures } = await task({
    ...{ heldOut: count, maxTurns: 6, patient: freePatient({ chat: open('patient') }) },
    exams: [recordExams({ knowledge }), diagGym({ complete, knowledge })],
  })
  const played = await playCases({
    ...{ cases: heldOut, makeEnv, agent: chatDoctor({ chat: open('doctor') }), agentName: 'chat' },
    ...{ measures: { ...measures, reward }, concurrency: 64 },
  })
  cassette.close()
  return { played, ledger }
}

const started = performance.now()
const { played, ledger } = await playAll('record')
const seconds = (performance.now() - started) / 1000

const kinds = {}
for (const { fault } of played) {
  const kind = fault && (modelFaultKind(fault) ?? fault.code)
  if (kind) kinds[kind] = (kinds[kind] ?? 0) + 1
}

/** What is wrong with a turn, if anything: words that nobody sent, or facts that the case does not hold. */
function untraced({ outcome, facts }, truth) {
  const state = new Map(truth.findings.map((finding) => [finding.id, finding.state]))
  if (facts.told.some(({ finding, state: told }) => state.get(finding) !== told)) return 'fact'
  if (outcome.kind === 'answered') return said.patient.has(outcome.text) ? undefined : 'answer'
  if (outcome.kind !== 'examined') return undefined
  const made = [...(outcome.text.match(/Value: \d+; Units: lx/g) ?? [])]
  if (made.some((text) => !said.examiner.has(text))) return 'made-up result'
  if (made.length > 0) return facts.told.length > 0 ? 'fact of a made-up result' : undefined
  const recorded = facts.exams.every((exam) => truth.exams.some((one) => one.exam === exam))
  return recorded || facts.ordered === 'unavailable' ? undefined : 'result'
}
const traced = { turns: 0, 'answers of the patient': 0, 'results of the case': 0 }
traced['results of the examiner'] = traced.scores = 0
const invented = {}
const blame = (what) => {
  invented[what] = (invented[what] ?? 0) + 1
}
for (const { episode, scores, truth } of played) {
  if (!episode) continue
  traced.scores++
  if (!said.judge.has(scores.reward.total.toFixed(9))) blame('score')
  for (const turn of episode.turns) {
    traced.turns++
    if (turn.outcome.kind === 'answered') traced['answers of the patient']++
    if (turn.outcome.kind === 'examined')
      traced[`results of the ${/Units: lx/.test(turn.outcome.text) ? 'examiner' : 'case'}`]++
    const wrong = untraced(turn, truth)
    if (wrong) blame(wrong)
  }
}
server.close()
server.closeAllConnections()
const before = asked
const again = await playAll('strict')
const plain = ({ played: all }) =>
  JSON.stringify(all.map(({ episode, scores, fault }) => [episode, scores, fault?.message]))
const same = plain(again) === plain({ played })
rmSync(folder, { recursive: true })
await sleep(100)
const left = process.getActiveResourcesInfo().filter((name) => /TCP|Timeout/.test(name))
const episodes = played.filter(({ episode }) => episode).length
console.log(
  [
    `${count} consultations, ${before} requests, ${share} of them failing (${JSON.stringify(hit)}), ${seconds.toFixed(0)} s: ${episodes} played, ${count - episodes} lost ${JSON.stringify(kinds)}`,
    `traced: ${JSON.stringify(traced)}; invented: ${JSON.stringify(invented)} (target: none)`,
    `played again from the cassette: ${asked - before} requests, ${same ? 'the same bytes' : 'ANOTHER RESULT'}`,
    `${usageLine(ledger.used())}; ${unhandled.length} unhandled rejections, ${left.length} sockets and timers left (targets 0)`,
  ].join('\n'),
)
