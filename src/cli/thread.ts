/**
 * The command line run again in a thread of this process, for commands that need another garbage collector than a
 * process is started with: a thread's can be chosen when it starts.
 */
import { once } from 'node:events'
import { parentPort, Worker } from 'node:worker_threads'
import type { Terminal, ThreadOptions } from './print/output.js'

/**
 * Runs this command line in a thread. Signals to the process are passed on to it.
 * @param program the module to run
 * @returns the exit code
 */
export async function runInThread(
  program: URL,
  { stdin, stdout, signal }: Terminal,
  { youngMb, withInput }: ThreadOptions,
): Promise<number> {
  const thread = new Worker(program, {
    argv: process.argv.slice(2),
    ...{ stdin: withInput, stdout: true },
    resourceLimits: { maxYoungGenerationSizeMb: youngMb },
  })
  thread.stdout.pipe(stdout, { end: false })
  const end = () => thread.postMessage('SIGTERM')
  const interrupt = () => thread.postMessage('SIGINT')
  process.on('SIGTERM', end)
  signal.addEventListener('abort', interrupt)
  const input = thread.stdin
  if (input) stdin.once('error', () => input.end()).pipe(input)
  try {
    const [code] = await once(thread, 'exit')
    return code
  } finally {
    process.off('SIGTERM', end)
    signal.removeEventListener('abort', interrupt)
    // It would keep the process alive.
    if (input && 'destroy' in stdin) (stdin as NodeJS.ReadStream).destroy()
  }
}

/** In a thread of {@link runInThread}: hears the signals to the process. */
export function hearSignals(): void {
  parentPort?.on('message', (name: 'SIGINT' | 'SIGTERM') => {
    // Before the command listens, a signal ends it, as it ends a process.
    if (!process.emit(name)) process.exit(143)
  })
}
