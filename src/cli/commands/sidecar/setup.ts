/** `bedside sidecar setup`: creates and checks the Python environment of an engine. */
import { withoutUndefined } from '../../../platform/without-undefined.js'
import type { EngineName } from '../../../trainers/sidecar/environment.js'
import type {
  PythonEnvironment,
  SetupOptions,
} from '../../../trainers/sidecar/environment-setup.js'
import { makeEnvironment } from '../../../trainers/sidecar/environment-setup.js'
import { reportStop } from '../../print/failure.js'
import type { Output, PrintFlags, Terminal } from '../../print/output.js'
import { commandLine, output, table } from '../../print/output.js'
import { type Progress, startProgress } from '../../print/progress.js'

interface SetupFlags extends PrintFlags {
  readonly engine?: EngineName
  readonly python?: string
  readonly env?: string
}

/** Callbacks that print the phases: a line for each that ends, and progress of the long ones. */
function createReporter(terminal: Terminal, flags: PrintFlags, { note }: Output) {
  const tty = terminal.stderr.isTTY === true
  let bar: Progress | undefined
  // Each write waits for the one before.
  let last = Promise.resolve()
  const next = (work: () => Promise<void>) => {
    last = last.then(work)
  }
  const callbacks: Pick<SetupOptions, 'onBegin' | 'onProgress' | 'onEnd'> = {
    onBegin(phase, what) {
      if (!tty && (phase === 'packages' || phase === 'imports'))
        next(() => note(`${phase.padEnd(11)}  ${what} …`))
    },
    onProgress(phase, { done, total, note: what }) {
      next(async () => {
        bar ??= await startProgress(terminal, { ...flags, label: phase, total })
        // Without a terminal the line at the phase's end says that all is done.
        if (tty || done < total) bar.update(done, what)
      })
    },
    onEnd(phase, what, seconds) {
      next(async () => {
        bar?.stop()
        bar = undefined
        await note(`${phase.padEnd(11)}  ${what}  (${seconds.toFixed(1)} s)`)
      })
    },
  }
  const finish = async () => {
    await last
    bar?.stop()
  }
  return { callbacks, finish }
}

/** The flags that name an environment in a command to copy. */
const environmentFlags = (engine: EngineName, env: string | undefined): readonly string[] => [
  ...(engine === 'peft' ? [] : ['--engine', engine]),
  ...(env === undefined ? [] : ['--env', env]),
]

async function showEnvironment(made: PythonEnvironment, flags: readonly string[], out: Output) {
  const { engine, folder, pythonVersion, versions, device } = made
  await out.say(made.made ? `${folder}: made` : `${folder}: up to date`)
  const rows = [['python', pythonVersion], ...Object.entries(versions)]
  await out.say(table(device === undefined ? rows : [...rows, ['device', device]], { words: 2 }))
  if (engine === 'unsloth' && device === 'cpu')
    await out.say(out.paint.yellow('Unsloth trains on an NVIDIA GPU; none is usable here.'))
  const next = commandLine('sidecar', 'serve', '--model', 'FOLDER', ...flags)
  await out.note(`Serve a model with it:\n  ${next}`)
}

/** Makes an engine's Python environment, or reports that it is up to date; 130 after Ctrl-C. */
export async function setUpEnvironment(
  { engine = 'peft', python, env, ...flags }: SetupFlags,
  terminal: Terminal,
): Promise<number> {
  const out = output(terminal, flags)
  const started = performance.now()
  const { callbacks, finish } = createReporter(terminal, flags, out)
  try {
    const made = await makeEnvironment({
      ...{ engine, env: terminal.env, signal: terminal.signal, ...callbacks },
      ...withoutUndefined({ python, folder: env }),
    })
    await finish()
    await showEnvironment(made, environmentFlags(engine, env), out)
    const seconds = (performance.now() - started) / 1000
    if (flags.json) await out.document({ ...made, timing: { seconds } })
    return 0
  } catch (error) {
    await finish()
    if (!terminal.signal.aborted) throw error
    return reportStop(
      terminal,
      'The environment is not finished and will not be used; what was downloaded is kept. Go on with:',
      commandLine('sidecar', 'setup', ...environmentFlags(engine, env)),
    )
  }
}
