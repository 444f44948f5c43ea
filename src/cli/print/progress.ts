/** Progress on stderr: a bar with rate and time left on a terminal, a plain line now and then elsewhere. */
import type { PrintFlags, Terminal } from './output.js'

export interface Progress {
  /** @param note what the work is worth so far */
  readonly at: (done: number, note?: string) => void
  readonly stop: () => void
}

export interface ProgressOptions extends PrintFlags {
  readonly label: string
  readonly total: number
  /** What was done before; the rate counts from there. @default 0 */
  readonly from?: number
  /** Between two plain lines. @default 5000 */
  readonly everyMs?: number
}

/** `75 s` or `3 min 10 s`. */
function span(seconds: number): string {
  const whole = Math.round(seconds)
  return whole < 100 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`
}

/** Tells rate and time left; it counts from the first thing that was done, which preparations come before. */
function paceFor(total: number): (done: number) => string {
  const started = performance.now()
  let first: { readonly done: number; readonly at: number } | undefined
  return (done) => {
    const now = performance.now()
    first ??= { done, at: now }
    if (done >= total) return `took ${span((now - started) / 1000)}`
    if (done === first.done || now === first.at) return '…'
    const rate = ((done - first.done) / (now - first.at)) * 1000
    return `${rate.toFixed(rate < 10 ? 1 : 0)}/s, ${span((total - done) / rate)} left`
  }
}

/** Starts to show progress; what `stop` leaves on a terminal is the finished bar. */
export async function progress(
  { stderr }: Terminal,
  { label, total, from = 0, quiet = false, everyMs = 5000 }: ProgressOptions,
): Promise<Progress> {
  if (quiet || total <= from) return { at: () => {}, stop: () => {} }
  const pace = paceFor(total)
  if (!stderr.isTTY) {
    let last = performance.now()
    return {
      at(done, note = '') {
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
      // Ctrl-C is ours: the run stops at a safe place and prints how to go on.
      gracefulExit: false,
    },
    bars.Presets.shades_classic,
  )
  bar.start(total, from, { pace: '…', note: '' })
  return {
    at: (done, note = '') => bar.update(done, { pace: pace(done), note: note && ` · ${note}` }),
    stop: () => bar.stop(),
  }
}
