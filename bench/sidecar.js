/**
 * The sidecar's engine beside TRL's GRPOTrainer on the same weights, tokens and machine, and beside itself one
 * sequence at a time: `scripts/python-env.sh bench`, then `node bench/sidecar.js [train] [memory] [sample]`.
 *
 * TRL is given what suits it best in each: layers recomputed only where memory is asked for.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const at = (path) => fileURLToPath(new URL(path, import.meta.url))
const python = at('../.venvs/bench/bin/python')
if (!existsSync(python))
  throw new Error('no .venvs/bench; make it with scripts/python-env.sh bench')

/** Runs one question in a process of its own. */
function ask(question, settings) {
  const { status, stdout, stderr } = spawnSync(
    python,
    [at('sidecar.py'), question, JSON.stringify(settings)],
    {
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
      // Threads that wait do not spin: neither side then pays for what else the machine does.
      env: { ...process.env, OMP_WAIT_POLICY: 'PASSIVE', GOMP_SPINCOUNT: '0' },
    },
  )
  if (status !== 0) throw new Error(`${question} ended with ${status}: ${stderr.slice(-4000)}`)
  return JSON.parse(stdout)
}

const mebibytes = (bytes) => `${(bytes / 2 ** 20).toFixed(0)} MiB`
const times = (a, b) => `${(a / b).toFixed(2)}x`
const tiny = { vocab: 2048, layers: 2, width: 128 }

function train() {
  console.log('training, tokens per second (real ones, prompts too; target 1.2x)')
  for (const lora of [true, false])
    for (const shape of ['consultations', 'replies'])
      for (const checkpointing of [true, false]) {
        const settings = { ...tiny, rows: 16, steps: 12, warm: 2, shape, lora, checkpointing }
        const { tokens_per_second: rate, first_norms: norms } = ask('train', settings)
        const trl = checkpointing ? 'TRL as it comes' : 'TRL without recomputation'
        const [wall, cpu] = rate.ours.map((ours, i) => times(ours, rate.trl[i]))
        // Adapters begin elsewhere; whole weights do not, and then the gradient is the same.
        const same = lora
          ? ''
          : `; first gradients ${norms.ours.toFixed(6)}, ${norms.trl.toFixed(6)}`
        console.log(
          `  ${lora ? 'LoRA' : 'full'}, ${shape}: ours ${rate.ours[0].toFixed(0)}, ${trl} ${rate.trl[0].toFixed(0)}: ${wall} (by CPU time ${cpu})${same}`,
        )
      }
}

function memory() {
  console.log('memory of a step at its peak above rest, 2,048-token sequences (target 0.6x)')
  const wide = { vocab: 32_768, layers: 2, width: 128, rows: 8, length: 2048 }
  for (const lora of [true, false]) {
    const ours = ask('memory', { ...wide, lora, who: 'ours' })
    const kinds = [
      ['TRL as it comes', { at_once: 8 }],
      ['TRL one sequence at once', { at_once: 1 }],
      ['TRL one at once, without recomputation', { at_once: 1, checkpointing: false }],
    ]
    for (const [name, settings] of kinds) {
      const trl = ask('memory', { ...wide, lora, who: 'trl', ...settings })
      console.log(
        `  ${lora ? 'LoRA' : 'full'}: ours ${mebibytes(ours.peak)}, ${name} ${mebibytes(trl.peak)}: ${times(ours.peak, trl.peak)}`,
      )
    }
  }
}

function sample() {
  const settings = { ...tiny, together: 64, length: 64, rounds: 5 }
  const { together, alone } = ask('sample', settings)
  console.log('sampling, tokens per second (target 8x)')
  console.log(
    `  64 at once ${together.toFixed(0)}, one at a time ${alone.toFixed(0)}: ${times(together, alone)}`,
  )
}

const questions = { train, memory, sample }
const asked = process.argv.slice(2)
for (const [name, question] of Object.entries(questions))
  if (asked.length === 0 || asked.includes(name)) question()
