/** `bedside train` with a trainer that owns its process: its server, where its job runs, and the command it would be. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { Fault } from '../../error.js'
import { packageRoot } from '../../platform/package-root.js'
import { pause } from '../../platform/retry.js'
import { isJobBackend, type JobBackend } from '../../runs/jobs/cluster.js'
import { jobRecipe } from '../../runs/jobs/job-recipe.js'
import { type JobServerPlan, jobFilesIn } from '../../runs/jobs/job-run.js'
import { jobCommand, jobFiles, jobVariables, standInCommand } from '../../runs/jobs/plan.js'
import { jobLimits, trainJob } from '../../runs/jobs/train-job.js'
import { openTrainingModels } from '../../runs/models/training-models.js'
import type { Recipe } from '../../runs/recipe.js'
import { openTask } from '../../runs/task-of-recipe.js'
import type { TrainingResult } from '../../runs/train.js'
import type { TrainingEmitter } from '../../trainers/events.js'
import type { Jobs } from '../../trainers/jobs/job.js'
import { localJobs } from '../../trainers/jobs/local.js'
import { rayJobs, shellLine } from '../../trainers/jobs/ray.js'
import { interpreterPath, pythonPackage } from '../../trainers/sidecar/environment.js'
import { runProgram } from '../../trainers/sidecar/program.js'
import type { Terminal } from '../print/output.js'

/** Seconds for a stand-in's Python to say that it is there; its first imports may take a minute on a busy machine. */
const answerSeconds = 600
/** Seconds for a server to begin to listen. */
const startSeconds = 60

/** A server process, and its end. */
interface RunningServe {
  readonly child: ChildProcessWithoutNullStreams
  readonly ended: Promise<unknown>
}

/** A server as it is started, or shown where its port is not chosen yet. */
type ShownServerPlan = Omit<JobServerPlan, 'port'> & { readonly port: number | string }

/** Words of `bedside serve` for a job's server. */
const serveWords = (plan: ShownServerPlan): readonly string[] => {
  const { recipe, tokenizer, host, port, workers, tokenFile, record } = plan
  const flags = { recipe, tokenizer, host, port, workers, 'token-file': tokenFile, record }
  const words = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)])
  return ['serve', ...words, '--max-sessions', '4096', '--dialect', 'plain']
}

/** One process of `bedside serve`. @throws Fault `bad-input` with its own words where it does not start */
async function startServe(plan: JobServerPlan): Promise<RunningServe> {
  const main = join(packageRoot(), 'dist', 'cli', 'main.js')
  const words = [...serveWords(plan), '--json', '--stop-with-input']
  const child = spawn(process.execPath, [main, ...words], {
    stdio: ['pipe', 'pipe', 'pipe'],
    // Ctrl-C is for the run, which ends it.
    detached: true,
  })
  const said: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => said.push(line))
  const listening = once(createInterface({ input: child.stdout }), 'line')
  const ended = once(child, 'exit')
  const late = new AbortController()
  const outcome = await Promise.race([
    listening.then(() => 'listens' as const),
    ended.then(() => 'ended' as const),
    pause(startSeconds * 1000, late.signal).then(() => 'late' as const),
  ])
  late.abort()
  if (outcome === 'listens') return { child, ended }
  // Killed by somebody before it listened.
  if (outcome === 'ended' && child.signalCode !== null) return startServe(plan)
  child.kill('SIGKILL')
  throw new Fault(
    'bad-input',
    `bedside serve: ${said.join('\n') || `nothing in ${startSeconds} s`}`,
  )
}

/** Keeps a server running until it is disposed: one that dies is started again, on its port. */
async function keepServing(plan: JobServerPlan, tell: (line: string) => void) {
  let closing = false
  let running = await startServe(plan)
  const watching = (async () => {
    for (;;) {
      await running.ended
      if (closing) return
      tell('the server of the consultations died, and is started again; its sessions are reopened')
      running = await startServe(plan)
    }
  })()
  return {
    async [Symbol.asyncDispose]() {
      closing = true
      running.child.stdin.end()
      await watching.catch(() => undefined)
    },
  }
}

/** The extras of the Python package that a stand-in needs; verl itself brings what the small model needs. */
const extras: Readonly<Record<JobBackend, string>> = { slime: 'slime,sidecar', verl: 'verl' }

/** How the packages of a stand-in are installed. */
const installHint = (backend: JobBackend, folder: string): string =>
  `\`python3 -m venv ${folder} && ${folder}/bin/pip install '${pythonPackage()}[${extras[backend]}]'\``

/** Interpreter of a stand-in: that of `.venvs/BACKEND`, else the recipe's. @throws Fault `bad-input` that says how to install */
async function standInPython(
  { backend, cluster }: Recipe,
  { env, signal: stopping }: Pick<Terminal, 'env' | 'signal'>,
): Promise<string> {
  if (!isJobBackend(backend))
    throw new TypeError(`Expected the recipe of a job, got backend \`${backend}\``)
  const folder = join(env.BEDSIDE_VENVS || '.venvs', backend)
  const own = resolve(interpreterPath(folder))
  const python = existsSync(own) ? own : (cluster?.python ?? 'python3')
  const module = `bedside_trainers.${backend}.stand_in`
  const { code, signal, lines, error } = await runProgram(python, ['-m', module, '--help'], {
    env: { ...env, PYTHONPATH: pythonPackage() },
    ...{ timeoutMs: answerSeconds * 1000, signal: stopping },
  })
  if (code === 0) return python
  const killed = signal === null ? undefined : `${signal}, after at most ${answerSeconds} s`
  const last = error ?? killed ?? lines.at(-1) ?? 'it does not run'
  const lacks = /^ImportError: Expected (\w+):/.exec(last)?.[1]
  throw new Fault(
    'bad-input',
    `--stand-in: expected a Python with the packages of ${backend}'s stand-in, got ${python}, ${lacks === undefined ? `which says: ${last}` : `without ${lacks}`}; make it by ${installHint(backend, folder)}`,
  )
}

