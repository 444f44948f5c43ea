/**
 * Disturbs a training run on the sidecar and resumes it: kills the server and then the trainer at random moments, and stops the
 * trainer with Ctrl-C after every step of the first. Holds the final weights to those of two runs that nobody disturbed.
 * Needs `bedside sidecar setup`. To imitate a CPU without AVX-512: `MKL_ENABLE_INSTRUCTIONS=AVX2 ATEN_CPU_CAPABILITY=avx2`.
 *
 *     node bench/kills.js [--kills 20] [--seed 0]
 */
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: { kills: { type: 'string', default: '20' }, seed: { type: 'string', default: '0' } },
})
const kills = Number(values.kills)
const cli = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'bedside-kills-'))

/** Moments to kill at, from a seed of its own. */
function* moments(seed) {
  for (let n = 0; ; n++)
    yield createHash('sha256').update(`${seed}/${n}`).digest().readUInt32BE(0) / 2 ** 32
}

// A model of random weights says nothing a patient understands: it is paid for how long that is, so that it learns.
const reward = join(folder, 'reward.mjs')
writeFileSync(
  reward,
  'export const reward = ({ turns }) => ((turns[0]?.text?.length ?? 0) % 7) / 7\n',
)
const recipe = join(folder, 'recipe.yaml')
writeFileSync(
  recipe,
  `
recipe: kills
backend: sidecar
cases: { tier: easy, clinic: [upper-abdomen], heldOut: 4 }
env: { maxTurns: 3 }
reward: ${reward}
policy: { model: ${join(folder, 'model')}, mode: full, grammar: brief, maxTokens: 12, dtype: float32 }
training:
  steps: ${6 * kills}
  groupsPerStep: 2
  groupSize: 4
  loss: { kind: ppo-clip, kl: { estimator: k3, coefficient: 0.01 } }
  adam: { learningRate: 0.001 }
  evaluateEvery: 10
  evaluateCases: 2
  checkpointEvery: 1
  episodesEvery: 1000
`,
)

const bedside = (...args) => spawnSync(process.execPath, [cli, ...args], { encoding: 'utf8' })
const made = bedside(
  ...['sidecar', 'tiny-model', recipe, '--out', join(folder, 'model'), '--consultations', '40'],
  ...['--vocab', '600', '--layers', '2', '--width', '64'],
)
if (made.status !== 0) throw new Error(made.stderr)

/** What a run came to: its last checkpoint's files, and its metrics but for the time they took. */
function outcome(out) {
  const last = readdirSync(join(out, 'checkpoints'))
    .filter((name) => name.startsWith('step-'))
    .sort()
    .at(-1)
  const hash = createHash('sha256')
  for (const name of ['model.safetensors', 'optimizer.safetensors'])
    hash.update(readFileSync(join(out, 'checkpoints', last, 'weights', name)))
  const lines = readFileSync(join(out, 'metrics.jsonl'), 'utf8').trim().split('\n')
  const steps = lines.map((line) => {
    const { seconds: _, ...rest } = JSON.parse(line)
    return JSON.stringify(rest)
  })
  const versions = steps.map((line) => JSON.parse(line).policyVersion ?? 0)
  if (Math.max(...versions) < steps.length / 2) throw new Error('the run hardly made a step')
  return { last, weights: hash.digest('hex').slice(0, 16), metrics: steps.join('\n') }
}

/** The server that a trainer started, by its command line. */
function serverOf(trainer) {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
      if (line.includes('bedside_trainers.sidecar') && line.includes(String(trainer)))
        return Number(pid)
    } catch {
      // It ended while we looked.
    }
  }
  return undefined
}

/** How many steps a run has done. */
function stepsOf(out) {
  const path = join(out, 'metrics.jsonl')
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').length - 1 : 0
}

/** When the next disturbance comes: after this many steps, and this many milliseconds. */
function* plan(whom) {
  const when = moments(`${values.seed}/${whom}`)
  const draw = () => when.next().value
  for (let done = 0; ; done++)
    yield whom === 'Ctrl-C' ? [done + 1, 0] : [6 * done + Math.floor(6 * draw()), 1500 * draw()]
}

/** Runs to the end, disturbed `left` times as planned; every other start is a resumption. */
async function disturbed(whom, out, left) {
  const plans = plan(whom)
  let [done, starts] = [0, 0]
  let [step, delay] = plans.next().value
  for (;;) {
    const begun = existsSync(join(out, 'config.yaml'))
    // The recipe names our own reward, a module.
    const args = begun ? ['--resume', out, '--trust'] : [recipe, '--out', out]
    // A killed server ends the run at most once, a killed trainer just once.
    if (starts > kills + 1) throw new Error(`the run ended ${starts} times, by ${done} kills`)
    const trainer = spawn(process.execPath, [cli, 'train', ...args], { stdio: 'ignore' })
    starts++
    let over = false
    const ended = new Promise((resolve) => trainer.once('exit', (code) => resolve(code)))
    ended.then(() => {
      over = true
    })
    while (!over && done < left) {
      await Promise.race([ended, wait(20)])
      if (over || stepsOf(out) < step) continue
      await Promise.race([ended, wait(delay)])
      const pid = whom === 'server' ? serverOf(trainer.pid) : trainer.pid
      if (over || pid === undefined) continue
      process.kill(pid, whom === 'Ctrl-C' ? 'SIGINT' : 'SIGKILL')
      done++
      ;[step, delay] = plans.next().value
      process.stderr.write(`${whom}: ${done} times\r`)
      if (whom !== 'server') await ended
    }
    if ((await ended) === 0) return { ...outcome(out), done, starts }
  }
}

function undisturbed(out) {
  const { status, stderr } = bedside('train', recipe, '--out', out)
  if (status !== 0) throw new Error(stderr)
  return outcome(out)
}

const expected = undisturbed(join(folder, 'calm'))
console.log(`undisturbed: ${expected.last}, weights ${expected.weights}`)
const again = undisturbed(join(folder, 'again'))
let same = again.weights === expected.weights && again.metrics === expected.metrics
console.log(`again: ${again.last}, weights ${again.weights}, ${same ? 'equal' : 'DIFFERENT'}`)
for (const whom of ['server', 'trainer', 'Ctrl-C']) {
  const got = await disturbed(whom, join(folder, whom), kills)
  const equal =
    got.done === kills && got.weights === expected.weights && got.metrics === expected.metrics
  same &&= equal
  console.log(
    `${whom}, ${got.done} times, started ${got.starts} times: ${got.last}, weights ${got.weights}, ${equal ? 'weights and metrics equal' : 'DIFFERENT'}`,
  )
}
rmSync(folder, { recursive: true, force: true })
process.exitCode = same ? 0 : 1
