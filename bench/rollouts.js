/**
 * How much of the ideal many consultations at once reach, and how long the event loop is held up. Ten questions a
 * consultation; the doctor thinks for a lognormal time (median 400 ms, sigma 0.8, keyed by seed), and in the first
 * setting the patient does too. In the last the doctor is a chat model behind HTTP, whose server (another process)
 * waits as long, and the consultations are those of an evaluation. Ideal is the longest sum of these times. Each line is a process of its own, so that the
 * rule patient is cold. Run after `npm run build`: `node bench/rollouts.js [512 2048]`.
 */
import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import { openaiChat, rollout, task } from '../dist/index.js'
import { importSource } from './bundled.js'

const turns = 10
const median = 400
const sigma = 0.8
const settings = {
  'async patient': { target: 0.99, language: 'en' },
  'rule patient, cold': { target: 0.97, language: 'en' },
  'rule patient, cold, zh': { target: 0.97, language: 'zh' },
  'evaluation of a chat model over HTTP': { target: 0.95, language: 'en' },
}

const { uniform } = await importSource('seed.ts')
const { mapPool } = await importSource('platform/concurrency.ts')
const latency = (...key) => {
  const normal =
    Math.sqrt(-2 * Math.log(1 - uniform(...key, 'r'))) *
    Math.cos(2 * Math.PI * uniform(...key, 'a'))
  return median * Math.exp(sigma * normal)
}
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** Serves a chat model whose prompt says how long it thinks. */
async function serveChat() {
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', async () => {
      await pause(Number(JSON.parse(body).messages.at(-1).content))
      const choice = {
        index: 0,
        finish_reason: 'stop',
        message: { role: 'assistant', content: '.' },
      }
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ choices: [choice], usage: {} }))
    })
  })
  server.listen(0, '127.0.0.1', 4096, () => process.send(server.address().port))
}

/** Starts the server; returns a function that asks it to think for some time. */
async function openThinker(count) {
  const child = fork(fileURLToPath(import.meta.url), ['serve'])
  const [port] = await once(child, 'message')
  const chat = openaiChat({
    model: 'stub',
    baseURL: `http://127.0.0.1:${port}/v1`,
    concurrency: count,
  })
  return {
    think: (ms) => chat([{ role: 'user', content: String(ms) }]),
    close: () => child.kill(),
  }
}

/** Questions that were written apart from the lexicon: most need similarity. */
const questionsIn = (language) =>
  readFileSync(new URL('../test/fixtures/questions-e.jsonl', import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ lang }) => lang === language)
    .map(({ text }) => text)

/** Plays `count` consultations at once and prints what it took, as JSON. */
async function measure(setting, count) {
  const { language } = settings[setting]
  const asyncPatient = setting === 'async patient'
  const overHttp = setting.includes('HTTP')
  const thinks = Array.from({ length: count }, (_, n) =>
    Array.from({ length: turns }, (_, t) => [
      latency(n, 'doctor', t),
      asyncPatient ? latency(n, 'patient', t) : 0,
    ]),
  )
  const ideal = Math.max(...thinks.map((one) => one.flat().reduce((sum, ms) => sum + ms, 0)))
  const questions = questionsIn(language)
  const patient = async (_, { seed, dialogue }) => {
    await pause(thinks[seed][dialogue.length][1])
    return { text: 'No.', understood: 'answered', questions: 1, asked: [], told: [] }
  }
  const doctorOf =
    (n) =>
    async ({ turns: { length } }) => {
      await think(thinks[n][length][0])
      const at = Math.floor(uniform(n, length, 'question') * questions.length)
      return { action: { kind: 'ask', text: questions[at] } }
    }
  const limits = {
    money: 1e6,
    minutes: 1e6,
    maxTurns: turns,
    tier: 'standard',
    heldOut: 200,
    language,
  }
  const { heldOut, makeEnv } = await task({
    ...limits,
    ...(asyncPatient && { patient }),
    ...(overHttp && { heldOut: count }),
  })
  const { think, close } = overHttp ? await openThinker(count) : { think: pause, close() {} }
  const { playCases } = overHttp ? await importSource('evaluation/play-cases.ts') : {}
  const place = new Map(heldOut.map(({ id }, n) => [id, n]))
  await pause(200)
  const lag = monitorEventLoopDelay({ resolution: 1 })
  lag.enable()
  const cpu = process.cpuUsage()
  const started = performance.now()
  if (overHttp)
    await playCases({
      ...{ cases: heldOut, makeEnv, agentName: 'chat', measures: {}, concurrency: count },
      agent: { forCase: ({ id }) => doctorOf(place.get(id)) },
    })
  else
    await mapPool(thinks, count, (_, n) =>
      rollout(makeEnv(), doctorOf(n), { seed: n, options: { case: heldOut[n % heldOut.length] } }),
    )
  const took = performance.now() - started
  close()
  lag.disable()
  const { user, system } = process.cpuUsage(cpu)
  const ms = (nanoseconds) => nanoseconds / 1e6
  const told = {
    ideal,
    took,
    cpu: (user + system) / 1e3,
    p50: ms(lag.percentile(50)),
    p99: ms(lag.percentile(99)),
    max: ms(lag.max),
  }
  console.log(JSON.stringify(told))
}

const [setting, ...counts] = process.argv.slice(2)
if (setting === 'serve') await serveChat()
else if (setting in settings) await measure(setting, Number(counts[0]))
else
  for (const count of process.argv.length > 2 ? process.argv.slice(2) : ['512', '2048'])
    for (const [name, { target }] of Object.entries(settings)) {
      const told = execFileSync(process.execPath, [fileURLToPath(import.meta.url), name, count], {
        encoding: 'utf8',
      })
      const { ideal, took, cpu, p99, max } = JSON.parse(told)
      console.log(
        `${count} at once, ${name}: ${(ideal / took).toFixed(3)} of ideal (target ${target}), ${(ideal / 1e3).toFixed(1)} s; busy ${((100 * cpu) / took).toFixed(0)} %; event-loop lag p99 ${p99.toFixed(0)} ms (target 20), max ${max.toFixed(0)} ms (target 60)`,
      )
    }
