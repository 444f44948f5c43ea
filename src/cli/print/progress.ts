/** Progress on stderr: a bar with rate and time left on a terminal, an occasional plain line elsewhere. */
import type { PrintFlags, Terminal } from './output.js'

/** A running progress display. */
export interface Progress {
  /** Shows how many units are done. @param note text beside it, such as the mean reward so far */
  readonly update: (done: number, note?: string) => void
  readonly stop: () => void
}

/** Options of {@link startProgress}. */
export interface ProgressOptions extends PrintFlags {
  readonly label: string
  readonly total: number
  /** Units done before the start; a resumed run's rate excludes them. @default 0 */
  readonly from?: number
  /** The work up to a number of units, for the time left, where units differ. @default that number */
  readonly workAt?: ((units: number) => number) | undefined
  /** Least time between two plain lines, in milliseconds. @default 5000 */
  readonly everyMs?: number
}

/** Formats a duration: `75 s` or `3 min 10 s`. */
function durationText(seconds: number): string {
  const whole = Math.round(seconds)
  return whole < 100 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`
}

/** What was done by a time, in ms. */
interface Mark {
  readonly done: number
  readonly at: number
}

/**
 * Formats rate and time left, from the second half of the work since the first unit was done: set-up is left out, and a
 * pace that changes is soon the new one.
 */
function createPace(total: number, workAt: (units: number) => number): (done: number) => string {
  const started = performance.now()
  const marks: Mark[] = []
  let first: number | undefined
  return (done) => {
    const now = performance.now()
    first ??= workAt(done)
    marks.push({ done, at: now })
    if (done >= total) return `took ${durationText((now - started) / 1000)}`
    const half = (first + workAt(done)) / 2
    while (marks[1] && workAt(marks[1].done) <= half) marks.shift()
    const since = marks[0] as Mark
    if (done === since.done || now === since.at) return '…'
    const seconds = (now - since.at) / 1000
    const left = (workAt(total) - workAt(done)) / ((workAt(done) - workAt(since.done)) / seconds)
    const rate = (done - since.done) / seconds
    return `${rate.toFixed(rate < 10 ? 1 : 0)}/s, ${durationText(left)} left`
  }
}

/** Starts a progress display; `stop` leaves the last bar on the terminal. */
export async function startProgress(
  { stderr }: Terminal,
  { label, total, from = 0, quiet = false, everyMs = 5000, workAt }: ProgressOptions,
): Promise<Progress> {
  if (quiet || total <= from) return { update: () => {}, stop: () => {} }
  const pace = createPace(total, workAt ?? ((units) => units))
  if (!stderr.isTTY) {
    let last = performance.now()
    return {
      update(done, note = '') {
        const now = performance.now()
        const words = [pace(done), note].filter(Boolean).join(' · ')
        if (now - last < everyMs && done < total) return
        last = now
        stderr.write(`${label} ${done}/${total} · ${words}\n`)
      },
      stop() {},
    }
  }
  const { default: bars } = await import('cli-progress')
  const bar = new bars.SingleBar(
    {
      format: `${label} {bar} {value}/{total} · {pace}{note}`,
      stream: stderr,
      barsize: 24,
      hideCursor: true,
      // The program handles Ctrl-C: the run stops at a safe place and prints how to resume.
      gracefulExit: false,
    },
    bars.Presets.shades_classic,
  )
  bar.start(total, from, { pace: '…', note: '' })
  return {
    update: (done, note = '') => bar.update(done, { pace: pace(done), note: note && ` · ${note}` }),
    stop: () => bar.stop(),
  }
}
