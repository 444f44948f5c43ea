/**
 * `bedside serve` under load, over OpenEnv's WebSocket. Client and server are processes of their own. Run after
 * `npm run build`:
 *
 *     node bench/server.js [--sessions 512] [--seconds 10] [--only load,idle,echo,workers,soak] [--soak-steps 1000000]
 *
 * `load`: steps a second and latency of many sessions at once. `idle`: memory and threads of sessions that wait. `echo`:
 * the same clients play this server and OpenEnv's own Python server with an env that only echoes (needs the environment
 * `gym` of scripts/python-env.sh). `workers`: two processes against one, where each question is a new one, as a language
 * model's are, and against one held to one core by `taskset`, as the collector's helpers of one process take a part of the
 * other; the client takes a tenth of a core. `soak`: steps with 30 % of the connections broken off at each
 * episode; memory and sessions afterwards.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { loadKnowledge } from '../dist/exports/knowledge.js'
import { frame, openSocket } from './raw-socket.js'

const { values: flags } = parseArgs({
  options: {
    sessions: { type: 'string', default: '512' },
    seconds: { type: 'string', default: '10' },
    only: { type: 'string', default: 'load,idle,echo' },
    'soak-steps': { type: 'string', default: '1000000' },
  },
})
const count = Number(flags.sessions)
const seconds = Number(flags.seconds)
const parts = flags.only.split(',')
const root = fileURLToPath(new URL('..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'bedside-bench-'))
const questions = loadKnowledge()
  .findings.filter(
    ({ kind, knownBy, attribute }) => kind === 'symptom' && knownBy === 'patient' && !attribute,
  )
  .map(({ ask }) => ask.en[0])

/** Resident megabytes and threads of a process. */
function size(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const of = (name) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1])
  return { kB: of('VmRSS'), threads: of('Threads') }
}

const resets = new Map()
const steps = questions.map((message) => frame(JSON.stringify({ type: 'step', data: { message } })))

/** A question that was not asked before, as a language model's are: two in one, in another order each time. */
let asked = process.pid % questions.length
function freshStep() {
  const [a, b] = [asked % questions.length, Math.floor(asked / questions.length) % questions.length]
  asked++
  const message = `${questions[(a + b) % questions.length]} ${questions[(2 * a + b + 1) % questions.length]}`
  return frame(JSON.stringify({ type: 'step', data: { message } }))
}

function reset(seed) {
  if (!resets.has(seed)) resets.set(seed, frame(JSON.stringify({ type: 'reset', data: { seed } })))
  return resets.get(seed)
}

/** Turns by which the sessions of a load are apart at most. */
const apart = 10

/** Plays `count` sessions at once for some seconds, at different turns as they would be. */
async function load(url, fresh = false) {
  const open = await Promise.all(Array.from({ length: count }, () => openSocket(url)))
  await Promise.all(
    open.map(async ({ ask }, n) => {
      await ask(reset(n % 64))
      for (let t = 0; t < n % apart; t++)
        if ((await ask(steps[(n + t) % steps.length])).includes('"done":true'))
          await ask(reset(n % 64))
    }),
  )
  const latencies = []
  const end = performance.now() + seconds * 1000
  const started = performance.now()
  await Promise.all(
    open.map(async ({ ask }, n) => {
      for (let t = 0; performance.now() < end; t++) {
        const step = fresh ? freshStep() : steps[(n + t) % steps.length]
        const before = performance.now()
        const reply = await ask(step)
        latencies.push(performance.now() - before)
        if (reply.includes('"done":true')) await ask(reset((n + t) % 64))
      }
    }),
  )
  const took = (performance.now() - started) / 1000
  for (const { close } of open) close()
  latencies.sort((a, b) => a - b)
  const at = (share) => latencies[Math.floor(share * (latencies.length - 1))]
  return { rate: latencies.length / took, p50: at(0.5), p99: at(0.99) }
}

