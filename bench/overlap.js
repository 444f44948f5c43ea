/**
 * Bag F1 by jieba tokens on the 1,200 Chinese pairs of the golden file: ours on one thread and in two worker threads
 * against Python's jieba in one and two processes, in turns. Run after `npm run build` and `scripts/python-env.sh text`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { overlapWorkers } from '../dist/exports/rewards/text.js'

const rounds = 9
const warmUp = 2
const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const golden = JSON.parse(readFileSync(here('../test/golden/text-overlap.json'), 'utf8'))
const texts = golden.pairs
  .slice(0, 1200)
  .map((pair) => pair.map((side) => side.map((at) => golden.fragments[at]).join('')))

/** Every round has texts of its own, so that nothing is remembered from the round before. */
const apart = (round) => {
  const mark = String.fromCodePoint(0x4e00 + 37 * (round + 1))
  return texts.map((pair) => pair.map((text) => text.replace(/[\u4e00-\u9fd5]+/g, `${mark}$&`)))
}
/** The same candidates, eight to a gold text, as a group of episodes of one case has them. */
const grouped = (round) => apart(100 + round).map(([c], n, all) => [c, all[n - (n % 8)][1]])
const charactersOf = (pairs) => pairs.flat().reduce((sum, text) => sum + [...text].length, 0)

async function python(processes) {
  const child = spawn(here('../.venvs/text/bin/python'), [here('overlap.py'), String(processes)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface(child.stdout)
  await once(lines, 'line')
  return {
    async run(pairs) {
      child.stdin.write(`${JSON.stringify(pairs)}\n`)
      const [line] = await once(lines, 'line')
      return JSON.parse(line)
    },
    end: () => child.stdin.end(),
  }
}

const asPairs = (pairs) => pairs.map(([candidate, gold]) => ({ candidate, gold }))
const ours = (workers) => ({
  async run(pairs) {
    const objects = asPairs(pairs)
    const [started, cpu] = [performance.now(), process.cpuUsage()]
    const found = await workers.overlaps('bag-f1', objects)
    const { user, system } = process.cpuUsage(cpu)
    return [(performance.now() - started) / 1000, (user + system) / 1e6, [...found]]
  },
})

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1]
const never = { cold: Number.POSITIVE_INFINITY, warm: Number.POSITIVE_INFINITY }
const always = { cold: 0, warm: 0 }
const thread = overlapWorkers({ worth: never })
const workers = overlapWorkers({ threads: 2, worth: always })
const sides = {
  'Python, 1 process': await python(1),
  'Python, 2 processes': await python(2),
  'ours, 1 thread': ours(thread),
  'ours, 2 workers': ours(workers),
}

const cold = performance.now()
await workers.overlaps('bag-f1', asPairs(apart(200)).slice(0, 50))
const start = (performance.now() - cold) / 1000

for (const [title, material] of [
  ['1,200 pairs, every text its own', apart],
  ['1,200 pairs, eight candidates to a gold text', grouped],
]) {
  const seconds = Object.fromEntries(Object.keys(sides).map((name) => [name, []]))
  const cpuRatios = []
  for (let round = 0; round < warmUp + rounds; round++) {
    const pairs = material(round)
    const cpu = {}
    let first
    for (const [name, side] of Object.entries(sides)) {
      const [took, cpuTook, scores] = await side.run(pairs)
      cpu[name] = cpuTook
      first ??= scores
      if (scores.some((score, n) => score !== first[n]))
        throw new Error(`${name} does not give what Python gives`)
      if (round >= warmUp) seconds[name].push(took)
    }
    if (round >= warmUp) cpuRatios.push(cpu['Python, 1 process'] / cpu['ours, 1 thread'])
  }
  const characters = charactersOf(material(1))
  console.log(`${title}, ${characters} characters; medians of ${rounds} rounds:`)
  for (const [name, all] of Object.entries(seconds))
    console.log(`  ${name}: ${(characters / median(all) / 1e6).toFixed(2)} M characters/s`)
  // Round by round, for the machine's speed changes from one to the next.
  const times = (one, other) =>
    median(seconds[one].map((took, n) => took / seconds[other][n])).toFixed(1)
  console.log(
    `  one thread is ${times('Python, 1 process', 'ours, 1 thread')} times one process (by CPU time ${median(cpuRatios).toFixed(1)}),`,
  )
  console.log(`  two workers ${times('Python, 1 process', 'ours, 2 workers')} times one process,`)
  console.log(
    `  two workers ${times('Python, 2 processes', 'ours, 2 workers')} times two processes`,
  )
}

console.log(`Two workers took ${start.toFixed(2)} s from nothing to the first 50 pairs.`)
for (const count of [25, 100, 400, 1600, 6400]) {
  const took = { thread: [], workers: [] }
  for (let round = 0; round < 9; round++) {
    const pairs = Array.from({ length: Math.ceil(count / texts.length) }, (_, n) =>
      apart(300 + 6 * round + n),
    )
      .flat()
      .slice(0, count)
    took.thread.push((await sides['ours, 1 thread'].run(pairs))[0])
    took.workers.push((await sides['ours, 2 workers'].run(pairs))[0])
  }
  const ratio = median(took.thread) / median(took.workers)
  console.log(`  ${count} pairs: ${ratio.toFixed(2)} times one thread`)
}

for (const name of ['Python, 1 process', 'Python, 2 processes']) sides[name].end()
await workers[Symbol.asyncDispose]()
