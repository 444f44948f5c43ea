/**
 * Saved episodes scored again, on one thread; run after `npm run build`:
 *
 *   node --single-threaded --expose-gc bench/rescore.js alone [reward …]    each reward over episodes in memory (default: all but parity)
 *   node bench/rescore.js command [rows]                  the whole command, from both formats
 *   node bench/rescore.js memory [rows] [times]           its resident memory over as many files of as many rows
 *
 * Prints rates by the clock and by processor time, which other work on the machine disturbs less, and which without
 * `--single-threaded` counts what collects garbage beside. Judges nothing.
 */
import { spawn } from 'node:child_process'
import { linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { agentFor } from '../dist/exports/agents.js'
import { episodeWriter } from '../dist/exports/evaluation.js'
import { loadKnowledge } from '../dist/exports/knowledge.js'
import { formularyOf, namedReward, rewardNames } from '../dist/exports/rewards.js'
import { graderView, rollout, task } from '../dist/index.js'

const [what = 'alone', ...given] = process.argv.slice(2)
const cases = 400
const seconds = 1
const command = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'bedside-rescore-'))
const shown = (n) => Math.round(n).toLocaleString('en').padStart(9)

/** Consultations of several doctors at the tier of fifteen turns, one a case. */
async function played() {
  const { agents, heldOut, makeEnv } = await task({ tier: 'standard', heldOut: cases })
  const doctors = ['random', 'checklist', 'full-information'].map((name) => agents[name]())
  const all = []
  for (const [n, truth] of heldOut.entries()) {
    const agent = agentFor(doctors[n % doctors.length], truth)
    const episode = await rollout(makeEnv(), agent, { seed: n, options: { case: truth } })
    all.push({ episode, truth: graderView(truth) })
  }
  const bytes = all.reduce((sum, saved) => sum + JSON.stringify(saved).length, 0) / all.length
  const turns = all.reduce((sum, { episode }) => sum + episode.turns.length, 0) / all.length
  console.log(
    `episodes of ${turns.toFixed(1)} turns, ${(bytes / 1000).toFixed(1)} kB a row of JSON`,
  )
  return all
}

const processorTime = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Episodes per second of a reward, each episode and its case met for the first time. */
async function rate(reward, texts) {
  let [clock, processor, done] = [0, 0, 0]
  for (let pass = 0; clock < seconds * 1000 && pass < 60; pass++) {
    const fresh = texts.map((text) => JSON.parse(text))
    // What was thrown away before is not this reward's doing.
    globalThis.gc?.()
    const [started, busy] = [performance.now(), processorTime()]
    for (const { episode, truth } of fresh) await reward(episode, truth)
    // The first passes are the compiler's.
    if (pass < 5) continue
    clock += performance.now() - started
    processor += processorTime() - busy
    done += fresh.length
  }
  return `${shown((done / clock) * 1000)} ${shown((done / processor) * 1000)}`
}

async function alone() {
  const texts = (await played()).map((saved) => JSON.stringify(saved))
  const knowledge = loadKnowledge()
  const options = { knowledge, formulary: formularyOf(knowledge) }
  const usual = rewardNames.filter((name) => !name.endsWith('-parity'))
  console.log(`\nepisodes/s of each reward ${' '.repeat(10)} by the clock, by processor time`)
  for (const name of given.length > 0 ? given : usual)
    console.log(`  ${name.padEnd(32)} ${await rate(namedReward(name, options), texts)}`)
}

/** `rows` rows, each episode `siblings` times in a row and then round again as another case. */
async function write(path, { all, rows, siblings }) {
  const writer = episodeWriter(path)
  for (let n = 0; n < rows; n++) {
    const round = Math.floor(n / (all.length * siblings))
    const { episode, truth } = all[Math.floor(n / siblings) % all.length]
    // What a reader remembers of one round must not help it with the next.
    const caseId = `${truth.caseId}-${round}`
    await writer.write({
      episode: { ...episode, id: `${episode.id}/${n}`, caseId },
      truth: { ...truth, caseId },
    })
  }
  await writer.close()
}

/** Runs the command in a process of its own; `memory` is seen every quarter of a second, in MB, where /proc is. */
function run(path) {
  const argv = [command, 'rewards', 'score', path, '--reward', 'default', '--json', '--quiet']
  const started = performance.now()
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'ignore'] })
  const memory = []
  let processor = Number.NaN
  const timer = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
      memory.push(Number(/VmRSS:\s+(\d+)/.exec(status)[1]) / 1024)
      const [, ...fields] = readFileSync(`/proc/${child.pid}/stat`, 'utf8')
        .split(') ')[1]
        .split(' ')
      processor = (Number(fields[10]) + Number(fields[11])) / 100
    } catch {
      // There is no such file here, or the process is gone.
    }
  }, 250)
  return new Promise((resolve) => {
    let text = ''
    child.stdout.on('data', (chunk) => {
      text += chunk
    })
    child.on('close', () => {
      clearInterval(timer)
      const { episodes } = JSON.parse(text)
      resolve({ episodes, memory, processor, clock: (performance.now() - started) / 1000 })
    })
  })
}

async function whole() {
  const rows = Number(given[0] ?? 20_000)
  const all = await played()
  console.log(`\n\`rewards score\` with \`default\`, ${rows} rows, from start to exit, episodes/s`)
  for (const siblings of [8, 1])
    for (const format of ['jsonl', 'parquet']) {
      const path = join(folder, `rows.${format}`)
      await write(path, { all, rows, siblings })
      const { clock, processor } = await run(path)
      const size = (statSync(path).size / 1e6).toFixed(1)
      console.log(
        `  ${format.padEnd(7)} ${siblings} a case, ${size.padStart(6)} MB ${shown(rows / clock)} by the clock, ${shown(rows / processor)} by processor time`,
      )
      rmSync(path)
    }
}

async function memory() {
  const [rows = 10_000, times = 100] = given.map(Number)
  const all = await played()
  const path = join(folder, 'rows.parquet')
  await write(path, { all, rows, siblings: 8 })
  const many = join(folder, 'many')
  mkdirSync(many)
  for (let n = 0; n < times; n++)
    linkSync(path, join(many, `${String(n).padStart(4, '0')}.parquet`))
  const { episodes, memory: seen, clock } = await run(many)
  const at = (share) => shown(seen[Math.floor(share * (seen.length - 1))] ?? Number.NaN).trim()
  console.log(`\n${episodes} rows of parquet in ${clock.toFixed(0)} s; resident MB`)
  console.log(
    `  at a tenth ${at(0.1)}, a quarter ${at(0.25)}, half ${at(0.5)}, three quarters ${at(0.75)}, the end ${at(1)}; most ${shown(Math.max(...seen)).trim()}`,
  )
}

try {
  await { alone, command: whole, memory }[what]()
} finally {
  rmSync(folder, { recursive: true })
}
