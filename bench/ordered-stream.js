/**
 * Ordered results against a plain pool where one job in a hundred is slow: `mapStream` and `mapPool`, each as a share of
 * the ideal, the makespan of the same jobs on as many slots without any work. `node bench/ordered-stream.js`.
 */
import { importSource } from './bundled.js'

const { mapPool, mapStream } = await importSource('platform/concurrency.ts')
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

const target = 0.9
const [fast, slow] = [20, 1000]
const slots = 32

/** When the last of the jobs ends if each free slot takes the next one at once. */
function makespan(jobs) {
  const free = new Array(slots).fill(0)
  for (const ms of jobs) free[free.indexOf(Math.min(...free))] += ms
  return Math.max(...free)
}

async function* stream(jobs) {
  yield* jobs
}

async function collect(results) {
  const all = []
  for await (const one of results) all.push(one)
  return all
}

async function timed(work) {
  const started = performance.now()
  const results = await work()
  if (results.some((n, at) => n !== at)) throw new Error('Expected the results in order')
  return performance.now() - started
}

for (const count of [3_200, 12_800]) {
  const jobs = Array.from({ length: count }, (_, n) => (n % 100 === 0 ? slow : fast))
  const run = async (n) => {
    await pause(jobs[n])
    return n
  }
  const numbers = [...jobs.keys()]
  const pool = await timed(() => mapPool(numbers, slots, run))
  const ordered = await timed(() => collect(mapStream(stream(numbers), slots, run)))
  const ideal = makespan(jobs)
  console.log(
    `${count} jobs, ${slots} at once: ideal ${(ideal / 1e3).toFixed(1)} s; mapPool ${(ideal / pool).toFixed(3)}, mapStream ${(ideal / ordered).toFixed(3)} of it (target ${target})`,
  )
}
