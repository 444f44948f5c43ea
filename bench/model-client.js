/**
 * What a call of a chat model costs, and how much of the ideal many at once reach. Each of `count` callers asks ten
 * times, one after another, a server in another process that waits a lognormal time (median 400 ms, sigma 0.8). Ideal
 * is the longest sum of these times. Memory is read after a first call each and after each round. Run after
 * `npm run build`: `node --expose-gc bench/model-client.js [512]`.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { openaiChat } from '../dist/index.js'
import { importSource } from './bundled.js'

const calls = 10
const rounds = 6
const [median, sigma] = [400, 0.8]
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** Serves a chat model whose prompt ends with how long it thinks. */
function serve() {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    await pause(Number(JSON.parse(body).messages.at(-1).content))
    const message = { role: 'assistant', content: 'No, nothing like that.' }
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        choices: [{ index: 0, finish_reason: 'stop', message }],
        usage: { prompt_tokens: 400, completion_tokens: 8 },
      }),
    )
  })
  server.listen(0, '127.0.0.1', 4096, () => process.send(server.address().port))
}

const megabytes = () => {
  globalThis.gc?.()
  return process.memoryUsage().rss / 2 ** 20
}

async function measure(count) {
  const { uniform } = await importSource('seed.ts')
  const latency = (...key) => {
    const radius = Math.sqrt(-2 * Math.log(1 - uniform(...key, 'r')))
    return median * Math.exp(sigma * radius * Math.cos(2 * Math.PI * uniform(...key, 'a')))
  }
  const child = fork(fileURLToPath(import.meta.url), ['serve'])
  const [port] = await once(child, 'message')
  const baseURL = `http://127.0.0.1:${port}/v1`
  const chat = openaiChat({ model: 'stub', baseURL, concurrency: count, timeoutMs: 120_000 })
  // A consultation's prompt is a few thousand characters long.
  const history = { role: 'system', content: 'a patient’s history, line by line. '.repeat(80) }
  const think = (ms) => chat([history, { role: 'user', content: String(ms) }])
  await Promise.all(Array.from({ length: count }, () => think(1)))
  const [before, told] = [megabytes(), []]
  for (let round = 0; round < rounds; round++) {
    const thinks = Array.from({ length: count }, (_, n) =>
      Array.from({ length: calls }, (_, call) => latency(round, n, call)),
    )
    const ideal = Math.max(...thinks.map((one) => one.reduce((sum, ms) => sum + ms, 0)))
    const [cpu, started] = [process.cpuUsage(), performance.now()]
    await Promise.all(
      thinks.map(async (one) => {
        for (const ms of one) await think(ms)
      }),
    )
    const took = performance.now() - started
    const { user, system } = process.cpuUsage(cpu)
    const each = (user + system) / 1e3 / (count * calls)
    told.push({ ratio: ideal / took, each, memory: megabytes() })
  }
  child.kill()
  for (const [round, { ratio, each, memory }] of told.entries())
    console.log(
      `${count} at once, round ${round + 1}: ${ratio.toFixed(3)} of ideal (target 0.95), ${each.toFixed(2)} ms of processor time a call, ${memory.toFixed(0)} MB`,
    )
  console.log(
    `${before.toFixed(0)} MB after one call each; from the first round on memory should not grow`,
  )
}

if (process.argv[2] === 'serve') serve()
else
  for (const count of process.argv.length > 2 ? process.argv.slice(2) : ['512'])
    await measure(Number(count))
