/**
 * The sidecar's engine beside TRL's GRPOTrainer on the same weights, tokens and machine, and beside itself one
 * sequence at a time: `scripts/python-env.sh bench`, then `node bench/sidecar.js [train] [memory] [sample]`.
 *
 * Every line says what is compared: parameters, sequences, tokens and padding, what is recomputed, and whose loss.
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
const tiny = { vocab: 2048, layers: 3, width: 128, rows: 16 }
const large = { vocab: 32_768, layers: 6, width: 384, rows: 4 }
const million = (count) => `${(count / 1e6).toFixed(2)} M parameters`

function train() {
  console.log('training, tokens per second (real ones, prompts too; target 1.2x)')
  const kinds = [
    ['layers recomputed on both sides', { checkpointing: true, ours_checkpointing: true }],
    ['nothing recomputed', { checkpointing: false }],
    ['nothing recomputed, TRL with Liger’s loss', { checkpointing: false, liger: true }],
    ['nothing recomputed, ours over HTTP', { checkpointing: false, http: true }],
  ]
  for (const size of [tiny, large])
    for (const lora of [true, false])
      for (const shape of ['consultations', 'replies'])
        for (const [name, kind] of kinds) {
          const found = ask('train', { ...size, steps: 8, warm: 2, shape, lora, ...kind })
          const { tokens_per_second: rate, first_norms: norms } = found
          const [wall, cpu] = rate.ours.map((ours, i) => times(ours, rate.trl[i]))
          // Over HTTP our work is done by another process.
          const byCpu = kind.http ? '' : ` (by CPU time ${cpu})`
          // Adapters begin elsewhere; whole weights do not, and then the gradient is the same.
          const same = lora
            ? ''
            : `; first gradients ${norms.ours.toFixed(6)}, ${norms.trl.toFixed(6)}`
          console.log(
            `  ${million(found.parameters)}, vocabulary ${size.vocab}, ${lora ? 'LoRA' : 'full'}; ${found.sequences} ${shape} of ${found.tokens} tokens, ${found.drawn} drawn, padded to ${found.ours_padded} by us, ${found.padded} by TRL; ${name}: ours ${rate.ours[0].toFixed(0)}, TRL ${rate.trl[0].toFixed(0)}: ${wall}${byCpu}${same}`,
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
      ['TRL one sequence at once, Liger’s loss', { at_once: 1, liger: true }],
    ]
    for (const [name, settings] of kinds) {
      const trl = ask('memory', { ...wide, lora, who: 'trl', ...settings })
      console.log(
        `  ${million(ours.parameters)}, ${lora ? 'LoRA' : 'full'}: ours ${mebibytes(ours.peak)}, ${name} ${mebibytes(trl.peak)}: ${times(ours.peak, trl.peak)}`,
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
