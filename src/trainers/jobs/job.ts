/** Jobs: a trainer's process that somebody else runs, by an id of the caller's choice, so that it can be found again. */
import { Fault } from '../../error.js'
import { pause } from '../../platform/retry.js'

/** How a job stands. */
export interface JobState {
  readonly status: 'pending' | 'running' | 'stopped' | 'succeeded' | 'failed'
  /** What its runner says of it. */
  readonly message: string
  readonly exitCode?: number | undefined
}

/** What is to be run. */
export interface JobSpec {
  /** Chosen by the caller: a job that is there already is not submitted again. */
  readonly id: string
  /** Program and arguments. */
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Folders and files that the job finds where it starts, by their paths there. */
  readonly files: ReadonlyMap<string, Uint8Array>
}

/** Runs jobs. */
export interface Jobs {
  /** Where they run, for people. */
  readonly place: string
  /** Checks that the place can be reached. @throws Fault `bad-input` */
  check(): Promise<void>
  /** Starts a job, or finds the one of its id. @returns whether it was started now */
  submit(spec: JobSpec): Promise<boolean>
  /** Undefined for a job that is not there. */
  state(id: string): Promise<JobState | undefined>
  /** Calls `onText` with all that the job writes, from its beginning; ends with the job or the signal. */
  follow(id: string, onText: (text: string) => void, signal: AbortSignal): Promise<void>
  /** Asks a job to stop; one that has ended is left alone. */
  stop(id: string): Promise<void>
}

/** Whether a job has ended. */
export const hasEnded = ({ status }: JobState): boolean =>
  status !== 'pending' && status !== 'running'

/** Splits text that comes in pieces into lines. */
export function lineSplitter(onLine: (line: string) => void) {
  let rest = ''
  return {
    add(text: string) {
      const lines = `${rest}${text}`.split(/\r?\n/)
      rest = lines.pop() ?? ''
      for (const line of lines) onLine(line)
    },
    end() {
      if (rest !== '') onLine(rest)
      rest = ''
    },
  }
}

/** Options of {@link followJob}. */
export interface FollowOptions {
  readonly onLine: (line: string) => void
  readonly signal?: AbortSignal | undefined
  /** Seconds that the runner may be out of reach. @default 120 */
  readonly patienceSeconds?: number
  /** Milliseconds between two looks at its state. @default 1000 */
  readonly everyMs?: number
}

/** Asks for a job's state until it has ended, also over times when its runner is out of reach. */
async function untilEnded(
  jobs: Jobs,
  id: string,
  { signal, patienceSeconds = 120, everyMs = 1000 }: FollowOptions,
): Promise<JobState> {
  let since: number | undefined
  for (;;) {
    signal?.throwIfAborted()
    try {
      const state = await jobs.state(id)
      if (!state) throw new Fault('backend-lost', `${jobs.place}: there is no job ${id} any more`)
      if (hasEnded(state)) return state
      since = undefined
    } catch (error) {
      since ??= performance.now()
      const gone = Fault.is(error) && error.code !== 'model-unavailable'
      if (gone || performance.now() - since > patienceSeconds * 1000) throw error
    }
    await pause(everyMs, signal)
  }
}

/**
 * Follows a job to its end.
 * @throws Fault `backend-lost` for a job that is no more, or a runner out of reach for too long
 */
export async function followJob(jobs: Jobs, id: string, options: FollowOptions): Promise<JobState> {
  const { onLine, signal } = options
  const ended = new AbortController()
  const stop = () => ended.abort()
  signal?.addEventListener('abort', stop, { once: true })
  const lines = lineSplitter(onLine)
  const following = jobs.follow(id, lines.add, ended.signal)
  try {
    const state = await untilEnded(jobs, id, options)
    // The last lines may still be on their way.
    await Promise.race([following, pause(10_000, ended.signal)])
    return state
  } finally {
    stop()
    signal?.removeEventListener('abort', stop)
    await following.catch(() => undefined)
    lines.end()
  }
}