const told = ({ rate, p50, p99 }) =>
  `${rate.toFixed(0)} steps/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms (${(p99 / p50).toFixed(2)} x p50)`

/**
 * Sessions that do nothing. The first two waves bring the server's caches and heap to their size, which sessions that
 * end and begin do not change; the last two are measured.
 */
async function idle(url, pid, sessions = 1024) {
  const all = []
  const wave = async () => {
    const open = await Promise.all(Array.from({ length: sessions }, () => openSocket(url)))
    await Promise.all(open.map(({ ask }, n) => ask(reset(all.length + n))))
    all.push(...open)
    // The server gives memory back when nothing has happened for two seconds.
    await sleep(15_000)
    return size(pid)
  }
  const cold = size(pid)
  const first = await wave()
  const before = await wave()
  await wave()
  const after = await wave()
  for (const { close } of all) close()
  const each = ((after.kB - before.kB) / (2 * sessions)).toFixed(1)
  const warming = ((first.kB - cold.kB) / sessions).toFixed(1)
  return `${sessions} idle sessions: ${each} kB each (the first ${sessions} of a new process, with its caches: ${warming} kB), ${after.threads} threads`
}

/** Episodes until the steps are taken; three connections of ten break off in the middle of one. */
async function soak(url, address, pid) {
  const wanted = Number(flags['soak-steps'])
  let taken = 0
  let broken = 0
  let marked
  const play = async (n) => {
    for (let episode = n; taken < wanted; episode += count) {
      const { ask, write, close } = await openSocket(url)
      await ask(reset(episode % 997))
      const breaks = episode % 10 < 3
      for (let t = 0; taken < wanted; t++) {
        const sent = steps[(n + t) % steps.length]
        taken++
        if (breaks && t === 4) {
          broken++
          write(sent)
          break
        }
        if ((await ask(sent)).includes('"done":true')) break
        // A fifth of the way, caches and heap have their size.
        if (!marked && taken > wanted / 5) marked = size(pid)
      }
      close()
    }
  }
  await Promise.all(Array.from({ length: count }, (_, n) => play(n)))
  const after = size(pid)
  await sleep(2000)
  const { open } = await (await fetch(`${address}/healthz`)).json()
  const grown = (100 * (after.kB / marked.kB - 1)).toFixed(1)
  return `soak: ${taken} steps, ${broken} connections broken off, ${open} sessions left, memory ${(marked.kB / 1024).toFixed(0)} MB -> ${(after.kB / 1024).toFixed(0)} MB (${grown} %)`
}

