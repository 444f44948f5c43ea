/** How a command ends: 0 done, 1 the work failed, 2 bad input, 130 stopped by Ctrl-C. */
import { CommanderError } from 'commander'
import { errorMessage, Fault } from '../../error.js'
import type { Terminal } from '../print/output.js'
import { paintFor } from '../print/output.js'

const badInput: readonly string[] = ['bad-input', 'bad-checkpoint']

/** What the operating system says of a path that cannot be what a flag says it is. */
const badPath = ['ENOENT', 'ENOTDIR', 'EEXIST', 'EISDIR', 'EACCES', 'EPERM', 'EROFS']

const systemCodeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'syscall' in error && 'code' in error ? String(error.code) : undefined

/** Whether the reader of a pipe has seen enough (`--out /dev/stdout | head`), which is no failure. */
const readerLeft = (error: unknown): boolean =>
  Fault.is(error) && error.code === 'bad-input' && systemCodeOf(error.cause) === 'EPIPE'

/** Writes what went wrong, one message, and gives the exit code. */
export function failed(error: unknown, { stderr, env, signal }: Terminal): number {
  // Commander has written its own message; help and the version are no failures.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  const paint = paintFor(stderr, env)
  if (readerLeft(error)) return 0
  const system = systemCodeOf(error)
  if (signal.aborted) {
    stderr.write('Stopped.\n')
    return 130
  }
  stderr.write(`${paint.red('error:')} ${errorMessage(error)}\n`)
  if (env.BEDSIDE_DEBUG && error instanceof Error) stderr.write(`${error.stack}\n`)
  // A message that begins with a flag tells of something the user wrote.
  else if (!Fault.is(error) && system === undefined && !errorMessage(error).startsWith('--'))
    stderr.write('This is not your doing. BEDSIDE_DEBUG=1 shows where.\n')
  const given = Fault.is(error) ? badInput.includes(error.code) : badPath.includes(system ?? '')
  return given ? 2 : 1
}

/** Says that Ctrl-C was heard and how to go on, and gives the exit code. */
export function stopped({ stderr }: Terminal, kept: string, command?: string): number {
  stderr.write(`\nStopped. ${kept}${command === undefined ? '' : `\n  ${command}`}\n`)
  return 130
}

/** Turns the RangeError of a value that came from `place` into bad input that names the place. */
export async function givenAt<T>(place: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new Fault('bad-input', `${place}: ${error.message}`, { cause: error })
  }
}
