/** Exit codes and error messages of commands: 0 done, 1 failed, 2 bad input, 130 stopped by Ctrl-C. */
import { CommanderError } from 'commander'
import { errorMessage, Fault } from '../../error.js'
import { createPaint, type Terminal } from './output.js'

/** Whether a fault is about what the user gave (exit code 2). */
export const isBadInput = ({ code }: Fault): boolean =>
  ['bad-input', 'bad-checkpoint', 'no-recording'].includes(code)

/** System error codes of a path that does not fit its flag. */
const badPath = ['ENOENT', 'ENOTDIR', 'EEXIST', 'EISDIR', 'EACCES', 'EPERM', 'EROFS']

const systemCode = (error: unknown): string | undefined =>
  error instanceof Error && 'syscall' in error && 'code' in error ? String(error.code) : undefined

/** True when the reader of a pipe closed it early (`--out /dev/stdout | head`), which is no failure. */
const isClosedPipe = (error: unknown): boolean =>
  Fault.is(error) && error.code === 'bad-input' && systemCode(error.cause) === 'EPIPE'

/** Writes the message of an error to stderr and returns the exit code. */
export function reportFailure(error: unknown, { stderr, env, signal }: Terminal): number {
  // Commander has already written its message; help and the version are no failures.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  const paint = createPaint(stderr, env)
  if (isClosedPipe(error)) return 0
  const system = systemCode(error)
  if (signal.aborted) {
    stderr.write('Stopped.\n')
    return 130
  }
  stderr.write(`${paint.red('error:')} ${errorMessage(error)}\n`)
  if (env.BEDSIDE_DEBUG && error instanceof Error) stderr.write(`${error.stack}\n`)
  // A message that begins with a flag is about the user's input.
  else if (!Fault.is(error) && system === undefined && !errorMessage(error).startsWith('--'))
    stderr.write('This is an internal error. BEDSIDE_DEBUG=1 prints the stack.\n')
  const given = Fault.is(error) ? isBadInput(error) : badPath.includes(system ?? '')
  return given ? 2 : 1
}

/** Writes that Ctrl-C stopped the work, what was kept and how to resume; returns the exit code. */
export function reportStop({ stderr }: Terminal, kept: string, command?: string): number {
  stderr.write(`\nStopped. ${kept}${command === undefined ? '' : `\n  ${command}`}\n`)
  return 130
}

/** Turns a RangeError into Fault `bad-input`, prefixed with `place`, the flag or file the value came from. */
export async function rethrowRangeError<T>(place: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new Fault('bad-input', `${place}: ${error.message}`, { cause: error })
  }
}