/** Seconds of processor time that a process and its children have taken. */
function processorSeconds(pid) {
  const ids = [pid, ...readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')]
  const ticks = ids
    .filter(Boolean)
    .map((id) => readFileSync(`/proc/${id}/stat`, 'utf8').split(') ')[1].split(' '))
    .map((fields) => Number(fields[11]) + Number(fields[12]))
  return ticks.reduce((a, b) => a + b) / 100
}

/** Seconds of processor time that the whole machine has spent. */
function machineSeconds() {
  const [user, nice, system, , , irq, soft] = readFileSync('/proc/stat', 'utf8')
    .split('\n')[0]
    .split(/ +/)
    .slice(1)
    .map(Number)
  return (user + nice + system + irq + soft) / 100
}

/** A load, and how many cores its clients, the server and all else on the machine took while it lasted. */
async function accounted(pid, work) {
  const started = performance.now()
  const before = [process.cpuUsage(), processorSeconds(pid), machineSeconds()]
  const measured = await work()
  const took = (performance.now() - started) / 1000
  const { user, system } = process.cpuUsage(before[0])
  const client = (user + system) / 1e6
  const server = processorSeconds(pid) - before[1]
  const others = machineSeconds() - before[2] - client - server
  return { ...measured, client: client / took, server: server / took, others: others / took }
}

const coresOf = ({ client, server, others }) =>
  `${server.toFixed(2)} cores; clients ${client.toFixed(2)}, others on this machine ${Math.max(0, others).toFixed(2)}`

/** Steps a second of a server with some processes. */
async function ofWorkers(workers, before) {
  const { server, url } = await startServe(['--workers', String(workers)], before)
  try {
    await load(url, true) // warm
    return await accounted(server.pid, () => load(url, true))
  } finally {
    await stopServe(server)
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  return port
}

/** The official server with an env that echoes. */
async function echo(python) {
  const port = await freePort()
  const server = spawn(python, [join(root, 'bench/openenv-echo.py'), String(port)], {
    stdio: 'inherit',
  })
  try {
    for (let tries = 0; tries < 400; tries++) {
      const up = await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined)
      if (up?.ok) break
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    await load(`ws://127.0.0.1:${port}/ws`) // warm
    return await load(`ws://127.0.0.1:${port}/ws`)
  } finally {
    server.kill('SIGKILL')
  }
}

/** This server with an env that echoes. */
async function ownEcho() {
  const server = spawn(process.execPath, [join(root, 'bench/echo-server.js')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  try {
    const [ready] = await once(createInterface(server.stdout), 'line')
    const url = `${JSON.parse(ready).address.replace('http', 'ws')}/ws`
    await load(url) // warm
    return await load(url)
  } finally {
    server.kill('SIGKILL')
  }
}

async function startServe(more = [], before = []) {
  const token = ['--token-file', join(folder, 'token')]
  const line = ['serve', '--json', '--max-sessions', '8192', ...token, ...more]
  const [command, ...rest] = [...before, process.execPath, join(root, 'dist/cli/main.js'), ...line]
  const server = spawn(command, rest, { stdio: ['ignore', 'pipe', 'ignore'] })
  const [ready] = await once(createInterface(server.stdout), 'line')
  const { address, token: place } = JSON.parse(ready)
  const secret = readFileSync(place.file, 'utf8').trim()
  return { server, address, url: `${address.replace('http', 'ws')}/t/${secret}/ws` }
}

async function stopServe(server) {
  server.kill('SIGINT')
  await once(server, 'exit')
}

/** The same work on this server's wire and on the official one's. */
async function measureEcho() {
  const python = join(root, '.venvs/gym/bin/python')
  if (!existsSync(python))
    return console.log('no .venvs/gym: OpenEnv’s own server was not measured')
  const ours = await ownEcho()
  console.log(`an echo, ${count} at once: ${told(ours)}`)
  const theirs = await echo(python)
  console.log(`OpenEnv's server with an echo, ${count} at once: ${told(theirs)}`)
  console.log(`ratio ${(ours.rate / theirs.rate).toFixed(1)}`)
}

/** One server with one process. */
async function measureOne() {
  const { server, address, url } = await startServe()
  try {
    if (parts.includes('idle')) console.log(await idle(url, server.pid))
    if (parts.includes('soak')) console.log(await soak(url, address, server.pid))
    if (!parts.includes('load')) return
    await load(url) // warm
    const ours = await accounted(server.pid, () => load(url))
    console.log(`consultations, ${count} at once: ${told(ours)}; ${coresOf(ours)}`)
  } finally {
    await stopServe(server)
  }
}

try {
  if (['load', 'idle', 'soak'].some((part) => parts.includes(part))) await measureOne()
  if (parts.includes('echo')) await measureEcho()
  if (parts.includes('workers')) {
    const rows = {
      'one process': await ofWorkers(1),
      'one process on one core': await ofWorkers(1, ['taskset', '-c', '0']),
      'two processes': await ofWorkers(2),
    }
    for (const [name, row] of Object.entries(rows))
      console.log(`${name}: ${row.rate.toFixed(0)} steps/s, ${coresOf(row)}`)
    const [one, pinned, two] = Object.values(rows).map(({ rate }) => rate)
    console.log(
      `two processes: ${(two / one).toFixed(2)} x one, ${(two / pinned).toFixed(2)} x one on one core`,
    )
  }
} finally {
  rmSync(folder, { recursive: true })
}
