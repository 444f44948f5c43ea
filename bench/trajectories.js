/**
 * How fast trajectories are written and read, beside plain JSON lines, and what memory a million turns take;
 * run after `npm run build`: `node --expose-gc bench/trajectories.js [turns]`.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readTrajectories, trajectoryInfo, trajectoryWriter } from '../dist/exports/trainers.js'
import { fork, uniform } from '../dist/index.js'

const turns = Number(process.argv[2] ?? 1_000_000)
/** Of one consultation: turns, tokens drawn in each, tokens the world answers in each, tokens of the prompt. */
const shape = { turns: 10, drawn: 24, heard: 30, prompt: 300 }
const perAppend = 64
const million = 1e6

/** Fills an array with words of the alphabet's first half more often than of its last, as text has. */
const words = (length, seed) => {
  const tokens = new Int32Array(length)
  for (let t = 0; t < length; t++) tokens[t] = 150_000 * uniform(seed, t) ** 3
  return tokens
}

/** One long stream of tokens and log-probs; segments are windows of it at places of their own. */
const pool = { tokens: words(1 << 20, 1), logprobs: new Float32Array(1 << 20) }
for (let t = 0; t < pool.logprobs.length; t++) pool.logprobs[t] = Math.log(1 - uniform(2, t))

const response = shape.turns * (shape.drawn + shape.heard)
const mask = Uint8Array.from({ length: response }, (_, t) =>
  Number(t % (shape.drawn + shape.heard) < shape.drawn),
)
const policyVersions = Int32Array.from(mask, (bit) => (bit ? 3 : -1))

function trajectory(n) {
  const at = fork(3, n) % (pool.tokens.length - shape.prompt - response)
  const advantage = uniform(4, n) - 0.5
  return {
    segment: {
      rolloutId: `1/${n >> 3}/${n & 7}`,
      groupId: `1/${n >> 3}`,
      tokens: pool.tokens.slice(at, at + shape.prompt + response),
      promptLength: shape.prompt,
      mask,
      logprobs: pool.logprobs.slice(at, at + response).map((value, t) => value * mask[t]),
      advantages: Float32Array.from(mask, (bit) => bit * advantage),
      policyVersions,
      temperature: 1,
      logprobMode: 'scaled',
      stopReason: 'stop',
    },
    index: 0,
    count: 1,
    caseId: `standard-train-0-${n >> 3}`,
    agent: 'bench',
    seed: n >> 3,
    step: 1,
    score: { total: uniform(5, n), parts: { accuracy: { status: 'ok', value: uniform(6, n) } } },
  }
}

const rawBytes = ({ segment }) =>
  Object.values(segment).reduce(
    (sum, one) => sum + (ArrayBuffer.isView(one) ? one.byteLength : 0),
    0,
  )

const batches = function* (count) {
  for (let n = 0; n < count; n += perAppend)
    yield Array.from({ length: Math.min(perAppend, count - n) }, (_, i) => trajectory(n + i))
}

const megabytes = (bytes) => (bytes / million).toFixed(0)
const seconds = (since) => (performance.now() - since) / 1000

/** Memory in use after a collection: of the process, of objects, of buffers and the wasm module. */
function memory() {
  globalThis.gc?.()
  const { rss, heapUsed, arrayBuffers } = process.memoryUsage()
  return `${megabytes(rss)} MB resident, ${megabytes(heapUsed)} MB of objects, ${megabytes(arrayBuffers)} MB of buffers`
}

/** Writes with `sink`, and gives the seconds that were not spent on making what is written. */
async function timed(count, sink, onTenth = () => {}) {
  let made = 0
  let raw = 0
  let n = 0
  const started = performance.now()
  for (const batch of batches(count)) {
    const before = performance.now()
    await sink.append(batch)
    made += performance.now() - before
    raw += batch.reduce((sum, one) => sum + rawBytes(one), 0)
    const tenth = Math.floor((n * 10) / count)
    n += batch.length
    if (Math.floor((n * 10) / count) > tenth) onTenth(n)
  }
  const before = performance.now()
  await sink.close()
  return { raw, writing: (made + performance.now() - before) / 1000, whole: seconds(started) }
}

/** The plain way: one JSON object a line, its arrays as lists of numbers. */
async function jsonLines(path) {
  const list = (_, value) => (ArrayBuffer.isView(value) ? Array.from(value) : value)
  const handle = await open(path, 'w')
  return {
    append: (batch) =>
      handle.writeFile(batch.map((one) => `${JSON.stringify(one, list)}\n`).join('')),
    close: () => handle.close(),
  }
}

const folder = mkdtempSync(join(tmpdir(), 'bedside-trajectories-'))
try {
  const count = Math.ceil(turns / shape.turns)
  const fewer = Math.min(count, 10_000)
  const path = join(folder, 'trajectories.parquet')
  const json = join(folder, 'trajectories.jsonl')
  await timed(500, trajectoryWriter(join(folder, 'warm.parquet')))
  const fast = await timed(fewer, trajectoryWriter(path))
  const plain = await timed(fewer, await jsonLines(json))
  const rate = ({ raw, writing }) => raw / million / writing
  console.log(
    `parquet: ${rate(fast).toFixed(1)} MB/s of raw token data (target 25), ${megabytes(fast.raw)} MB in a file of ${megabytes(statSync(path).size)} MB`,
  )
  console.log(
    `JSON lines: ${rate(plain).toFixed(1)} MB/s, a file of ${megabytes(statSync(json).size)} MB; parquet is ${(rate(fast) / rate(plain)).toFixed(2)} times as fast and ${(statSync(json).size / statSync(path).size).toFixed(1)} times as small`,
  )
  const started = performance.now()
  let read = 0
  for await (const one of readTrajectories(path)) read += rawBytes(one)
  console.log(`reading: ${(read / million / seconds(started)).toFixed(1)} MB/s`)
  console.log(`memory before: ${memory()}`)
  const long = await timed(count, trajectoryWriter(path), (n) =>
    console.log(`after ${n * shape.turns} turns: ${memory()}`),
  )
  const { rows, tokens, rowGroups } = await trajectoryInfo(path)
  console.log(
    `${turns} turns: ${rows} rows, ${tokens} tokens, ${rowGroups} row groups, ${megabytes(long.raw)} MB raw at ${rate(long).toFixed(1)} MB/s, ${long.whole.toFixed(0)} s with making them; then ${memory()}`,
  )
} finally {
  rmSync(folder, { recursive: true })
}
