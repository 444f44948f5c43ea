/**
 * On paper and by simulation: how many server processes, sessions and bytes a cluster of engines needs.
 *
 *     node bench/jobs-at-scale.js TOKENIZER [nodes] [gpus of a node] [gpus of an engine]
 *
 * First measures on this machine what one draw costs `bedside serve` (processor time and bytes, over token sessions of
 * real consultations); then simulates a closed network: every engine holds so many consultations at once, a reply takes so
 * many milliseconds a token, and the answer waits for one of the server's processes, first come, first served. Engines are
 * assumed, not measured. Linux (/proc). Needs `npm run build`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [tokenizer, nodes = '8', gpus = '8', engineGpus = '1'] = process.argv.slice(2)
if (!tokenizer)
  throw new Error('usage: node bench/jobs-at-scale.js TOKENIZER [nodes] [gpus] [engine gpus]')
const engines = (Number(nodes) * Number(gpus)) / Number(engineGpus)
/** Consultations that an engine draws at once, milliseconds a token, tokens of a reply: assumed. */
const [atOnce, tokenMs, replies] = [64, 30, [20, 100, 400]]
const ticks = 100
const main = new URL('../dist/cli/main.js', import.meta.url).pathname
const words = ['serve', '--port', '0', '--no-token', '--json', '--quiet', '--tokenizer', tokenizer]
const child = spawn(process.execPath, [main, ...words], { stdio: ['ignore', 'pipe', 'inherit'] })
const [line] = await once(createInterface({ input: child.stdout }), 'line')
const { address } = JSON.parse(line)
const cpuMs = () => {
  const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ').at(-1).split(' ')
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticks
}
const bytes = { up: 0, down: 0 }
async function post(path, body) {
  const text = JSON.stringify(body)
  const response = await fetch(`${address}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: text,
  })
  const answer = await response.text()
  if (!response.ok) throw new Error(answer)
  bytes.up += text.length
  bytes.down += answer.length
  return JSON.parse(answer)
}

/** Plays a consultation whose every reply is `ids` tokens long, its last the end of the turn; counts its draws. */
async function play(index, ids) {
  const limits = { max_tokens: ids, context_length: 16384 }
  let next = await post('/v1/token-sessions', {
    ...limits,
    split: 'train',
    index,
    seed: index,
    max_turns: 8,
  })
  const { session } = next
  let draws = 0
  for (; !next.done; draws++) {
    const tokens = [...Array(ids - 1).fill(300), next.stop[0]]
    const draw = { index: next.index, tokens, logprobs: tokens.map(() => -1.25), version: 0 }
    next = await post(`/v1/token-sessions/${session}/draws`, draw)
  }
  await fetch(`${address}/v1/token-sessions/${session}`, { method: 'DELETE' })
  return draws
}

/** Processor milliseconds and bytes of the server for each draw, opening and score of a consultation included. */
async function costOf(ids, consultations = 200) {
  const run = async (from) => {
    let draws = 0
    for (let at = 0; at < consultations; at += 20)
      for (const one of await Promise.all(
        Array.from({ length: 20 }, (_, n) => play(from + at + n, ids)),
      ))
        draws += one
    return draws
  }
  await run(0)
  Object.assign(bytes, { up: 0, down: 0 })
  const before = cpuMs()
  const draws = await run(consultations)
  return { ms: (cpuMs() - before) / draws, up: bytes.up / draws, down: bytes.down / draws }
}

/** A binary heap of [time, what], earliest first. */
function timeline() {
  const heap = []
  const swap = (a, b) => ([heap[a], heap[b]] = [heap[b], heap[a]])
  return {
    add(time, what) {
      let at = heap.push([time, what]) - 1
      for (let up = (at - 1) >> 1; at > 0 && heap[up][0] > heap[at][0]; up = (at - 1) >> 1) {
        swap(at, up)
        at = up
      }
    },
    next() {
      const first = heap[0]
      const last = heap.pop()
      if (heap.length > 0) heap[0] = last
      for (let at = 0; ; ) {
        const [left, right] = [2 * at + 1, 2 * at + 2]
        let least = at
        if (left < heap.length && heap[left][0] < heap[least][0]) least = left
        if (right < heap.length && heap[right][0] < heap[least][0]) least = right
        if (least === at) return first
        swap(at, least)
        at = least
      }
    },
  }
}

/** Keyed noise: the length of a reply is drawn between half and one and a half times the mean. */
function random(seed) {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

/** Simulates `draws` draws of so many sessions over so many server processes. */
function simulate({ sessions, workers, serviceMs, drawMs, draws = 200_000 }) {
  const uniform = random(1)
  const events = timeline()
  const waiting = []
  const waits = []
  let [free, busy, now, done] = [workers, 0, 0, 0]
  const drawn = () => drawMs * (0.5 + uniform())
  for (let s = 0; s < sessions; s++) events.add(uniform() * drawMs, 'drawn')
  const serve = (since) => {
    free--
    waits.push(now - since)
    busy += serviceMs
    events.add(now + serviceMs, 'answered')
  }
  while (done < draws) {
    const [time, what] = events.next()
    now = time
    if (what === 'drawn') {
      if (free > 0) serve(now)
      else waiting.push(now)
      continue
    }
    free++
    done++
    events.add(now + drawn(), 'drawn')
    if (waiting.length > 0) serve(waiting.shift())
  }
  waits.sort((a, b) => a - b)
  const mean = waits.reduce((sum, wait) => sum + wait, 0) / waits.length
  return {
    rate: (done / now) * 1000,
    busy: busy / (now * workers),
    overhead: (mean + serviceMs) / drawMs,
    p99: waits[Math.floor(waits.length * 0.99)],
  }
}

const number = (value, digits = 0) => value.toLocaleString('en', { maximumFractionDigits: digits })
const sessions = engines * atOnce
console.log(
  `${nodes} x ${gpus} GPUs, ${engines} engines x ${atOnce} consultations = ${number(sessions)} sessions, ${tokenMs} ms a token (assumed)\n`,
)
console.log(
  '| tokens a reply | server: ms, bytes up, down a draw (measured) | processes | draws a second | busy | wait p99 ms | overhead | MB a second |',
)
console.log('|---|---|---|---|---|---|---|---|')
for (const ids of replies) {
  const cost = await costOf(ids)
  const drawMs = ids * tokenMs
  const needed = (sessions / drawMs) * cost.ms
  for (const workers of [...new Set([Math.ceil(needed / 0.7), Math.ceil(needed / 0.7) * 2])]) {
    const found = simulate({ sessions, workers, serviceMs: cost.ms, drawMs })
    const traffic = (found.rate * (cost.up + cost.down)) / 1e6
    console.log(
      `| ${ids} | ${number(cost.ms, 2)}, ${number(cost.up)}, ${number(cost.down)} | ${workers} | ${number(found.rate)} | ${number(100 * found.busy)} % | ${number(found.p99, 1)} | ${number(100 * found.overhead, 2)} % | ${number(traffic, 1)} |`,
    )
  }
}
child.kill()
