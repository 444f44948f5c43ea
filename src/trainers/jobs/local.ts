/** Jobs of this machine: processes that outlive the one that started them, each with a folder of its log and its end. */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, open, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { Fault } from '../../error.js'
import { pause } from '../../platform/retry.js'
import { hasEnded, type JobSpec, type JobState, type Jobs } from './job.js'

/** Runs a command in the folder of the job, and writes down how it ended. */
const supervisor = `"$@" >>log 2>&1; code=$?; echo $code >end.tmp && mv end.tmp end; exit $code`

/** Start of a process, which tells it from a later one of the same number; undefined where it has ended. */
function startOf(pid: number): string | undefined {
  try {
    process.kill(pid, 0)
  } catch {
    return undefined
  }
  try {
    // The name of the program is in parentheses and may hold spaces; the start is the 20th field after it.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')
    return fields?.[0] === 'Z' ? undefined : fields?.[19]
  } catch {
    return 'alive'
  }
}

/** What is written down of a process. */
interface Started {
  readonly pid: number
  readonly start: string | undefined
}

async function startedIn(folder: string): Promise<Started | undefined> {
  const text = await readFile(join(folder, 'process.json'), 'utf8').catch(() => undefined)
  return text === undefined ? undefined : JSON.parse(text) // written by `submit` below
}

async function stateOf(folder: string): Promise<JobState | undefined> {
  const started = await startedIn(folder)
  if (!started) return undefined
  const end = () => readFile(join(folder, 'end'), 'utf8').catch(() => undefined)
  const alive = started.start !== undefined && startOf(started.pid) === started.start
  const code = await end()
  if (code === undefined && alive) return { status: 'running', message: '' }
  const stopped = existsSync(join(folder, 'stopped'))
  if (code === undefined)
    return { status: stopped ? 'stopped' : 'failed', message: 'its process was killed' }
  const exitCode = Number(code)
  if (exitCode === 0) return { status: 'succeeded', message: '', exitCode }
  return {
    status: stopped ? 'stopped' : 'failed',
    message: `it ended with exit code ${exitCode}`,
    exitCode,
  }
}

async function submit(folder: string, { command, env, files }: JobSpec): Promise<boolean> {
  if (await startedIn(folder)) return false
  if (process.platform === 'win32')
    throw new Fault(
      'bad-input',
      'a trainer on this machine: expected a POSIX shell, got Windows; name a Ray head (`cluster.ray`)',
    )
  await mkdir(folder, { recursive: true })
  for (const [path, bytes] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), bytes)
  }
  const child = spawn('sh', ['-c', supervisor, 'sh', ...command], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: 'ignore',
    // Ctrl-C is for the one that follows it.
    detached: true,
  })
  await new Promise((done, failed) => child.once('spawn', done).once('error', failed))
  child.unref()
  const { pid = 0 } = child
  const text = JSON.stringify({ pid, start: startOf(pid) } satisfies Started)
  await writeFile(join(folder, 'process.json.tmp'), text)
  await rename(join(folder, 'process.json.tmp'), join(folder, 'process.json'))
  return true
}

/** Reads what has been added to a file since `from`; returns where it ends now. */
async function readFrom(path: string, from: number, onText: (text: string) => void) {
  const file = await open(path).catch(() => undefined)
  if (!file) return from
  try {
    const { size } = await file.stat()
    if (size <= from) return from
    const bytes = Buffer.alloc(size - from)
    await file.read(bytes, 0, bytes.length, from)
    // A character may be half written.
    const whole = bytes.lastIndexOf(0x0a) + 1
    onText(bytes.subarray(0, whole).toString())
    return from + whole
  } finally {
    await file.close()
  }
}

/** Jobs as processes of this machine. @param parent folder that gets a folder for each */
export function localJobs(parent: string): Jobs {
  const folderOf = (id: string): string => join(resolve(parent), id)
  return {
    place: 'this machine',
    check: async () => {},
    submit: (spec) => submit(folderOf(spec.id), spec),
    state: (id) => stateOf(folderOf(id)),
    async follow(id, onText, signal) {
      for (let at = 0; ; ) {
        const state = await stateOf(folderOf(id))
        at = await readFrom(join(folderOf(id), 'log'), at, onText)
        if (signal.aborted || !state || hasEnded(state)) return
        await pause(100, signal)
      }
    },
    async stop(id) {
      const started = await startedIn(folderOf(id))
      const state = await stateOf(folderOf(id))
      if (!started || !state || hasEnded(state)) return
      await writeFile(join(folderOf(id), 'stopped'), '')
      // The group: the shell and what it runs.
      process.kill(-started.pid, 'SIGTERM')
      for (let waited = 0; waited < 10_000; waited += 100) {
        await pause(100, undefined)
        if (startOf(started.pid) === undefined) return
      }
      process.kill(-started.pid, 'SIGKILL')
    },
  }
}
