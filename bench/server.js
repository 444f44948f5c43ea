/**
 * `bedside serve` under load, over OpenEnv's WebSocket: steps a second and latency of N sessions at once, memory and
 * threads of idle ones. With the environment `gym` of scripts/python-env.sh, the same clients play OpenEnv's own Python
 * server with an env that only echoes. Client and server are processes of their own. Run after `npm run build`:
 *
 *     node bench/server.js [512]
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { WebSocket } from 'ws'
import { loadKnowledge } from '../dist/exports/knowledge.js'

const count = Number(process.argv[2] ?? 512)
const seconds = 10
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

async function connect(url) {
  const socket = new WebSocket(url, { perMessageDeflate: false })
  await once(socket, 'open')
  let reader
  socket.on('message', (data) => reader(data))
  const ask = (text) =>
    new Promise((resolve) => {
      reader = resolve
      socket.send(text)
    })
  return { socket, ask }
}

const reset = (seed) => JSON.stringify({ type: 'reset', data: { seed } })

/** Plays `count` sessions at once for some seconds. */
async function load(url) {
  const open = await Promise.all(Array.from({ length: count }, () => connect(url)))
  await Promise.all(open.map(({ ask }, n) => ask(reset(n % 64))))
  const latencies = []
  const end = performance.now() + seconds * 1000
  const started = performance.now()
  await Promise.all(
    open.map(async ({ ask }, n) => {
      for (let t = 0; performance.now() < end; t++) {
        const message = questions[(n + t) % questions.length]
        const before = performance.now()
        const reply = String(await ask(JSON.stringify({ type: 'step', data: { message } })))
        latencies.push(performance.now() - before)
        if (reply.includes('"done":true')) await ask(reset((n + t) % 64))
      }
    }),
  )
  const took = (performance.now() - started) / 1000
  for (const { socket } of open) socket.terminate()
  latencies.sort((a, b) => a - b)
  const at = (share) => latencies[Math.floor(share * (latencies.length - 1))]
  return { rate: latencies.length / took, p50: at(0.5), p99: at(0.99) }
}

const told = ({ rate, p50, p99 }) =>
  `${rate.toFixed(0)} steps/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms (${(p99 / p50).toFixed(2)} x p50)`

/** Sessions that do nothing. */
async function idle(url, pid, sessions = 1024) {
  const first = await connect(url)
  await first.ask(reset(0))
  const before = size(pid)
  const open = await Promise.all(Array.from({ length: sessions }, () => connect(url)))
  await Promise.all(open.map(({ ask }, n) => ask(reset(n))))
  const after = size(pid)
  for (const { socket } of [first, ...open]) socket.terminate()
  return `${sessions} idle sessions: ${((after.kB - before.kB) / sessions).toFixed(1)} kB each, ${after.threads} threads`
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
    return await load(`ws://127.0.0.1:${port}/ws`)
  } finally {
    server.kill('SIGKILL')
  }
}

const line = ['serve', '--json', '--max-sessions', '8192', '--token-file', join(folder, 'token')]
const server = spawn(process.execPath, [join(root, 'dist/cli/main.js'), ...line], {
  stdio: ['ignore', 'pipe', 'ignore'],
})
try {
  const [ready] = await once(createInterface(server.stdout), 'line')
  const { address, token } = JSON.parse(ready)
  const url = `${address.replace('http', 'ws')}/t/${readFileSync(token.file, 'utf8').trim()}/ws`
  console.log(await idle(url, server.pid))
  await load(url) // warm
  const ours = await load(url)
  console.log(`consultations, ${count} at once: ${told(ours)}`)
  const python = join(root, '.venvs/gym/bin/python')
  if (existsSync(python)) {
    const theirs = await echo(python)
    console.log(`OpenEnv's server with an echo, ${count} at once: ${told(theirs)}`)
    console.log(`ratio ${(ours.rate / theirs.rate).toFixed(1)}`)
  } else console.log('no .venvs/gym: OpenEnv’s own server was not measured')
} finally {
  server.kill('SIGTERM')
  rmSync(folder, { recursive: true })
}
