/**
 * Consultations of a chat doctor and a chat patient at servers that fail: a share of all requests (default .3) meets one
 * of eleven faults. Says how many consultations were lost and to what, whether any reply in an episode is not one that a
 * server sent, and what is left open at the end. Run after `npm run build`: `node bench/model-faults.js [2000 0.3]`.
 */
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { chatDoctor } from '../dist/exports/agents.js'
import { freePatient } from '../dist/exports/envs.js'
import { modelFaultKind, openaiChat, openLedger, usageLine } from '../dist/exports/models.js'
import { task } from '../dist/index.js'
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
const reply = (content, rest = {}) =>
  send(200, {
    choices: [{ message: { role: 'assistant', content }, finish_reason: 'stop', ...rest }],
    usage: { prompt_tokens: 100, completion_tokens: 10 },
  })
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

const sent = new Set()
let asked = 0
const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  const n = asked++
  if (uniform(n, 'fails') < share)
    return faults[names[Math.floor(uniform(n, 'how') * names.length)]](response)
  const { model, messages } = JSON.parse(body)
  const doctor = messages.length > 4 ? 'Diagnosis: Influenza' : 'Question: Do you cough?'
  const said = model === 'patient' ? `No, nothing like that (${n}).` : doctor
  if (model === 'patient') sent.add(said)
  reply(said)(response)
})
await new Promise((resolve) => server.listen(0, '127.0.0.1', 4096, resolve))
const baseURL = `http://127.0.0.1:${server.address().port}/v1`

const limits = { concurrency: 64, timeoutMs: 500, backoffMs: 20, deadlineMs: 60_000 }
const ledger = openLedger()
const open = (role) => ledger.meter(role, role, openaiChat({ model: role, baseURL, ...limits }))
const patient = freePatient({ chat: open('patient') })
const { heldOut, makeEnv, measures } = await task({ heldOut: count, patient, maxTurns: 6 })
const agent = chatDoctor({ chat: open('doctor') })
const played = await playCases({
  ...{ cases: heldOut, makeEnv, measures, agent, agentName: 'chat', concurrency: 64 },
})

const kinds = {}
for (const { fault } of played)
  if (fault)
    kinds[modelFaultKind(fault) ?? fault.code] =
      (kinds[modelFaultKind(fault) ?? fault.code] ?? 0) + 1
const episodes = played.flatMap(({ episode }) => episode ?? [])
const heard = episodes.flatMap(({ turns }) =>
  turns.filter(({ outcome }) => outcome.kind === 'answered'),
)
const invented = heard.filter(
  ({ outcome, facts }) => !sent.has(outcome.text) || facts.told.length > 0,
)
server.close()
server.closeAllConnections()
await sleep(100)
const left = process.getActiveResourcesInfo().filter((name) => /TCP|Timeout/.test(name))
console.log(
  [
    `${count} consultations, ${asked} requests, ${share} of them failing: ${episodes.length} played, ${count - episodes.length} lost ${JSON.stringify(kinds)}`,
    `${heard.length} answers of the patient, ${invented.length} of them not sent by a server (target 0)`,
    `${usageLine(ledger.used())}; ${unhandled.length} unhandled rejections, ${left.length} sockets and timers left (targets 0)`,
  ].join('\n'),
)
