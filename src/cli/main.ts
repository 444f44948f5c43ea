#!/usr/bin/env node
/** The `bedside` binary: the process's streams and Ctrl-C around the program. */
import { setMaxListeners } from 'node:events'
import { syncBuiltinESMExports } from 'node:module'
import { isMainThread } from 'node:worker_threads'
import { runCommandLine } from './program.js'
import { hearSignals, runInThread } from './thread.js'

const interrupt = new AbortController()
setMaxListeners(0, interrupt.signal)
process.on('SIGINT', () => {
  // The first Ctrl-C asks for a stop at a safe place; the second exits at once.
  if (interrupt.signal.aborted) process.exit(130)
  interrupt.abort()
})

// stdout holds only a command's result: output of the user's modules (console or streams) goes to stderr.
const { stdin, stdout, stderr } = process
Object.defineProperty(process, 'stdout', { value: stderr, configurable: true, enumerable: true })
syncBuiltinESMExports()

// A reader may close the pipe early (`| head`), which is no failure.
stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1)
})

const terminal = { stdin, stdout, stderr, env: process.env, signal: interrupt.signal }
if (!isMainThread) hearSignals()
process.exitCode = await runCommandLine(process.argv.slice(2), {
  ...terminal,
  ...(isMainThread && {
    inThread: (options) => runInThread(new URL(import.meta.url), terminal, options),
  }),
})
// A thread hears signals for as long as it is there.
if (!isMainThread) process.exit()