/**
 * Interpreter of a stand-in, looked for before anything takes time.
 * @throws Fault `bad-input` that says every environment that is missing at once, also what `prepare` would ask for later
 */
export async function environmentsOfStandIn(recipe: Recipe, terminal: Terminal): Promise<string> {
  const { missingFiles } = await import('./prepare.js')
  const { findInterpreter } = await import('./sidecar/make-tiny-model.js')
  const model = recipe.policy?.model
  const makesModel = model !== undefined && missingFiles(recipe).has(model)
  const [own, sidecar] = await Promise.allSettled([
    standInPython(recipe, terminal),
    makesModel ? findInterpreter('peft', { env: terminal.env }) : undefined,
  ])
  if (own.status === 'fulfilled' && sidecar.status === 'fulfilled') return own.value
  const failed = [own, sidecar].flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  const [first, second] = failed
  if (second === undefined || !failed.every((one) => Fault.is(one))) throw first
  throw new Fault(
    'bad-input',
    `two Python environments are missing:\n  ${failed.map((one) => one.message).join('\n  ')}`,
  )
}

/** Where a recipe's job runs: on its Ray head; a stand-in without one here. @throws Fault `bad-input` */
function jobsOf(
  { cluster, backend }: Recipe,
  folder: string,
  standIn: boolean,
  env: Terminal['env'],
): Jobs {
  if (cluster?.ray !== undefined) return rayJobs({ address: cluster.ray, env })
  if (standIn) return localJobs(join(folder, 'jobs'))
  throw new Fault(
    'bad-input',
    `cluster.ray: expected the address of a Ray head for the ${backend} backend (as in \`--set cluster.ray=http://127.0.0.1:8265\`), got none; \`--stand-in\` tries the recipe without one, on this machine's CPU`,
  )
}

/** Options of a run by a job. */
export interface JobTrainOptions {
  readonly out: string
  /** Interpreter of a stand-in in the trainer's place. */
  readonly python?: string | undefined
  readonly events: TrainingEmitter
}

/** Trains by a job. */
export async function runJob(
  recipe: Recipe,
  { out, python, events }: JobTrainOptions,
  { env, signal }: Terminal,
): Promise<TrainingResult> {
  const jobs = jobsOf(recipe, out, python !== undefined, env)
  const tell = (line: string) => void events.emit('backend-status', line)
  return trainJob(recipe, {
    ...{ out, events, signal, jobs, standIn: python },
    serve: (plan) => keepServing(plan, tell),
  })
}

/** Whether a word of a trainer's command begins a setting: a flag, or a Hydra key. */
const beginsSetting = (word: string): boolean => /^(?:--[a-z]|[a-z_]+(?:\.\w+)+=)/.test(word)

/** A command as somebody reads it: one line for each setting. */
const readable = (command: readonly string[]): string =>
  command.map((word) => `${beginsSetting(word) ? '\\\n  ' : ''}${shellLine([word])}`).join(' ')

/** What stands beside a trainer's command: the folder in which it runs, and the server that it asks. */
const surroundings = (names: readonly string[], serve: readonly string[]): string =>
  [
    '# `bedside train` starts this server, and runs what follows as a Ray job in a folder that it uploads, with',
    `# ${names.join(', ')}:`,
    `# ${shellLine(['npx', 'bedside', ...serve])}`,
  ].join('\n')

/** The command, the variables and the files of a recipe's job, as somebody would give them to `ray job submit` or a batch system. */
export async function showJobCommand(recipe: Recipe, out: string, standIn: boolean) {
  const job = jobRecipe(recipe, (path) => resolve(path))
  await using models = await openTrainingModels(recipe, out)
  const { task } = await openTask(recipe, models.parts)
  const limits = await jobLimits(job, task, out)
  const { host, port, url, workers } = job.cluster.server
  const at = jobFilesIn(resolve(out))
  const shown = port === 0 ? 'PORT' : port
  const env = jobVariables(job, limits, {
    url: url ?? `http://${host}:${shown}`,
    tokenFile: at.token,
    metrics: at.steps,
  })
  const serve = serveWords({
    ...{ recipe: join(resolve(out), 'config.yaml'), tokenizer: job.model, host, workers },
    ...{ port: shown, tokenFile: at.token, record: at.record },
  })
  const command = standIn ? standInCommand(job, limits, 'python3') : jobCommand(job, limits)
  const paths = [...(await jobFiles(job, limits)).keys()]
  const files = [...new Set(paths.map((path) => path.replace(/\/.*/, '/')))]
  const variables = Object.entries(env).map(([name, value]) => shellLine([`${name}=${value}`]))
  const exports = variables.map((line) => `export ${line}`)
  const text = [surroundings(files, serve), ...exports, '', readable(command)].join('\n')
  return { text, command, env, files, serve: ['bedside', ...serve] }
}
