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
  /** Least time between two plain lines, in milliseconds. @default 5000 */
  readonly everyMs?: number
}

/** Formats a duration: `75 s` or `3 min 10 s`. */
function durationText(seconds: number): string {
  const whole = Math.round(seconds)
  return whole < 100 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`
}

/** Formats rate and time left, measured from the first unit done, so that set-up time is excluded. */
function createPace(total: number): (done: number) => string {
  const started = performance.now()
  let first: { readonly done: number; readonly at: number } | undefined
  return (done) => {
    const now = performance.now()
    first ??= { done, at: now }
    if (done >= total) return `took ${durationText((now - started) / 1000)}`
    if (done === first.done || now === first.at) return '…'
    const rate = ((done - first.done) / (now - first.at)) * 1000
    return `${rate.toFixed(rate < 10 ? 1 : 0)}/s, ${durationText((total - done) / rate)} left`
  }
}

/** Starts a progress display; `stop` leaves the last bar on the terminal. */
export async function startProgress(
  { stderr }: Terminal,
  { label, total, from = 0, quiet = false, everyMs = 5000 }: ProgressOptions,
): Promise<Progress> {
  if (quiet || total <= from) return { update: () => {}, stop: () => {} }
  const pace = createPace(total)
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
